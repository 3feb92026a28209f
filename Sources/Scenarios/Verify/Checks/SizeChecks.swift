#if os(macOS) || os(Linux)
  import JSONText

  /// How much fits into one batch.
  enum SizeChecks {
    static let all = [atBytes, overBytes, atCount, overCount, empty]

    private static let why413 =
      "On 413 alone a client halves its batch; any other 4xx quarantines a thousand good events."

    /// A batch whose measured size is exactly `bytes`: one event, filled up.
    private static func body(_ run: CheckRun, bytes: Int) -> [UInt8]? {
      let event = run.event(payload: ["fill": ""])
      let empty = run.text([event]).count
      guard bytes > empty else { return nil }
      func filled(_ count: Int) -> [UInt8] {
        var event = event
        event["payload"] = ["fill": .string(prose(count))]
        return run.text([event])
      }
      switch run.policy.sizeMeasured {
      case .uncompressed: return VerifyGzip.member(filled(bytes - empty))
      case .wire:
        // Stored blocks make the compressed size predictable to a few bytes; then search.
        var count = bytes - empty
        while count > 0 {
          let body = VerifyGzip.member(filled(count), stored: true)
          if body.count == bytes { return body }
          guard body.count > bytes else { return nil }
          count -= body.count - bytes
        }
        return nil
      }
    }

    /// Text that compresses as ordinary text does: long runs of one letter look like a bomb.
    private static func prose(_ count: Int) -> String {
      var draw: UInt32 = 1
      var text: [UInt8] = []
      text.reserveCapacity(count + 16)
      while text.count < count {
        draw = draw &* 1_664_525 &+ 1_013_904_223
        text += Array(words[Int(draw >> 24) % words.count].utf8)
      }
      return String(decoding: text.prefix(count), as: UTF8.self)
    }
    private static let words = [
      "order ", "pump ", "valve ", "inspected ", "site ", "north ", "shift ", "report ", "meter ",
      "closed ", "opened ", "pressure ", "checked ", "van ", "tools ", "signed ",
    ]

    private static func sized(_ run: CheckRun, _ bytes: Int) throws -> ProbeRequest {
      guard let body = body(run, bytes: bytes) else {
        throw CheckStop.finding(.notObservable("a batch of exactly \(bytes) bytes cannot be made"))
      }
      return run.request(
        body: body, about: "1 event, \(bytes) bytes \(run.policy.sizeMeasured)", events: 1)
    }

    private static let atBytes = ContractCheck(
      "size.at-limit", "A batch of exactly the largest size is accepted.",
      why: "Clients fill their batches up to the limit.", needs: [.maxBytes]
    ) { run in
      let limit = run.policy.maxBytes ?? 0
      try run.accept(try sized(run, limit))
      return .pass("\(limit) bytes were accepted")
    }

    private static let overBytes = ContractCheck(
      "size.over-limit", "A batch one byte over the largest size is answered 413.", why: why413,
      needs: [.maxBytes]
    ) { run in
      let limit = run.policy.maxBytes ?? 0
      return try run.refuse(
        try sized(run, limit + 1), [413], what: "a batch of \(limit + 1) bytes")
    }

    private static let atCount = ContractCheck(
      "count.at-limit", "A batch of exactly the largest number of events is accepted.",
      why: "Clients fill their batches up to the limit.", needs: [.maxEvents]
    ) { run in
      let limit = run.policy.maxEvents ?? 0
      try fits(run, limit)
      try run.accept(run.batch(small(run, limit)))
      return .pass("\(limit) events were accepted")
    }

    private static let overCount = ContractCheck(
      "count.over-limit", "A batch of one event more than the largest number is answered 413.",
      why: why413, needs: [.maxEvents]
    ) { run in
      let limit = run.policy.maxEvents ?? 0
      try fits(run, limit + 1)
      return try run.refuse(
        run.batch(small(run, limit + 1)), [413], what: "a batch of \(limit + 1) events")
    }

    /// Where the bytes end first, the limit of events cannot be reached.
    private static func fits(_ run: CheckRun, _ count: Int) throws {
      guard let limit = run.policy.maxBytes, run.policy.sizeMeasured == .uncompressed else {
        return
      }
      let size = run.text(small(run, 1)).count * count
      if size > limit {
        throw CheckStop.finding(
          .notObservable("\(count) events are larger than the limit of \(limit) bytes"))
      }
    }

    private static func small(_ run: CheckRun, _ count: Int) -> [JSONValue] {
      (0..<count).map { _ in run.event(type: "n", payload: [:]) }
    }

    private static let empty = ContractCheck(
      "count.empty", "A batch without events is accepted or refused for good, never a 5xx.",
      why: "A client that repeats an empty batch for ever delivers nothing else."
    ) { run in
      let request = run.batch([])
      let reply = try run.send(request)
      let refused = Judging.refusalComplaint(
        reply, allowed: Judging.malformed, what: "an empty batch")
      let taken = run.complaint(reply, of: request) == nil
      switch run.policy.emptyBatch {
      case .accept: return taken ? .pass("accepted") : .fail("an empty batch: \(reply.text)")
      case .refuse: return refused.map(Finding.fail) ?? .pass("an empty batch was refused")
      case .either:
        if taken { return .pass("an empty batch was accepted") }
        return refused.map(Finding.fail) ?? .pass("an empty batch was refused")
      }
    }
  }
#endif
