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
    case "work": return work(options)
    case "kill", "power", "property": return report([options.command], options)
    case "crash": return report(["kill", "power"], options)
    case "all":
      options.runs = options.runs ?? 2_000
      return report(["kill", "power", "property"], options)
    default:
      print(
        """
        usage: crashlab crash|kill|power|property|all [--runs N] [--seed N] [--events N]
          [--images N] [--jobs N] [--keep]
        """)
      return 2
    }
  }

  /// One process's share.
  private static func work(_ options: Options) -> Int32 {
    // Each share runs on one thread.
    shim_single_thread()
    switch options.kind {
    case "kill": Workers.tell(KillRun.run(options))
    case "power": for findings in PowerRun.runAll(options) { Workers.tell(findings) }
    case "property": Workers.tell(PropertyRun.run(options))
    default: return 2
    }
    Workplace.remove(Workplace.root)
    return 0
  }

  private static func report(_ kinds: [String], _ options: Options) -> Int32 {
    var isClean = true
    for kind in kinds {
      let started = DispatchTime.now().uptimeNanoseconds
      let processor = processorSeconds()
      var cases = 0
      for finding in Workers.run(kind, options) {
        let counts = finding.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let facts = ["\(finding.cases) cases"] + counts
        print(
          "\(finding.title): \(facts.joined(separator: ", ")); "
            + "\(finding.violations.count) violations")
        for violation in finding.violations.prefix(20) { print("  " + violation) }
        isClean = isClean && finding.violations.isEmpty
        cases += finding.cases
      }
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - started) / 1e9
      let used = processorSeconds() - processor
      print(
        "\(kind): \(Int(seconds.rounded())) s, \(Int(used.rounded())) s of processor time, "
          + "\(Int(Double(cases) / max(used, 0.001))) cases a second and core, seed \(options.seed)"
      )
    }
    return isClean ? 0 : 1
  }

  /// What this process's children, and theirs, have used so far.
  private static func processorSeconds() -> Double {
    var usage = rusage()
    // RUSAGE_CHILDREN, which the platforms import as different types.
    getrusage(-1, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
  }
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
  /// Crash images per mode at most, taken evenly; 0 for all.
  var images = 0
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// A worker's share: every `parts`-th trial from `part` on.
  var kind = ""
  var part = 0
  var parts = 1

  func isMine(_ trial: Int) -> Bool { trial % max(1, parts) == part }

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
      case "--images": images = rest.popFirst().flatMap { Int($0) } ?? 0
      case "--jobs": jobs = rest.popFirst().flatMap { Int($0) } ?? jobs
      case "--kind": kind = rest.popFirst() ?? ""
      case "--part": part = rest.popFirst().flatMap { Int($0) } ?? 0
      case "--parts": parts = rest.popFirst().flatMap { Int($0) } ?? 1
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
