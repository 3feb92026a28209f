#if os(macOS) || os(Linux)
  /// How bodies are compressed.
  enum EncodingChecks {
    static let all = [
      identity, undeclared, notGzip, truncated, checksum, length, trailing, concatenated, unknown,
      bomb, nothingStored, mediaWrong, mediaMissing, mediaParameters,
    ]

    private static let whyDamaged =
      "A damaged body that is taken loses events silently; a 5xx makes the client repeat it."

    private static func gzip(
      _ run: CheckRun, _ body: [UInt8], _ what: String, _ allowed: Set<Int> = Judging.malformed
    ) throws -> Finding {
      try run.refuse(run.request(body: body, about: what), allowed, what: what)
    }

    /// By the policy: accepted, refused, or either of both.
    private static func byPolicy(
      _ run: CheckRun, _ request: ProbeRequest, _ choice: ServerPolicy.Choice,
      refused: Set<Int>, what: String
    ) throws -> Finding {
      let reply = try run.send(request)
      let complaint = Judging.refusalComplaint(reply, allowed: refused, what: what)
      let taken = run.complaint(reply, of: request) == nil
      switch choice {
      case .accept:
        return taken ? .pass("\(what) was accepted") : .fail("\(what): \(reply.text)")
      case .refuse: return complaint.map(Finding.fail) ?? .pass("\(what) was refused")
      case .either:
        if taken { return .pass("\(what) was accepted") }
        return complaint.map(Finding.fail) ?? .pass("\(what) was refused")
      }
    }

    private static let identity = ContractCheck(
      "encoding.identity",
      "A body that is not compressed is refused with 415, or accepted, as the policy says.",
      why: "Both sides must agree whether a body without gzip is an event or a mistake."
    ) { run in
      var request = run.request(
        body: run.text(run.events(1)), about: "an uncompressed body", events: 1)
      request.contentEncoding = nil
      return try byPolicy(
        run, request, run.policy.identityBody, refused: [415], what: "an uncompressed body")
    }

    private static let undeclared = ContractCheck(
      "encoding.undeclared", "Gzip bytes without Content-Encoding are refused.",
      why: "A server that guesses hides a client's mistake until another server sees it."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentEncoding = nil
      return try run.refuse(request, what: "a gzip body without Content-Encoding")
    }

    private static let notGzip = ContractCheck(
      "encoding.not-gzip", "Plain JSON that claims to be gzip is refused.", why: whyDamaged
    ) { run in try gzip(run, run.text(run.events(1)), "plain JSON that claims to be gzip") }

    private static let truncated = ContractCheck(
      "encoding.truncated", "A gzip body that ends too early is refused.", why: whyDamaged
    ) { run in
      try gzip(run, VerifyGzip.truncated(run.text(run.events(20))), "a truncated gzip body")
    }

    private static let checksum = ContractCheck(
      "encoding.checksum", "A gzip body with a wrong checksum is refused.", why: whyDamaged
    ) { run in
      try gzip(run, VerifyGzip.badChecksum(run.text(run.events(1))), "a wrong checksum")
    }

    private static let length = ContractCheck(
      "encoding.length", "A gzip body with a wrong length field is refused.", why: whyDamaged
    ) { run in try gzip(run, VerifyGzip.badLength(run.text(run.events(1))), "a wrong length field")
    }

    private static let trailing = ContractCheck(
      "encoding.trailing", "Bytes behind the end of the gzip body are refused.", why: whyDamaged
    ) { run in
      try gzip(
        run, VerifyGzip.member(run.text(run.events(1))) + [0x21, 0x22, 0x23],
        "bytes behind the gzip body")
    }

    private static let concatenated = ContractCheck(
      "encoding.concatenated",
      "Two gzip members in a row are refused, or read as one text, as the policy says.",
      why: "Reading the first member only would lose the events of the second."
    ) { run in
      let events = run.events(2)
      let text = run.text(events)
      let half = text.count / 2
      let body =
        VerifyGzip.member(Array(text[..<half])) + VerifyGzip.member(Array(text[half...]))
      return try byPolicy(
        run, run.request(body: body, about: "two gzip members", events: 2),
        run.policy.concatenatedMembers,
        refused: Judging.malformed, what: "a body of two gzip members")
    }

    private static let unknown = ContractCheck(
      "encoding.unknown", "A Content-Encoding that the server does not know is answered 415.",
      why: "RFC 9110, 8.4: other answers look like damaged data."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentEncoding = "x-verify"
      return try run.refuse(request, [415], what: "an unknown Content-Encoding")
    }

    private static let bombBytes = 50_000_000

    private static let bomb = ContractCheck(
      "encoding.bomb",
      "A small body that unfolds to 50 MB is refused with 413 or 400, and the server lives on.",
      why: "One phone, or an attacker with its token, would stop the server for all.",
      needs: [.destructive]
    ) { run in
      let body = VerifyGzip.member([UInt8](repeating: 0x20, count: bombBytes))
      let refusal = try gzip(run, body, "a gzip bomb", [400, 413, 422])
      guard refusal.verdict == .pass else { return refusal }
      let next = run.batch(run.events(1))
      if let complaint = run.complaint(try run.send(next), of: next) {
        return .fail("after a gzip bomb \(complaint)")
      }
      return refusal
    }

    private static let nothingStored = ContractCheck(
      "encoding.nothing-stored", "Nothing of a damaged body is stored.",
      why: "The client puts a refused batch into quarantine: stored events would come twice.",
      needs: [.observer]
    ) { run in
      let events = run.events(2)
      _ = try run.send(
        run.request(body: VerifyGzip.badChecksum(run.text(events)), about: "a wrong checksum"))
      return try run.notStored(events.map(\.eventID), though: "its body was damaged")
    }

    private static let mediaWrong = ContractCheck(
      "media.wrong", "Another Content-Type than JSON is answered 415.",
      why: "Form posts and uploads of other clients must not become events."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentType = "text/plain"
      return try run.refuse(request, [415], what: "Content-Type text/plain")
    }

    private static let mediaMissing = ContractCheck(
      "media.missing", "A request without Content-Type is refused.",
      why: "A client that lost its header should learn it on its first request."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentType = nil
      return try run.refuse(request, what: "a request without Content-Type")
    }

    private static let mediaParameters = ContractCheck(
      "media.parameters", "`application/json; charset=utf-8` is accepted.",
      why: "HTTP stacks add the parameter on their own."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentType = "application/json; charset=utf-8"
      try run.accept(request)
      return .pass("accepted")
    }
  }
#endif
