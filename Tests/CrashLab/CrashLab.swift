import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// `crashlab crash|kill|power|property|all`: the store against every way to die.
enum CrashLab {
  /// Prints what was tried and found; returns the exit code: 0 clean, 1 violations, 2 usage.
  static func run(_ arguments: [String]) -> Int32 {
    var options = Options(arguments)
    switch options.command {
    case "child": return KillRun.child(options)
    case "kill": return report([KillRun.run(options)])
    case "power": return report(PowerRun.runAll(options))
    case "crash": return report([KillRun.run(options)] + PowerRun.runAll(options))
    case "property": return report([PropertyRun.run(options)])
    case "all":
      options.runs = options.runs ?? 2_000
      return report(
        [KillRun.run(options)] + PowerRun.runAll(options) + [PropertyRun.run(options)])
    default:
      print(
        "usage: crashlab crash|kill|power|property|all [--runs N] [--seed N] [--events N] [--keep]")
      return 2
    }
  }

  private static func report(_ findings: [Findings]) -> Int32 {
    for finding in findings {
      print("\(finding.title): \(finding.cases) cases, \(finding.violations.count) violations")
      for violation in finding.violations.prefix(20) { print("  " + violation) }
    }
    return findings.allSatisfy(\.violations.isEmpty) ? 0 : 1
  }
}

/// What one sort of trial found.
struct Findings {
  var title: String
  var cases = 0
  var violations: [String] = []
}

/// The command line.
struct Options {
  var command = ""
  var runs: Int?
  var seed: UInt64 = 1
  var events = 200
  var directory = ""
  var killAt = 0
  var keeps = false

  init(_ arguments: [String]) {
    var rest = arguments[...]
    command = rest.popFirst() ?? ""
    while let name = rest.popFirst() {
      switch name {
      case "--runs": runs = rest.popFirst().flatMap { Int($0) }
      case "--seed": seed = rest.popFirst().flatMap { UInt64($0) } ?? seed
      case "--events": events = rest.popFirst().flatMap { Int($0) } ?? events
      case "--directory": directory = rest.popFirst() ?? ""
      case "--kill-at": killAt = rest.popFirst().flatMap { Int($0) } ?? 0
      case "--keep": keeps = true
      default: command = ""
      }
    }
  }
}

/// Folders for trials: in memory where the system has such a place, for the shim decides what a
/// sync means here.
enum Workplace {
  static let root: String = {
    let memory = "/dev/shm"
    let base =
      FileManager.default.fileExists(atPath: memory) ? memory : NSTemporaryDirectory()
    return base + "/crashlab-\(getpid())"
  }()

  static func make(_ name: String) -> String {
    let path = root + "/" + name
    // try? because a folder that could not be made shows in the first file's error.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  static func remove(_ path: String) {
    guard path.hasPrefix(root) else { return }
    // try? because what is left behind harms nobody.
    try? FileManager.default.removeItem(atPath: path)
  }
}
