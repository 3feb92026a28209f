import Foundation
import XCTest

@testable import Scenarios

/// Runs small scripts the way the command does.
enum Fixture {
  /// The program that hosts devices lies beside the test bundle.
  static var executable: String {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var folder = bundle.deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("workbench").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      folder.deleteLastPathComponent()
    }
    return "workbench"
  }

  static func folder(_ test: XCTestCase) throws -> String {
    let path = NSTemporaryDirectory() + "/scenarios-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    test.addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
    return path
  }

  static func scenario(_ text: String) throws -> Scenario {
    try ScenarioParser.parse(file: "test.json", bytes: Array(text.utf8))[0]
  }

  /// Runs a script in a lane and judges it.
  static func run(
    _ text: String, lane: LaneName, in test: XCTestCase
  ) throws -> (outcome: CaseOutcome, checks: [CheckResult]) {
    let runner = CaseRunner(
      try scenario(text),
      CaseSettings(
        lane: lane, seed: 7, folder: try folder(test), executable: executable,
        timeoutSeconds: 120))
    let outcome = runner.run()
    return (outcome, Checkers.judge(outcome.history))
  }

  static func failed(_ checks: [CheckResult]) -> [String] {
    checks.filter { $0.verdict.outcome == .fail }.map(\.checker)
  }
}
