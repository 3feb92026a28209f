import Foundation
import JSONText
import XCTest

@testable import Scenarios

final class ReplayTests: XCTestCase {
  func testRun_whenInterrupted_reportsWhatHasRunAndLeavesNothing() throws {
    let folder = try Fixture.folder(self)
    let numbers = (1...50).map(String.init).joined(separator: ",")
    try Data(
      """
      {"name":"n","about":"a","lanes":["virtual"],"matrix":{"n":[\(numbers)],"m":[1,2,3,4,5]},
       "timeline":[{"at":"0s","record":{"as":"a","count":"${n}","type":"t${m}"}}],"expect":[{"lost":0}]}
      """.utf8
    ).write(to: URL(fileURLWithPath: folder + "/s.json"))
    let command = """
      cd '\(folder)'; mkdir tmp; : > out
      TMPDIR="$PWD/tmp" '\(Fixture.executable)' run s.json --jobs 1 --junit junit.xml >> out 2>&1 &
      until grep -q '^.1/250' out; do sleep 0.05; done
      kill -INT $!; wait $!; echo $? > exit; ls tmp > left
      """
    _ = ShellCommand.run(command, by: Deadline.after(ns: 120_000_000_000))
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }
    let out = try text("out")
    XCTAssertEqual(try text("exit"), "130\n")
    XCTAssert(out.contains("workbench: interrupted, "), out)
    XCTAssert(try text("junit.xml").contains("<testsuites"))
    XCTAssertEqual(try text("left"), "", "the runner's own folder is still there")
  }

  func testRecheck_whenARunLeftItsHistories_saysWhatTheRunSaid() throws {
    let folder = try Fixture.folder(self)
    let script = PythonServer.fixtures.appendingPathComponent("failing-scenario.json").path
    func report(_ command: String, _ name: String) throws -> (exit: String, JSONValue) {
      let whole = """
        '\(Fixture.executable)' \(command) --json '\(folder)/\(name)' > '\(folder)/out' 2>&1;
        echo $? > '\(folder)/exit'
        """
      _ = ShellCommand.run(whole, by: Deadline.after(ns: 60_000_000_000))
      return (
        try String(contentsOfFile: folder + "/exit", encoding: .utf8),
        try JSONValue.parse([UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))))
      )
    }
    let ran = try report("run '\(script)' --lane virtual --jsonl '\(folder)/all'", "ran.out")
    let rechecked = try report("recheck '\(folder)/all'", "rechecked.out")
    XCTAssertEqual(ran.exit, "1\n")
    XCTAssertEqual(rechecked.exit, ran.exit)
    let results = ran.1["cases"]?.arrayValue?.first?["checks"]
    XCTAssertNotNil(results)
    XCTAssertEqual(rechecked.1["cases"]?.arrayValue?.first?["checks"], results)
  }

  /// Two cells of a matrix that both fail: events are delivered that the script says are not.
  private func suite(_ folder: String, seed: UInt64) throws -> [CaseResult] {
    let file = folder + "/s.json"
    try """
    {"name":"cells","about":"a","matrix":{"account":["anna","ben"]},
     "device":{"token":{"value":"T1","account":"${account}"}},
     "timeline":[{"at":"0s","record":{"as":"a","count":3}},{"at":"1m","lowPower":true}],
     "expect":[{"undelivered":"a"}]}
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let loaded = try ScriptLoader.load([file])
    XCTAssertEqual(loaded.mistakes, [])
    var options = SuiteRunner.Options(executable: Fixture.executable)
    options.outFolder = folder + "/out"
    try FileManager.default.createDirectory(
      atPath: folder + "/out", withIntermediateDirectories: true)
    let cases = CaseList.cases(
      loaded.scenarios, CaseSelection(lanes: [.virtual], seed: seed))
    return try SuiteRunner(cases, options: options) { _, _, _ in }.run()
  }

  func testReplay_whenACaseFailed_namesScriptLaneSeedAndCellFromItsFolder() throws {
    let folder = try Fixture.folder(self)
    let results = try suite(folder, seed: 99)
    XCTAssertEqual(results.map(\.exitCode), [.broken, .broken])
    let kept = try XCTUnwrap(results[1].kept)
    for name in ["history.jsonl", "journal.jsonl", "scenario.json", "device-2"] {
      XCTAssert(FileManager.default.fileExists(atPath: kept + "/" + name), name)
    }
    var notes: [String] = []
    let request = try ReplayCommand.request([kept]) { notes.append($0) }
    XCTAssertEqual(request.paths, [folder + "/s.json"])
    XCTAssertEqual(request.lanes, [.virtual])
    XCTAssertEqual(request.seed, 99)
    XCTAssertEqual(request.title, "cells[account=ben]")
    XCTAssertEqual(notes, [])
    let cases = CaseList.cases(
      try ScriptLoader.load(request.paths).scenarios, request.selection(nil))
    XCTAssertEqual(cases.map(\.scenario.title), ["cells[account=ben]"])
    XCTAssertEqual(cases.map(\.seed), [99])
  }

  func testReplay_whenThePrintedLineIsUsed_isTheSameCaseWithTheSameHistory() throws {
    let folder = try Fixture.folder(self)
    let first = try suite(folder, seed: 5)[1]
    let line = try XCTUnwrap(first.history?.header.replay)
    XCTAssertEqual(
      line,
      "workbench replay \(folder)/s.json --lane virtual --seed 5 --case 'cells[account=ben]'")
    let words = [
      folder + "/s.json", "--lane", "virtual", "--seed", "5", "--case",
      "cells[account=ben]",
    ]
    let request = try ReplayCommand.request(words) { XCTFail($0) }
    let cases = CaseList.cases(
      try ScriptLoader.load(request.paths).scenarios, request.selection(nil))
    let options = SuiteRunner.Options(executable: Fixture.executable)
    let again = try SuiteRunner(cases, options: options) { _, _, _ in }.run()
    XCTAssertEqual(again.count, 1)
    XCTAssertEqual(
      try HistoryText.bytes(XCTUnwrap(again[0].history)),
      try HistoryText.bytes(XCTUnwrap(first.history)))
  }

  func testReplay_whenTheScriptIsGoneOrOther_saysSo() throws {
    let folder = try Fixture.folder(self)
    let kept = try XCTUnwrap(try suite(folder, seed: 1)[0].kept)
    try "{}".write(toFile: folder + "/s.json", atomically: true, encoding: .utf8)
    var notes: [String] = []
    var request = try ReplayCommand.request([kept]) { notes.append($0) }
    XCTAssertEqual(request.paths, [folder + "/s.json"])
    try FileManager.default.removeItem(atPath: folder + "/s.json")
    request = try ReplayCommand.request([kept + "/history.jsonl"]) { notes.append($0) }
    XCTAssertEqual(request.paths, [kept + "/scenario.json"])
    XCTAssertEqual(
      notes,
      [
        "\(folder)/s.json has changed since; what then ran is \(kept)/scenario.json",
        "\(folder)/s.json is gone, the kept copy is run",
      ])
  }

  func testReplay_whenItCannotKnowTheCase_saysWhatIsMissing() throws {
    let folder = try Fixture.folder(self)
    func complaint(_ words: [String]) -> String {
      do {
        _ = try ReplayCommand.request(words) { XCTFail($0) }
        return "accepted"
      } catch { return "\(error)".split(separator: "\n").first.map(String.init) ?? "" }
    }
    XCTAssertEqual(complaint([]), "one folder or script is wanted")
    XCTAssertEqual(complaint(["/no/such"]), "/no/such: no such file or folder")
    XCTAssertEqual(
      complaint([folder]), "\(folder): there is no history.jsonl of a case in it")
    try "x".write(toFile: folder + "/s.json", atomically: true, encoding: .utf8)
    XCTAssertEqual(
      complaint([folder + "/s.json"]), "--lane is missing: a replay is of one case")
    try "{\n".write(toFile: folder + "/history.jsonl", atomically: true, encoding: .utf8)
    XCTAssert(complaint([folder]).hasPrefix("\(folder)/history.jsonl: line 1: not JSON"))
  }

  func testReplayLine_whenAWordIsNotPlain_isQuotedForAShell() throws {
    var scenario = try Fixture.scenario(
      #"{"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"a"}}],"expect":[{"lost":0}]}"#
    )
    scenario.file = "my scripts/it's.json"
    let planned = PlannedCase(scenario: scenario, lane: .remote, seed: 3, skipped: nil)
    XCTAssertEqual(
      ReplayCommand.line(planned, ["--remote", "http://h:1/v1", "--token-env", "T"]),
      #"workbench replay 'my scripts/it'\''s.json' --lane remote --seed 3 --remote http://h:1/v1"#
        + " --token-env T")
  }
}
