#if os(macOS) || os(Linux)
  import JSONText

  /// The same event again: every client sends some twice, because answers get lost.
  enum DedupChecks {
    static let all = [
      withinBatch, resent, overlap, concurrent, conflict, storedOnce, withinStored,
      concurrentStored, firstKept,
    ]

    private static let why =
      "A lost answer makes the client send again; what the server does not recognise counts double."

    private static let withinBatch = ContractCheck(
      "dedup.within-batch", "An event that stands twice in one batch is accepted once.",
      why: why, needs: [.counts]
    ) { run in
      let event = run.event()
      let other = run.event()
      let answer = try run.accept(run.batch([event, other, event]))
      return run.compare(
        try run.counts(answer), accepted: 2, duplicates: 1,
        after: "3 events of which one stands twice")
    }

    private static let resent = ContractCheck(
      "dedup.resent", "The same batch again is answered 2xx and counted as duplicates.",
      why: why, needs: [.counts]
    ) { run in
      let request = run.batch(run.events(3))
      try run.accept(request)
      let answer = try run.accept(request)
      return run.compare(
        try run.counts(answer), accepted: 0, duplicates: 3, after: "the same 3 events again")
    }

    private static let overlap = ContractCheck(
      "dedup.overlap", "A batch of known and new events is accepted for the new ones.",
      why: "Batches are cut anew after a failure: the next one overlaps the lost one.",
      needs: [.counts]
    ) { run in
      let events = run.events(5)
      try run.accept(run.batch(Array(events[..<3])))
      let answer = try run.accept(run.batch(Array(events[1...])))
      return run.compare(
        try run.counts(answer), accepted: 2, duplicates: 2, after: "2 known and 2 new events")
    }

    private static let concurrent = ContractCheck(
      "dedup.concurrent", "Identical batches at the same moment are accepted once in all.",
      why: "After a timeout the second request can overtake the first one.", needs: [.counts]
    ) { run in
      let copies = run.policy.concurrency
      let request = run.batch(run.events(3))
      let replies = try run.sendTogether(request, copies: copies)
      var sum = AnswerCounts(accepted: 0, duplicates: 0)
      for reply in replies {
        let counts = try run.counts(try run.accepted(reply, of: request))
        sum.accepted += counts.accepted
        sum.duplicates += counts.duplicates
      }
      return run.compare(
        sum, accepted: 3, duplicates: 3 * (copies - 1),
        after: "\(copies) times the same 3 events at once")
    }

    private static let conflict = ContractCheck(
      "dedup.conflict",
      "A known id with other content is a duplicate, or rejected, as the policy says; never a 5xx.",
      why: "A 5xx for one event would stop the delivery of all that stand behind it."
    ) { run in
      let event = run.event(payload: ["version": 1])
      try run.accept(run.batch([event]))
      var changed = event
      changed["payload"] = ["version": 2]
      let request = run.batch([changed])
      let reply = try run.send(request)
      let counts = reply.answer.flatMap(AnswerCounts.init)
      let refused =
        Judging.refusalComplaint(reply, allowed: [400, 409, 422], what: "a conflicting event")
        == nil
        || counts?.rejected.isEmpty == false
      switch run.policy.conflict {
      case .refuse:
        return refused ? .pass("refused: \(reply.text)") : .fail("not refused: \(reply.text)")
      case .either where refused: return .pass("refused: \(reply.text)")
      case .keepFirst, .either:
        let answer = try run.accepted(reply, of: request)
        guard run.policy.answer == .counts else { return .pass("answered \(answer.status)") }
        return run.compare(
          try run.counts(answer), accepted: 0, duplicates: 1, after: "a known id with other content"
        )
      }
    }

    private static let storedOnce = ContractCheck(
      "dedup.resent-stored", "A batch that came twice is stored once.", why: why,
      needs: [.observer]
    ) { run in
      let events = run.events(2)
      try run.accept(run.batch(events))
      try run.accept(run.batch(events))
      return try run.storedOnce(events.map(\.eventID))
    }

    private static let withinStored = ContractCheck(
      "dedup.within-batch-stored", "An event that stands twice in one batch is stored once.",
      why: why, needs: [.observer]
    ) { run in
      let event = run.event()
      try run.accept(run.batch([event, event]))
      return try run.storedOnce([event.eventID])
    }

    private static let concurrentStored = ContractCheck(
      "dedup.concurrent-stored", "Identical batches at the same moment are stored once.",
      why: why, needs: [.observer]
    ) { run in
      let events = run.events(2)
      let request = run.batch(events)
      let replies = try run.sendTogether(request, copies: run.policy.concurrency)
      for reply in replies { try run.accepted(reply, of: request) }
      return try run.storedOnce(events.map(\.eventID))
    }

    private static let firstKept = ContractCheck(
      "dedup.first-kept", "A known id with other content leaves the stored content as it was.",
      why: "Otherwise anybody who knows an id can rewrite what a phone reported.",
      needs: [.observer]
    ) { run in
      let event = run.event(payload: ["version": 1])
      try run.accept(run.batch([event]))
      var changed = event
      changed["payload"] = ["version": 2]
      _ = try run.send(run.batch([changed]))
      try run.fence()
      return try FidelityChecks.compare(run, event.eventID, payload: ["version": 1])
    }
  }
#endif
