import XCTest

@testable import Scenarios

final class TerminalReportTests: XCTestCase {
  private let plain = TerminalReport(usesColour: false)

  func testSummary_whenACaseFails_showsCaretLifeStoryAndReplayFirst() {
    let text = plain.summary(RunReport(cases: [SampleRun.passing(), SampleRun.failing()]))
    XCTAssertEqual(
      text,
      """
      FAIL airplane-shift (socket): lost
        scenarios/made.json:12:14
            "expect":[{"lost":0}]}
                       ^
        lost: 1 of 2 durable events lost, expected 0
          e2: offered 1m01s → durable 1m01s
        replay: workbench run scenarios/made.json --lane socket --seed 7
        kept: out/airplane-shift.socket

      scenario        lane     verdict  recorded  delivered  duplicates  requests    took
      calm            virtual  pass            2          2           1         2  340 ms
      airplane-shift  socket   FAIL            2          1           0         1   1.2 s

      2 cases: 1 pass, 1 fail

      """)
  }

  func testSummary_whenEveryStatusOccurs_ordersComplaintsAndNamesSkips() {
    let text = plain.summary(SampleRun.all())
    let places = [
      "FAIL airplane-shift (socket): lost", "RUNNER FAILED stuck (socket)",
      "  the device did not answer within 60 s", "UNKNOWN quiet (urlprotocol): retryAfterObeyed",
      "  retryAfterObeyed: unknown: no usable Retry-After was sent", "LANES DIFFER x: event 2 of",
      "skipped: a true RST cannot be expressed", "5 cases: 1 pass, 1 fail, 1 unknown, 1 skipped",
    ].map { part -> String.Index? in text.range(of: part)?.lowerBound }
    XCTAssertFalse(places.contains(nil), text)
    XCTAssertEqual(places.compactMap { $0 }, places.compactMap { $0 }.sorted(), text)
    XCTAssertFalse(text.contains("\u{1b}"), "no colour was asked for")
  }

  func testReport_whenTextHasControlCharacters_neverSendsThemToTheTerminal() {
    var report = SampleRun.failing("evil\u{1b}[2J\nname")
    report.history.header.file = "a\u{7}b.json"
    report.artifacts = "out/\u{9b}31m"
    report.runnerFailure = "x\u{8}\u{8}y"
    let text =
      plain.summary(RunReport(cases: [report])) + plain.progressLine(report, done: 1, of: 1)
    let controls = text.unicodeScalars.filter {
      $0.value < 0x20 && $0 != "\n" || (0x7f...0x9f).contains($0.value)
    }
    XCTAssertTrue(controls.isEmpty)
    XCTAssertEqual(text.components(separatedBy: "\nname").count, 1, "a name cannot break a line")
  }

  func testProgress_whenOnATerminal_rewritesOneLineWithinItsWidth() {
    let line = plain.statusLine(
      running: String(repeating: "long", count: 50), done: 5, of: 10, failed: 1, width: 60)
    XCTAssertTrue(line.hasPrefix("\r██████████░░░░░░░░░░ 5/10 1 failed long"))
    XCTAssertTrue(line.hasSuffix("\u{1b}[K"))
    XCTAssertLessThanOrEqual(line.count, 59 + 1 + 3)
    XCTAssertEqual(
      plain.progressLine(SampleRun.passing(), done: 1, of: 3), "[1/3] pass calm (virtual) 340 ms")
    XCTAssertEqual(plain.statusLine(running: "", done: 0, of: 0, failed: 0).first, "\r")
  }

  func testSummary_whenColourIsUsed_marksOnlyWholeLinesAndWords() {
    let colour = TerminalReport(usesColour: true).summary(SampleRun.all())
    let plainText = plain.summary(SampleRun.all())
    var stripped = colour
    while let start = stripped.range(of: "\u{1b}["),
      let end = stripped[start.lowerBound...].firstIndex(of: "m")
    {
      stripped.removeSubrange(start.lowerBound...end)
    }
    XCTAssertEqual(stripped, plainText)
  }

  func testExcerpt_whenTheLineIsLong_isCutAroundTheCaret() {
    let source = String(repeating: "é", count: 500) + "X" + String(repeating: "z", count: 500)
    let line = ExpectedLine(key: "lost", value: "0", line: 1, column: 501, source: source)
    let lines = ReportText.excerpt(line, indent: "")
    XCTAssertEqual(lines[0].count, 100)
    XCTAssertEqual(Array(lines[0])[lines[1].count - 1], "X")
  }

  func testExitCode_whenSeveralThingsHappen_theWorstCounts() {
    func code(_ cases: [CaseReport], _ comparisons: [Comparison] = []) -> Int32 {
      RunReport(cases: cases, comparisons: comparisons).exitCode
    }
    var unreachable = SampleRun.skipped()
    unreachable.unavailable = "connection refused"
    XCTAssertEqual(code([SampleRun.passing()]), 0)
    XCTAssertEqual(code([SampleRun.passing(), SampleRun.skipped()]), 0)
    XCTAssertEqual(code([SampleRun.passing(), SampleRun.unknown()]), 2)
    XCTAssertEqual(code([unreachable, SampleRun.unknown()]), 5)
    XCTAssertEqual(code([unreachable, SampleRun.runnerFailed()]), 4)
    XCTAssertEqual(code([SampleRun.runnerFailed(), SampleRun.failing(), unreachable]), 1)
    XCTAssertEqual(code([]), 2, "nothing was shown")
    XCTAssertEqual(code([SampleRun.skipped()]), 2, "nothing was shown")
    XCTAssertEqual(code([SampleRun.passing()], SampleRun.all().comparisons), 1, "lanes differ")
    var both = SampleRun.failing()
    both.runnerFailure = "guard"
    XCTAssertEqual(both.status, .fail, "what was seen was seen")
  }
}
