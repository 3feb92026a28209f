@testable import Scenarios

/// Small judged runs, one of each status.
enum SampleRun {
  static let lostLine = ExpectedLine(
    key: "lost", value: "0", line: 12, column: 14, source: "  \"expect\":[{\"lost\":0}]}")

  static func passing(_ scenario: String = "calm", lane: String = "virtual") -> CaseReport {
    var maker = HistoryMaker(scenario: scenario, lane: lane, expectations: [lostLine])
    maker.record(["e1", "e2"], at: 60)
    maker.send(["e1", "e2"], at: 90, stored: ["e1", "e2"])
    maker.send(["e1"], at: 95, duplicates: ["e1"])
    return judged(maker, tookMs: 340)
  }

  static func failing(
    _ scenario: String = "airplane-shift", lane: String = "socket"
  ) -> CaseReport {
    var maker = HistoryMaker(scenario: scenario, lane: lane, expectations: [lostLine])
    maker.record(["e1"], at: 60)
    maker.record(["e2"], at: 61)
    maker.add(.died(incarnation: 1, how: "SIGKILL"), at: 70)
    maker.send(["e1"], at: 90, stored: ["e1"])
    maker.books(at: 95) {
      $0.recorded = 2
      $0.delivered = 1
    }
    var report = judged(maker, tookMs: 1_250)
    report.artifacts = "out/\(scenario).\(lane)"
    return report
  }

  static func unknown() -> CaseReport {
    let faults = ExpectedLine(key: "retryAfterObeyed", value: "true")
    var maker = HistoryMaker(scenario: "quiet", lane: "urlprotocol", expectations: [faults])
    maker.record(["e1"], at: 1)
    return judged(maker)
  }

  static func skipped() -> CaseReport {
    CaseReport(
      history: HistoryMaker(scenario: "resets", lane: "urlprotocol").history, results: [],
      skipped: "a true RST cannot be expressed")
  }

  static func runnerFailed() -> CaseReport {
    CaseReport(
      history: HistoryMaker(scenario: "stuck", lane: "socket").history, results: [],
      runnerFailure: "the device did not answer within 60 s")
  }

  static func judged(_ maker: HistoryMaker, tookMs: Int64 = 0) -> CaseReport {
    CaseReport(
      history: maker.history, results: Checkers.judge(maker.history), tookMs: tookMs)
  }

  static func all() -> RunReport {
    let cases = [passing(), failing(), unknown(), skipped(), runnerFailed()]
    let differing = Comparison([passing("x").history, failing("x").history])
    return RunReport(cases: cases, comparisons: [differing], tookMs: 2_000)
  }
}
