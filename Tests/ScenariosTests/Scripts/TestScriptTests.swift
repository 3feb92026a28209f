import Foundation
import XCTest

@testable import Scenarios

/// `scripts/test` against a stand-in for `swift` whose test runs end as the test says.
final class TestScriptTests: XCTestCase {
  private struct Ended {
    var code: Int32
    var output: String
  }

  private static let started = "Test Case 'A.a' started at 2026-01-05"
  private static let failed = "Test Case 'A.a' failed (0.1 seconds)"
  private static let other = [
    "Test Case 'B.b' started at 2026-01-05", "Test Case 'B.b' passed (0.1 seconds)",
  ]
  private static let closing = [
    "Test Suite 'All tests' passed at 2026-01-05", "\t Executed 2 tests, with 0 failures",
  ]

  /// The whole run prints `log` and ends with `code`; a test run alone passes.
  private func run(_ log: [String], code: Int) throws -> Ended {
    let folder = try Fixture.folder(self)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let manager = FileManager.default
    for name in ["scripts", "bin"] {
      try manager.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try manager.copyItem(
      atPath: root.path + "/scripts/test", toPath: folder + "/scripts/test")
    try log.joined(separator: "\n").appending("\n").write(
      toFile: folder + "/log", atomically: true, encoding: .utf8)
    let swift = """
      #!/bin/bash
      case "$*" in
        build*) exit 0 ;;
        *enable-code-coverage*) cat "\(folder)/log"; exit \(code) ;;
        *) echo "Test Case 'A.a' passed (0.1 seconds)" ;;
      esac
      """
    try swift.write(toFile: folder + "/bin/swift", atomically: true, encoding: .utf8)
    try manager.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder + "/bin/swift")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let child = ChildProcess(
      executable: "/usr/bin/env",
      arguments: ["PATH=\(folder)/bin:\(path)", "bash", "\(folder)/scripts/test"],
      descriptors: [], logFile: folder + "/output")
    let end = SystemCalls.reap(try child.spawn())
    let output = try String(contentsOfFile: folder + "/output", encoding: .utf8)
    guard case .exited(let status) = end else { return Ended(code: -1, output: output) }
    return Ended(code: status, output: output)
  }

  func testScript_whenAllPass_passes() throws {
    let log = [Self.started, "Test Case 'A.a' passed (0.1 seconds)"] + Self.other + Self.closing
    let ended = try run(log, code: 0)
    XCTAssertEqual(ended.code, 0, ended.output)
    XCTAssert(ended.output.contains("2 passed, 0 failed, 0 skipped"), ended.output)
  }

  func testScript_whenATestFailsOnce_namesItUnsteady() throws {
    let log = [Self.started, Self.failed] + Self.other + Self.closing
    let ended = try run(log, code: 1)
    XCTAssertEqual(ended.code, 0, ended.output)
    XCTAssert(ended.output.contains("unsteady: A.a failed once"), ended.output)
  }

  func testScript_whenTheProcessCrashesBehindAFailedTest_fails() throws {
    let log = [
      Self.started, Self.failed, "\t Executed 1 tests, with 1 failures",
      "Test Case 'B.b' started at 2026-01-05", "error: Exited with unexpected signal code 4",
    ]
    let ended = try run(log, code: 1)
    XCTAssertEqual(ended.code, 1, ended.output)
    XCTAssert(ended.output.contains("began and never ended: B.b"), ended.output)
  }

  func testScript_whenTheTimeLimitEndsTheRunBetweenTwoTests_fails() throws {
    let ended = try run([Self.started, Self.failed] + Self.other, code: 124)
    XCTAssertEqual(ended.code, 1, ended.output)
  }
}
