#if os(macOS) || os(Linux)
  import JSONText

  /// What an event looks like, and what becomes of one that does not.
  enum SchemaChecks {
    static let all =
      [invalidJSON, cutJSON, invalidUTF8, wrongEnvelope]
      + [
        broken("schema.id-missing", "An event without `id`") { $0["id"] = nil },
        broken("schema.id-malformed", "An event whose `id` is no UUID") { $0["id"] = "42" },
        broken("schema.ts-missing", "An event without `ts`") { $0["ts"] = nil },
        broken("schema.ts-malformed", "An event whose `ts` is no ISO 8601 time") {
          $0["ts"] = "yesterday"
        },
        broken("schema.type-missing", "An event without `type`") { $0["type"] = nil },
        broken("schema.type-wrong", "An event whose `type` is a number") { $0["type"] = 7 },
        broken("schema.payload-missing", "An event without `payload`") { $0["payload"] = nil },
        broken("schema.payload-wrong", "An event whose `payload` is a list") {
          $0["payload"] = ["a"]
        },
        broken("schema.session-missing", "An event without `sessionId`") { $0["sessionId"] = nil },
        broken("schema.session-wrong", "An event whose `sessionId` is a number") {
          $0["sessionId"] = 7
        },
        uppercase, deep, reason, partial,
      ]

    private static let whyJSON =
      "What is no batch must be refused for good: a 5xx is repeated, a 2xx deletes the rows."

    private static func text(_ run: CheckRun, _ text: [UInt8], _ what: String) throws -> Finding {
      try run.refuse(
        run.request(body: VerifyGzip.member(text), about: what), [400, 422], what: what)
    }

    private static let invalidJSON = ContractCheck(
      "json.invalid", "A body that is no JSON is refused with 400 or 422.", why: whyJSON
    ) { run in try text(run, Array("events, but no JSON".utf8), "a body that is no JSON") }

    private static let cutJSON = ContractCheck(
      "json.truncated", "JSON that ends too early is refused with 400 or 422.", why: whyJSON
    ) { run in try text(run, run.text(run.events(2)).dropLast(9), "JSON that ends too early") }

    private static let invalidUTF8 = ContractCheck(
      "json.utf8", "A body that is not UTF-8 is refused with 400 or 422 (RFC 8259, 8.1).",
      why: "Repairing text silently changes what the app recorded."
    ) { run in
      let good = run.text([run.event(payload: ["text": "?"])])
      let body = good.map { $0 == UInt8(ascii: "?") ? 0xff : $0 }
      return try text(run, body, "a body that is not UTF-8")
    }

    private static let wrongEnvelope = ContractCheck(
      "json.envelope", "JSON without the list of events is refused with 400 or 422.", why: whyJSON
    ) { run in
      try text(run, Array(#"{"verify":true}"#.utf8), "JSON without a list of events")
    }

    private static func text(
      _ run: CheckRun, _ text: ArraySlice<UInt8>, _ what: String
    ) throws -> Finding { try self.text(run, Array(text), what) }

    private static func broken(
      _ id: String, _ subject: String, _ damage: @escaping @Sendable (inout JSONValue) -> Void
    ) -> ContractCheck {
      ContractCheck(
        id, "\(subject) is refused with 400 or 422, or listed under `rejected`.",
        why: "An event that is taken but cannot be read is a silent loss."
      ) { run in
        var event = run.event()
        damage(&event)
        var request = run.batch([event])
        let what = "a" + subject.dropFirst()
        request.about = what
        let id = event["id"]?.stringValue ?? ""
        return judge(run, try run.send(request), id: id, what: what)
      }
    }

    /// The batch held one event, a wrong one. Where it has an id, `rejected` must name it: a client
    /// takes every event that is not named for delivered.
    private static func judge(
      _ run: CheckRun, _ reply: Reply, id: String, what: String
    ) -> Finding {
      let policy = run.policy.invalidEvent
      if let answer = reply.answer, answer.isSuccess, policy != .refuseBatch {
        if let counts = AnswerCounts(answer), counts.accepted == 0, counts.rejected.count == 1 {
          let named = counts.rejected[0].id.lowercased()
          guard id.isEmpty || named == id else {
            return .fail("\(what) has the id \(id), rejected names \"\(named)\"")
          }
          return .pass("\(what) was listed under rejected")
        }
        return .fail("\(what) was answered \(answer.status) and is not listed under rejected")
      }
      if policy == .listRejected {
        return .fail("\(what): \(reply.text), expected 2xx with the event under rejected")
      }
      let complaint = Judging.refusalComplaint(reply, allowed: [400, 422], what: what)
      return complaint.map(Finding.fail) ?? .pass("\(what) was refused")
    }

    private static let uppercase = ContractCheck(
      "schema.id-uppercase", "An id in upper case is accepted (RFC 9562, 4).",
      why: "iOS writes UUIDs in upper case."
    ) { run in
      var event = run.event()
      event["id"] = .string(event.eventID.uppercased())
      try run.accept(run.batch([event]))
      return .pass("accepted")
    }

    private static let depth = 100_000

    private static let deep = ContractCheck(
      "json.deep", "JSON nested 100,000 levels deep is refused, and the server lives on.",
      why: "A parser that runs out of stack stops the server for all phones.",
      needs: [.destructive]
    ) { run in
      var event = run.event(payload: ["deep": "?"])
      event["type"] = "deep"
      let nest =
        Array(String(repeating: "[", count: depth).utf8)
        + Array(String(repeating: "]", count: depth).utf8)
      let good = run.text([event])
      guard let at = good.lastIndex(of: UInt8(ascii: "?")) else {
        return .notObservable("the event has no place for it")
      }
      let body = Array(good[..<(at - 1)]) + nest + Array(good[(at + 2)...])
      let refusal = try run.refuse(
        run.request(body: VerifyGzip.member(body), about: "JSON \(depth) levels deep"),
        [400, 413, 422], what: "JSON nested \(depth) levels deep")
      guard refusal.verdict == .pass else { return refusal }
      let next = run.batch(run.events(1))
      if let complaint = run.complaint(try run.send(next), of: next) {
        return .fail("after deep JSON \(complaint)")
      }
      return refusal
    }

    private static let reason = ContractCheck(
      "schema.reason", "A refusal says why, as JSON (e.g. application/problem+json, RFC 9457).",
      why: "The reason goes into the phone's quarantine, where a developer looks for it."
    ) { run in
      var event = run.event()
      event["id"] = "42"
      guard let answer = try run.send(run.batch([event])).answer else {
        return .fail("a malformed event got no answer")
      }
      if let counts = AnswerCounts(answer), let rejected = counts.rejected.first {
        return rejected.reason.isEmpty
          ? .fail("the rejected event has no reason") : .pass("the reason is given")
      }
      guard (400..<500).contains(answer.status) else {
        return .notObservable("a malformed event was answered \(answer.status)")
      }
      guard let object = answer.json?.objectValue else {
        return .fail("the \(answer.status) has no JSON object for a body")
      }
      let texts = object.compactMap { $0.value.stringValue }.filter { !$0.isEmpty }
      return texts.isEmpty
        ? .fail("the \(answer.status) carries no text") : .pass("the reason is given")
    }

    private static let partial = ContractCheck(
      "partial.names-ids",
      "One refused event among good ones: `rejected` names it, or the whole batch is refused.",
      why: "A refused event that nobody names counts as delivered and is deleted.",
      needs: [.counts]
    ) { run in
      var events = run.events(3)
      let bad = events[1].eventID
      if let type = run.policy.rejectedType {
        events[1]["type"] = .string(type)
      } else {
        events[1]["payload"] = "no object"
      }
      let reply = try run.send(run.batch(events))
      guard let answer = reply.answer, answer.isSuccess else {
        let mayRefuse = run.policy.rejectedType == nil && run.policy.invalidEvent != .listRejected
        let complaint = Judging.refusalComplaint(
          reply, allowed: mayRefuse ? [400, 422] : [200], what: "a batch with one bad event")
        return complaint.map(Finding.fail) ?? .pass("the whole batch was refused")
      }
      let counts = try run.counts(answer)
      guard counts.rejected.contains(where: { $0.id.lowercased() == bad && !$0.reason.isEmpty })
      else { return .fail("rejected does not name \(bad) with a reason: \(counts.text)") }
      guard counts.accepted == 2 else {
        return .fail("2 of 3 events are good, but the answer says \(counts.text)")
      }
      return .pass("rejected names the event and its reason")
    }
  }
#endif
