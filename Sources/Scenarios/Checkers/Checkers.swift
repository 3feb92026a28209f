import JSONText

/// All checkers, and the judging of a run.
package enum Checkers {
  /// By the expectation's key.
  package static let all: [Checker] = [
    .lost, .delivered, .undelivered, .duplicatesAfterDedup, .stored, .order, .requests,
    .duplicates, .retryAfterObeyed, .finalNotRetried, .noImmediateResend, .accountsKept,
    .allFaultsFired, .withinDedupWindow, .ledgerBalances, .noPlaintext, .quarantined, .queued,
    .dropped, .diskWithin, .state, .nonceReuse, .acceptsNone, .drained, .noCrash,
    .tooLargeNotRepeated, .tokenNotRepeated, .timeGivenBack,
    .contentKept, .noHammering,
  ]

  private static let byName = Dictionary(
    all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  /// The checker of a key.
  package static func named(_ name: String) -> Checker? { byName[name] }

  /// Judges a finished run: its script's expectations, and what holds for every run.
  package static func judge(_ history: History) -> [CheckResult] { sort(history).results }

  /// The same, with the history sorted on the way. What the script asked before the end is judged
  /// by what had happened by then.
  static func sort(_ history: History) -> (evidence: Evidence, results: [CheckResult]) {
    var evidence = Evidence(History(header: history.header))
    var results: [CheckResult] = []
    for (index, entry) in history.entries.enumerated() {
      guard case .asked(let expectations) = entry.event else { continue }
      evidence.extend(to: history.prefix(index))
      results += judge(evidence, expectations)
    }
    evidence.extend(to: history)
    results += judge(evidence, history.header.expectations) + always(evidence)
    return (evidence, results)
  }

  /// Judges a run, or the part of it so far, by the given expectations alone.
  package static func judge(
    _ history: History, expecting expectations: [ExpectedLine]
  ) -> [CheckResult] {
    judge(Evidence(history), expectations)
  }

  private static func judge(
    _ evidence: Evidence, _ expectations: [ExpectedLine]
  ) -> [CheckResult] {
    expectations.map { expectation in
      let verdict: Verdict
      if evidence.refusedEntries > 0 {
        verdict = full(evidence)
      } else if let checker = named(expectation.key) {
        guard !checker.looksAtServer || evidence.history.header.seesServer else {
          return CheckResult(
            checker: expectation.key, expectation: expectation,
            verdict: .unknown("not observable: the target shows nothing of what it stored"))
        }
        do {
          verdict = checker.judge(evidence, try JSONValue.parse(expectation.value))
        } catch {
          verdict = .unknown("the expectation cannot be read: \(error)")
        }
      } else {
        verdict = .unknown("there is no checker \"\(expectation.key)\"")
      }
      return CheckResult(
        checker: expectation.key, expectation: expectation, verdict: verdict)
    }
  }

  /// Checkers that run without being asked: where the run has what they look at.
  private static func always(_ evidence: Evidence) -> [CheckResult] {
    let header = evidence.history.header
    let asked = Set(header.expectations.map(\.key))
    var names: [String] = []
    if evidence.drained != nil { names.append("drained") }
    if evidence.lives > 0 { names.append("noCrash") }
    // Whoever looked into the files after a durable receipt must have seen a sealed record.
    if !evidence.seals.isEmpty || (!evidence.durable.isEmpty && !evidence.scans.isEmpty) {
      names.append("nonceReuse")
    }
    if evidence.requests.contains(where: { $0.heard?.status == 413 }) {
      names.append("tooLargeNotRepeated")
    }
    if evidence.requests.contains(where: { $0.heard?.status == 401 && $0.arrival.token > 0 }) {
      names.append("tokenNotRepeated")
    }
    if !evidence.triesInVain.isEmpty {
      names.append("noHammering")
    }
    if evidence.requests.contains(where: {
      !$0.contents.isEmpty || $0.commit?.conflicting.isEmpty == false
    }) {
      names.append("contentKept")
    }
    if evidence.conditions.contains(where: { $0.name == "assertion" || $0.name == "task" }) {
      names.append("timeGivenBack")
    }
    if header.acceptsNone { names.append("acceptsNone") }
    if !header.plannedRules.isEmpty || !header.plannedTriggers.isEmpty
      || !evidence.missedSteps.isEmpty
    {
      names.append("allFaultsFired")
    }
    return names.filter { !asked.contains($0) }.compactMap { name in
      named(name).map { checker in
        CheckResult(
          checker: name,
          verdict: evidence.refusedEntries > 0 ? full(evidence) : checker.judge(evidence, true))
      }
    }
  }

  /// Whatever the kept part shows, the rest may say the contrary.
  private static func full(_ evidence: Evidence) -> Verdict {
    .unknown("the history was full: \(evidence.refusedEntries) entries were not kept")
  }
}
