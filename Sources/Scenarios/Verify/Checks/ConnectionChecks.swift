#if os(macOS) || os(Linux)
  /// What bad networks do to requests.
  enum ConnectionChecks {
    static let all = [
      keepAlive, slow, chunked, expect, lengths, half, resetResent, resetStored,
    ]

    private static let keepAlive = ContractCheck(
      "connection.reuse", "Two batches over one connection are both accepted.",
      why: "A phone that drains a backlog reuses its connection; radio time is battery."
    ) { run in
      let requests = [run.batch(run.events(1)), run.batch(run.events(1))]
      let replies = try run.sendInTurn(requests)
      guard let first = replies.first else { return .fail("no answer") }
      let answer = try run.accepted(first, of: requests[0])
      if answer.header("Connection")?.lowercased().contains("close") == true {
        return .pass("the server closes every connection, and says so")
      }
      guard replies.count == 2 else { return .fail("the second request was not sent") }
      if let complaint = run.complaint(replies[1], of: requests[1]) {
        return .fail("on a connection used before, \(complaint)")
      }
      return .pass("both were accepted")
    }

    private static let slow = ContractCheck(
      "connection.slow-body", "A body that comes in pieces over two seconds is accepted.",
      why: "On the edge of coverage every upload looks like this."
    ) { run in
      var request = run.batch(run.events(20))
      request.manner = .slow(pieces: 5, pauseMs: 400)
      request.about += ", slowly"
      try run.accept(request)
      return .pass("accepted")
    }

    private static let chunked = ContractCheck(
      "connection.chunked", "A chunked body is accepted, or answered 411 (RFC 9112, 6.3).",
      why: "Proxies and streaming clients send chunks."
    ) { run in
      var request = run.batch(run.events(2))
      request.framing = .chunked(size: 50)
      request.about += ", chunked"
      let reply = try run.send(request)
      if reply.answer?.status == 411 { return .pass("answered 411: a length is required") }
      try run.accepted(reply, of: request)
      return .pass("accepted")
    }

    private static let expect = ContractCheck(
      "connection.expect", "`Expect: 100-continue` does not keep a batch out (RFC 9110, 10.1.1).",
      why: "HTTP libraries add it to large bodies on their own."
    ) { run in
      var request = run.batch(run.events(1))
      request.manner = .expectContinue(patienceMs: 2_000)
      try run.accept(request)
      return .pass("accepted")
    }

    private static let lengths = ContractCheck(
      "connection.lengths", "Two differing Content-Length fields are refused (RFC 9112, 6.3).",
      why: "Servers that disagree about a body's end can be made to mix up two phones' requests."
    ) { run in
      var request = run.batch(run.events(1))
      request.framing = .fields([
        "Content-Length: \(request.body.count)", "Content-Length: \(request.body.count + 7)",
      ])
      request.about += ", two lengths"
      let reply = try run.send(request)
      // Closing without an answer is a refusal too; a client backs off.
      if case .fault(.closedWithoutAnswer) = reply { return .pass("the connection was closed") }
      if case .fault(.socket(.reset)) = reply { return .pass("the connection was reset") }
      let complaint = Judging.refusalComplaint(
        reply, allowed: [400], what: "a request with two lengths")
      return complaint.map(Finding.fail) ?? .pass("answered 400")
    }

    private static let half = ContractCheck(
      "connection.half-body", "Nothing of a body that ends halfway is stored.",
      why: "The client sends the whole batch again.", needs: [.observer]
    ) { run in
      let events = run.events(2)
      var request = run.batch(events)
      request.manner = .halfThenClose
      request.about += ", only half of it"
      _ = try run.send(request)
      return try run.notStored(events.map(\.eventID), though: "its body never came to an end")
    }

    private static let whyReset =
      "The answer to a batch that arrived gets lost; the phone cannot know and sends it again."

    private static func resetThenResend(_ run: CheckRun) throws -> (ids: [String], HTTPAnswer) {
      let events = run.events(3)
      var request = run.batch(events)
      request.manner = .resetAfterUpload
      request.about += ", then a reset"
      _ = try run.send(request)
      request.manner = .plain
      request.about = "the same 3 events again"
      return (events.map(\.eventID), try run.accept(request))
    }

    private static let resetResent = ContractCheck(
      "reset.resent", "After a reset behind the upload, the same batch again is answered 2xx.",
      why: whyReset
    ) { run in
      let (_, answer) = try resetThenResend(run)
      guard run.policy.answer == .counts, let counts = AnswerCounts(answer) else {
        return .pass("answered \(answer.status)")
      }
      guard counts.total == 3, counts.rejected.isEmpty else {
        return .fail("the answer says \(counts.text) for 3 events")
      }
      return .pass("answered \(answer.status): \(counts.text)")
    }

    private static let resetStored = ContractCheck(
      "reset.stored-once", "After a reset and a second attempt, every event is stored once.",
      why: whyReset, needs: [.observer]
    ) { run in try run.storedOnce(try resetThenResend(run).ids) }
  }
#endif
