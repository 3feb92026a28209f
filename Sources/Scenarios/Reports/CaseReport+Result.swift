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
      runnerFailure: result.failure, unavailable: result.unavailable, artifacts: result.kept,
      tookMs: Int64(max(0, min(result.realSeconds, 1e9)) * 1000),
      figures: result.figures)
  }
}

extension RunReport {
  /// Judged cases, and their lanes compared.
  package init(_ results: [CaseResult], tookMs: Int64) {
    let finished = results.filter { $0.failure == nil && $0.unavailable == nil }.compactMap(
      \.history)
    self.init(
      cases: results.map(CaseReport.init), comparisons: Comparison.all(finished), tookMs: tookMs)
  }
}

extension Comparison {
  /// Compares scenario by scenario, those with two lanes or more. A real server in real time is
  /// compared with nothing: it draws other ids and other delays.
  package static func all(_ histories: [History]) -> [Comparison] {
    var groups: [String: [History]] = [:]
    var order: [String] = []
    for history in histories where history.header.lane != LaneName.remote.rawValue {
      let name = history.header.scenario
      if groups[name] == nil { order.append(name) }
      groups[name, default: []].append(history)
    }
    return order.compactMap { groups[$0] }.filter { $0.count > 1 }.map(Comparison.init)
  }
}
