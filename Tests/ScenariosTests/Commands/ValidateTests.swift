import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// Commands as somebody at a terminal runs them.
final class ValidateTests: XCTestCase {
  private func shell(_ command: String) throws -> (exit: String, text: String) {
    let folder = try Fixture.folder(self)
    let whole = "{ \(command); } > '\(folder)/out' 2>&1; echo $? > '\(folder)/exit'"
    _ = ShellCommand.run(whole, by: Deadline.after(ns: 60_000_000_000))
    return (
      try String(contentsOfFile: folder + "/exit", encoding: .utf8).trimmed,
      try String(contentsOfFile: folder + "/out", encoding: .utf8)
    )
  }

  func testValidate_whenTenScriptsAreBroken_listsAllTenWithTheirPlaces() throws {
    let fixtures = PythonServer.fixtures
    let golden = try String(
      contentsOf: fixtures.appendingPathComponent("broken-scripts.txt"), encoding: .utf8)
    let (exit, text) = try shell(
      "cd '\(fixtures.path)' && '\(Fixture.executable)' validate broken-scripts")
    XCTAssertEqual(text, golden)
    XCTAssertEqual(exit, "3")
  }

  func testValidate_whenGitHubRunsIt_annotatesEachMistake() throws {
    let (exit, text) = try shell(
      "cd '\(PythonServer.fixtures.path)' && GITHUB_ACTIONS=true"
        + " '\(Fixture.executable)' validate broken-scripts 2> /dev/null")
    XCTAssertEqual(exit, "3")
    let lines = text.split(separator: "\n")
    XCTAssert(lines.allSatisfy { $0.hasPrefix("::error file=broken-scripts/") }, text)
    let files = Set(lines.compactMap { $0.split(separator: ",").first })
    XCTAssertEqual(files.count, 10, text)
  }

  func testValidate_whenAScriptIsNamedTwice_readsItOnce() throws {
    let folder = try Fixture.folder(self)
    try """
    {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"a"}}],"expect":[{"lost":0}]}
    """.write(toFile: folder + "/s.json", atomically: true, encoding: .utf8)
    let (exit, text) = try shell(
      "cd '\(folder)' && '\(Fixture.executable)' validate . s.json ./s.json '\(folder)'")
    XCTAssertEqual(text, "1 scripts, 1 scenarios: valid\n")
    XCTAssertEqual(exit, "0")
  }

  func testHelp_whenACommandIsAsked_showsItsUsage() throws {
    for command in [
      "run", "validate", "replay", "recheck", "bench", "reference", "serve", "verify",
    ] {
      let (exit, text) = try shell("'\(Fixture.executable)' \(command) --help")
      XCTAssertEqual(exit, "0", command)
      XCTAssert(text.hasPrefix("usage: workbench \(command) "), text)
    }
  }

  func testRun_whenOneScriptIsBroken_runsNothing() throws {
    let (exit, text) = try shell(
      "'\(Fixture.executable)' run '\(PythonServer.fixtures.path)/broken-scripts' --lane virtual")
    XCTAssertEqual(exit, "3")
    XCTAssertFalse(text.contains("pass"), text)
  }

  func testOutputs_whenTheyCannotBeWritten_areRefusedBeforeAnythingRuns() throws {
    let folder = try Fixture.folder(self)
    try """
    {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"a"}}],"expect":[{"lost":0}]}
    """.write(toFile: folder + "/s.json", atomically: true, encoding: .utf8)
    let run = "'\(Fixture.executable)' run '\(folder)/s.json' --lane virtual"
    let cases = [
      ("--junit '\(folder)'", "--junit: \(folder) is a folder, a file is wanted"),
      (
        "--html '\(folder)/no/report.html'",
        "--html: \(folder)/no/report.html cannot be written, there is no folder \(folder)/no"
      ),
      (
        "--json '\(folder)/s.json/x'",
        "--json: \(folder)/s.json/x cannot be written, \(folder)/s.json is no folder"
      ),
      ("--out '\(folder)/s.json/x'", "--out: the folder \(folder)/s.json/x cannot be made"),
      ("--jsonl /proc/none", "--jsonl: the folder /proc/none cannot be made"),
    ]
    for (option, message) in cases {
      let (exit, text) = try shell("\(run) \(option)")
      XCTAssertEqual(exit, "4", option)
      // Doubled slashes of the temporary folder may be tidied in between.
      let tidy = text.replacingOccurrences(of: "//", with: "/")
      XCTAssert(
        tidy.hasPrefix("workbench run: " + message.replacingOccurrences(of: "//", with: "/")), text)
      XCTAssertEqual(text.split(separator: "\n").count, 1, text)
    }
  }

  func testShards_whenTheCommandRunsEachPart_coverEveryCaseOnce() throws {
    let folder = try Fixture.folder(self)
    for name in ["a", "b", "c", "d"] {
      try """
      {"name":"\(name)","about":"a","lanes":["virtual"],"matrix":{"count":["1","2"]},
       "timeline":[{"at":"0s","record":{"as":"r","type":"${count}"}}],"expect":[{"lost":0}]}
      """.write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
    }
    func titles(_ option: String) throws -> [String] {
      let (exit, text) = try shell(
        "'\(Fixture.executable)' run '\(folder)' \(option) --json '\(folder)/report.out'")
      XCTAssertEqual(exit, "0", text)
      let report = try JSONValue.parse(
        [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/report.out"))))
      return (report["cases"]?.arrayValue ?? []).compactMap { $0["scenario"]?.stringValue }
    }
    let all = try titles("")
    XCTAssertEqual(all.count, 8)
    let parts = try (1...3).flatMap { try titles("--shard \($0)/3") }
    XCTAssertEqual(parts.sorted(), all.sorted())
  }

  func testHistories_whenTheVirtualLaneRunsTwice_areTheSameByteForByte() throws {
    let folder = try Fixture.folder(self)
    let scenarios = PythonServer.fixtures.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("scenarios/kills").path
    for name in ["one", "two"] {
      let (exit, text) = try shell(
        "'\(Fixture.executable)' run '\(scenarios)' --lane virtual --jsonl '\(folder)/\(name)'")
      XCTAssertEqual(exit, "0", text)
    }
    let (exit, text) = try shell("diff -r '\(folder)/one' '\(folder)/two'")
    XCTAssertEqual(exit, "0", text)
    XCTAssertGreaterThan(
      try FileManager.default.contentsOfDirectory(atPath: folder + "/one").count, 8)
  }
}
