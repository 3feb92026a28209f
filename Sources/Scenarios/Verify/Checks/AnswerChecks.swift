#if os(macOS) || os(Linux)
  /// What a good batch is answered with.
  enum AnswerChecks {
    static let all = [success, json, counts, date, unicode, numbers, skewed, emptyPayload]

    private static let success = ContractCheck(
      "answer.success", "A valid gzip batch with a valid token is answered 2xx.",
      why: "Every other answer keeps, splits or quarantines the events of a phone."
    ) { run in
      let answer = try run.accept(run.batch(run.events(3)))
      return .pass("a batch of 3 events was answered \(answer.status)")
    }

    private static let json = ContractCheck(
      "answer.json", "The answer to an accepted batch is JSON and says so in Content-Type.",
      why: "A client reads from it which events were rejected; other text may be a portal's.",
      needs: [.counts]
    ) { run in
      let answer = try run.accept(run.batch(run.events(1)))
      guard answer.mediaType == "application/json" || answer.mediaType.hasSuffix("+json") else {
        return .fail("Content-Type is \"\(answer.header("Content-Type") ?? "absent")\"")
      }
      guard answer.json?.objectValue != nil else { return .fail("the body is no JSON object") }
      return .pass("a JSON object of type \(answer.mediaType)")
    }

    private static let counts = ContractCheck(
      "answer.counts",
      "The answer counts accepted and duplicates and lists rejected; new events are accepted.",
      why: "Without counts nobody can tell a duplicate from a loss, on either side.",
      needs: [.counts]
    ) { run in
      let answer = try run.accept(run.batch(run.events(3)))
      guard let counts = AnswerCounts(answer) else {
        return .fail("the answer lacks whole numbers accepted and duplicates and a list rejected")
      }
      return run.compare(counts, accepted: 3, duplicates: 0, after: "3 new events")
    }

    private static let date = ContractCheck(
      "answer.date", "Every answer carries a Date in the fixed form (RFC 9110, 6.6.1).",
      why: "Phones' clocks are wrong; Retry-After and age limits are measured by this Date."
    ) { run in
      let answer = try run.accept(run.batch(run.events(1)))
      guard let date = answer.header("Date") else { return .fail("the answer has no Date") }
      guard HTTPDate.imf(date) != nil else {
        return .fail("Date is \"\(date)\", expected e.g. \"Sun, 06 Nov 1994 08:49:37 GMT\"")
      }
      return .pass("Date is \(date)")
    }

    private static let unicode = ContractCheck(
      "answer.unicode", "Text beyond ASCII is accepted: emoji, right to left, U+0000 escaped.",
      why: "One event with an emoji that the server refuses would cost its whole batch."
    ) { run in
      try run.accept(run.batch([run.event(payload: FidelityChecks.unicode)]))
      return .pass("accepted")
    }

    private static let numbers = ContractCheck(
      "answer.numbers", "Integers of 64 bits and small fractions are accepted.",
      why: "Identifiers and counters of an app fill 64 bits."
    ) { run in
      try run.accept(run.batch([run.event(payload: FidelityChecks.numbers)]))
      return .pass("accepted")
    }

    private static let skewed = ContractCheck(
      "answer.skewed-time", "Timestamps years in the past and days in the future are accepted.",
      why: "A phone's clock may be wrong, and events wait for weeks without network."
    ) { run in
      let day: Int64 = 86_400_000
      let now = run.session.factory.startMs
      let times = [0, now - 800 * day, now - 45 * day, now + 2 * day, now + 400 * day]
      try run.accept(run.batch(times.map { run.event(atMs: $0) }))
      return .pass("events from 1970 to 400 days ahead were accepted")
    }

    private static let emptyPayload = ContractCheck(
      "answer.empty-payload", "An empty payload and a type never seen before are accepted.",
      why: "New versions of an app record new types before the server knows them."
    ) { run in
      let event = run.event(type: "verify.\(run.session.factory.run)", payload: [:])
      try run.accept(run.batch([event]))
      return .pass("accepted")
    }
  }
#endif
