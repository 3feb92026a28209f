import Foundation
import XCTest

@testable import Scenarios

final class CommandTests: XCTestCase {
  func testShards_whenPutTogether_coverEachCaseOnce() throws {
    var seen: [Int: Int] = [:]
    for index in 1...3 {
      let shard = try XCTUnwrap(Shard("\(index)/3"))
      for position in 0..<100 where shard.contains(position) { seen[position, default: 0] += 1 }
    }
    XCTAssertEqual(seen.count, 100)
    XCTAssert(seen.values.allSatisfy { $0 == 1 })
    for text in ["0/3", "4/3", "1/0", "1", "a/b", "1/2/3", "+1/3", "01/3", ""] {
      XCTAssertNil(Shard(text), text)
    }
  }

  func testExitCode_whenSeveral_followsThePrecedence() {
    XCTAssertEqual(ExitCode.worst(of: [.unknown, .unavailable, .runnerFailed, .broken]), .broken)
    XCTAssertEqual(ExitCode.worst(of: [.unknown, .unavailable, .runnerFailed]), .runnerFailed)
    XCTAssertEqual(ExitCode.worst(of: [.unknown, .unavailable]), .unavailable)
    XCTAssertEqual(ExitCode.worst(of: [.pass, .unknown]), .unknown)
    XCTAssertEqual(ExitCode.worst(of: []), .pass)
  }

  func testFilter_whenAPartOfTitleLaneOrFile_leavesTheOthersOut() throws {
    func script(_ name: String) -> String {
      #"{"name":"\#(name)","about":"a","matrix":{"n":[1,2]},"device":{"batchEvents":"${n}"},"#
        + #""timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}"#
    }
    let scenarios =
      try ScenarioParser.parse(file: "kills/one.json", bytes: Array(script("one").utf8))
      + ScenarioParser.parse(file: "server/two.json", bytes: Array(script("two").utf8))
    func titles(_ filter: String?) -> [String] {
      CaseList.cases(scenarios, CaseSelection(filter: filter)).map(\.title)
    }
    XCTAssertEqual(titles(nil).count, 12)
    XCTAssertEqual(titles("one").count, 6)
    XCTAssertEqual(titles("server/").count, 6)
    XCTAssertEqual(titles("socket").count, 4)
    XCTAssertEqual(titles("two[n=2] · virtual"), ["two[n=2] · virtual"])
    XCTAssertEqual(titles("three"), [])
  }

  func testCaseFile_whenTitlesDifferInWhatNoNameMayHave_differs() {
    XCTAssertEqual(CaseFile.name(title: "outage[n=2]", lane: "socket"), "outage[n=2]-socket")
    let long = String(repeating: "é", count: 300)
    let titles = ["a/b", "a_b", "a:b", "a\u{1b}b", long, long + "x", "..", ".", ""]
    let names = titles.map { CaseFile.name(title: $0, lane: "virtual") }
    XCTAssertEqual(Set(names).count, titles.count, "\(names)")
    for name in names {
      XCTAssert(name.utf8.count < 200 && !name.hasPrefix("."), name)
      XCTAssertFalse(name.unicodeScalars.contains { $0.value < 0x20 || "/:".contains(String($0)) })
    }
  }

  func testResult_whenAVerdictRestsOnNothing_isNoPass() {
    var result = CaseResult(title: "t", lane: .virtual, file: "t.json")
    XCTAssertEqual(result.exitCode, .pass)
    result.checks = [CheckResult(checker: "lost", verdict: .pass("none"))]
    XCTAssertEqual(result.exitCode, .pass)
    result.checks.append(CheckResult(checker: "order", verdict: .unknown("nothing")))
    XCTAssertEqual(result.exitCode, .unknown, "its folder is kept")
    result.checks.append(CheckResult(checker: "lost", verdict: .fail("one")))
    XCTAssertEqual(result.exitCode, .broken)
  }

  func testArguments_whenMistyped_nameTheNearest() {
    XCTAssertThrowsError(try RunRequest(["scenarios", "--lanes", "socket"])) {
      XCTAssertEqual("\($0)", "unknown option --lanes, did you mean --lane?")
    }
    XCTAssertThrowsError(try RunRequest(["scenarios", "--lane", "sockets"])) {
      XCTAssertEqual(
        "\($0)",
        "--lane is \"sockets\", expected one of virtual, urlprotocol, socket, remote")
    }
    XCTAssertThrowsError(try RunRequest(["scenarios", "--jobs", "0"])) {
      XCTAssertEqual("\($0)", "--jobs is \"0\", expected a number from 1 to 64")
    }
  }

  func testLoader_whenPathsAreBad_saysSoInOneLine() throws {
    let empty = try Fixture.folder(self)
    XCTAssertThrowsError(try ScriptLoader.load(["/no/such/folder"])) {
      XCTAssertEqual("\($0)", "/no/such/folder: no such file or folder")
    }
    XCTAssertThrowsError(try ScriptLoader.load([empty])) {
      XCTAssertEqual("\($0)", "\(empty): no scenario scripts in it")
    }
  }

  func testLoader_whenTenScriptsAreBroken_listsAllTen() throws {
    let folder = try Fixture.folder(self)
    for index in 0..<10 {
      try "{\"name\":\"n\(index)\",\n\"abut\":1}".write(
        toFile: "\(folder)/\(index).json", atomically: true, encoding: .utf8)
    }
    let loaded = try ScriptLoader.load([folder])
    XCTAssertEqual(loaded.mistakes.count, 10)
    for (index, mistake) in loaded.mistakes.enumerated() {
      XCTAssert(mistake.contains("\(folder)/\(index).json:2:1: unknown key \"abut\""), mistake)
    }
  }

  func testLoader_whenTwoScriptsShareAName_refusesTheSecond() throws {
    let folder = try Fixture.folder(self)
    let text = """
      {"name":"same","about":"a","timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}
      """
    for name in ["a", "b"] {
      try text.write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
    }
    let loaded = try ScriptLoader.load([folder])
    XCTAssertEqual(
      loaded.mistakes,
      [
        """
        \(folder)/b.json:1:9: the name "same" is taken by \(folder)/a.json
            {"name":"same","about":"a","timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}
                    ^^^^^^

        """
      ])
  }
}
