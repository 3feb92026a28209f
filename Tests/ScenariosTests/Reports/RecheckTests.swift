import Foundation
import XCTest

@testable import Scenarios

final class RecheckTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "recheck-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func store(_ history: History, _ name: String) throws -> String {
    let path = folder + "/" + name
    try Data(HistoryText.bytes(history)).write(to: URL(fileURLWithPath: path))
    return path
  }

  func testRecheck_whenAHistoryWasStored_judgesItAsTheRunDid() throws {
    let failing = SampleRun.failing("same")
    let passing = SampleRun.passing("same")
    let paths = [
      try store(passing.history, "a.jsonl"), try store(failing.history, "b.jsonl"),
    ]
    let report = try RecheckCommand.judge(paths)
    XCTAssertEqual(report.cases.map(\.results), [passing.results, failing.results])
    XCTAssertEqual(report.comparisons.count, 1)
    XCTAssertEqual(report.exitCode, 1)
    XCTAssertEqual(RecheckCommand.run(arguments: [paths[0]]), 0)
    XCTAssertEqual(RecheckCommand.run(arguments: [paths[1]]), 1)
  }

  func testRecheck_whenAFolderIsNamed_judgesTheHistoriesInIt() throws {
    _ = try store(SampleRun.passing("one").history, "one.jsonl")
    _ = try store(SampleRun.failing("two").history, "two.jsonl")
    try Data("{}".utf8).write(to: URL(fileURLWithPath: folder + "/" + KeptCase.journalName))
    XCTAssertEqual(try RecheckCommand.judge([folder]).cases.map(\.scenario), ["one", "two"])
    let empty = folder + "/empty"
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    XCTAssertThrowsError(try RecheckCommand.judge([empty])) {
      XCTAssertEqual("\($0)", "\(empty): no histories (.jsonl) in it")
    }
  }

  func testRecheck_whenAFileIsNoHistory_saysWhichLine() throws {
    let path = folder + "/broken.jsonl"
    try Data("{\"history\":2}\n".utf8).write(to: URL(fileURLWithPath: path))
    XCTAssertThrowsError(try RecheckCommand.judge([path])) { error in
      XCTAssertEqual("\(error)", "\(path): line 1: \"scenario\" must be a string")
    }
    XCTAssertEqual(RecheckCommand.run(arguments: [path]), 3)
    XCTAssertEqual(RecheckCommand.run(arguments: [folder + "/missing"]), 3)
    XCTAssertEqual(RecheckCommand.run(arguments: []), 3)
    XCTAssertEqual(RecheckCommand.run(arguments: ["--jnuit", path]), 3)
  }

  func testComparison_whenALaneIsRemote_isLeftOut() {
    let histories = ["virtual", "remote"].map { SampleRun.passing("x", lane: $0).history }
    XCTAssertEqual(Comparison.all(histories), [])
  }
}
