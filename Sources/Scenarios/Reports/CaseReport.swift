/// One scenario on one lane, judged.
package struct CaseReport: Sendable, Hashable {
  /// How a case ended.
  package enum Status: String, Sendable, Hashable, CaseIterable {
    case pass, fail, unknown, skipped
    /// The runner itself failed: a guard ran out, a process could not be started.
    case runnerFailed
    /// The server to be tested could not be reached.
    case unavailable
  }

  package var history: History
  package var results: [CheckResult]
  /// Why the lane was skipped, by the name of what it cannot express.
  package var skipped: String?
  /// Why the runner failed.
  package var runnerFailure: String?
  /// Why the target could not be reached.
  package var unavailable: String?
  /// Where the device's folder, the history and the journal were kept.
  package var artifacts: String?
  /// Real time the case took, in milliseconds.
  package var tookMs: Int64
  /// The history's figures, counted once for every report.
  package let figures: CaseFigures

  package init(
    history: History, results: [CheckResult], skipped: String? = nil, runnerFailure: String? = nil,
    unavailable: String? = nil, artifacts: String? = nil, tookMs: Int64 = 0,
    figures: CaseFigures? = nil
  ) {
    self.history = history
    self.figures = figures ?? CaseFigures(Evidence(history))
    self.results = results
    self.skipped = skipped
    self.runnerFailure = runnerFailure
    self.unavailable = unavailable
    self.artifacts = artifacts
    self.tookMs = tookMs
  }

  package var scenario: String { history.header.scenario }
  package var lane: String { history.header.lane }

  /// A broken invariant outweighs everything, also the runner's own trouble: it was seen.
  package var status: Status {
    if results.contains(where: { $0.verdict.outcome == .fail }) { return .fail }
    if runnerFailure != nil { return .runnerFailed }
    if unavailable != nil { return .unavailable }
    if skipped != nil { return .skipped }
    let isUnknown = results.contains { $0.verdict.outcome == .unknown }
    return isUnknown || results.isEmpty ? .unknown : .pass
  }

  /// Results that are no pass, failures first.
  package var complaints: [CheckResult] {
    results.filter { $0.verdict.outcome == .fail }
      + results.filter { $0.verdict.outcome == .unknown }
  }

  /// What went wrong outside the checkers; nil where nothing did.
  package var trouble: String? { runnerFailure ?? unavailable }
}

/// A whole run of scenarios.
package struct RunReport: Sendable, Hashable {
  package var cases: [CaseReport]
  package var comparisons: [Comparison]
  /// Real time of the whole run, in milliseconds.
  package var tookMs: Int64

  package init(cases: [CaseReport], comparisons: [Comparison] = [], tookMs: Int64 = 0) {
    self.cases = cases
    self.comparisons = comparisons
    self.tookMs = tookMs
  }

  /// Differences between lanes that nothing explains, with their scenario.
  package var findings: [(scenario: String, difference: Comparison.Difference)] {
    comparisons.flatMap { comparison in
      comparison.findings.map { (comparison.scenario, $0) }
    }
  }

  /// 0 pass, 1 an invariant is broken, 2 unknown, 4 the runner failed, 5 the target is
  /// unavailable; of several 1 before 4 before 5 before 2. A run without a case is unknown.
  package var exitCode: Int32 {
    let statuses = Set(cases.map(\.status))
    if statuses.contains(.fail) || !findings.isEmpty { return 1 }
    if statuses.contains(.runnerFailed) { return 4 }
    if statuses.contains(.unavailable) { return 5 }
    if statuses.contains(.unknown) || !statuses.contains(.pass) { return 2 }
    return 0
  }

  package func count(_ status: CaseReport.Status) -> Int {
    cases.filter { $0.status == status }.count
  }

  /// Cases worth a reader's first look: failures, the runner's own, the unreachable, the unknown.
  package var complaints: [CaseReport] {
    let order: [CaseReport.Status] = [.fail, .runnerFailed, .unavailable, .unknown]
    return order.flatMap { status in cases.filter { $0.status == status } }
  }
}

/// The figures of one case.
package struct CaseFigures: Sendable, Hashable {
  /// Events with a durable receipt.
  package var recorded = 0
  /// Distinct events stored on the server.
  package var delivered = 0
  /// Events that arrived again and were answered as duplicates.
  package var duplicates = 0
  package var requests = 0
  /// Scenario time of the last entry.
  package var lastNs: Int64 = 0

  package init(_ evidence: Evidence) {
    recorded = evidence.durable.count
    delivered = evidence.stories.all.filter { $0.stored > 0 }.count
    duplicates = evidence.requests.reduce(0) { $0 + ($1.commit?.duplicates.count ?? 0) }
    requests = evidence.requests.count
    lastNs = evidence.history.entries.map(\.atNs).max() ?? 0
  }
}
