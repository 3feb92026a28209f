extension CaseReport {
  /// What the runner hands over, as reports read it.
  package init(_ result: CaseResult) {
    let history =
      result.history
      ?? History(
        header: HistoryHeader(
          scenario: result.title, file: result.file, lane: result.lane.rawValue))
    self.init(
      history: history, results: result.checks, skipped: result.skipped,
      runnerFailure: result.failure, artifacts: result.kept,
      tookMs: Int64(max(0, min(result.realSeconds, 1e9)) * 1000))
  }
}

extension RunReport {
  /// Judged cases, and their lanes compared scenario by scenario. A real server in real time is
  /// compared with nothing: it draws other ids and other delays.
  package init(_ results: [CaseResult], tookMs: Int64) {
    var histories: [String: [History]] = [:]
    var order: [String] = []
    for result in results where result.lane != .remote && result.failure == nil {
      guard let history = result.history else { continue }
      if histories[result.title] == nil { order.append(result.title) }
      histories[result.title, default: []].append(history)
    }
    let comparisons = order.compactMap { histories[$0] }.filter { $0.count > 1 }
      .map(Comparison.init)
    self.init(cases: results.map(CaseReport.init), comparisons: comparisons, tookMs: tookMs)
  }
}
