import Dispatch
import Foundation

/// `workbench run PATH…`: replays scenarios and says what held.
package enum RunCommand {
  static let usage = """
    usage: workbench run PATH… [--lane L]… [--seed N] [--filter TEXT] [--shard I/N] [--jobs N]
                               [--timeout SECONDS] [--out DIR] [--junit FILE] [--html FILE]
                               [--json FILE]
    """

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    do {
      return try run(RunRequest(arguments)).rawValue
    } catch let error as UsageError {
      Console.error("workbench run: \(error)")
      return ExitCode.invalid.rawValue
    } catch {
      Console.error("workbench run: \(error)")
      return ExitCode.runnerFailed.rawValue
    }
  }

  private static func run(_ request: RunRequest) throws -> ExitCode {
    let loaded = try ScriptLoader.load(request.paths)
    guard loaded.mistakes.isEmpty else {
      for mistake in loaded.mistakes { Console.error(mistake, terminator: "") }
      return .invalid
    }
    let cases = CaseList.cases(
      loaded.scenarios, lanes: request.lanes, seed: request.seed, filter: request.filter,
      shard: request.shard)
    guard !cases.isEmpty else {
      throw UsageError("no case is left to run (lanes, filter and shard leave none)")
    }
    var options = SuiteRunner.Options(executable: try OwnExecutable.path())
    options.jobs = request.jobs
    options.timeoutSeconds = request.timeoutSeconds
    options.outFolder = request.out
    let progress = Progress()
    let started = DispatchTime.now().uptimeNanoseconds
    let suite = SuiteRunner(cases, options: options) { result, done, total in
      progress.show(result, done: done, total: total)
    }
    let results = try suite.run()
    progress.end()
    let tookMs = Int64((DispatchTime.now().uptimeNanoseconds - started) / 1_000_000)
    let report = RunReport(results, tookMs: tookMs)
    Console.out(TerminalReport(usesColour: Console.usesColour).summary(report), terminator: "")
    try request.writeReports(report)
    return ExitCode(rawValue: report.exitCode) ?? .runnerFailed
  }
}

/// The parsed command line of `run`.
struct RunRequest {
  var paths: [String]
  var lanes: [LaneName]?
  var seed: UInt64?
  var filter: String?
  var shard = Shard.all
  var jobs = 2
  var timeoutSeconds = 60.0
  var out: String?
  var junit: String?
  var html: String?
  var json: String?

  private static let maxJobs: Int64 = 64
  private static let maxTimeoutSeconds: Int64 = 86_400

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words,
      valued: [
        "--lane", "--seed", "--filter", "--shard", "--jobs", "--timeout", "--out", "--junit",
        "--html", "--json",
      ], flags: [])
    paths = arguments.paths
    guard !paths.isEmpty else { throw UsageError("no script is named\n\(RunCommand.usage)") }
    if let names = arguments.values["--lane"] {
      lanes = try names.flatMap { $0.split(separator: ",") }.map { name in
        guard let lane = LaneName(rawValue: String(name)) else {
          throw UsageError(
            "--lane is \"\(name)\", expected one of"
              + " \(LaneName.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return lane
      }
    }
    seed = try arguments.integer("--seed", in: 0...Int64.max).map(UInt64.init)
    filter = arguments.value("--filter")
    if let text = arguments.value("--shard") {
      guard let shard = Shard(text) else {
        throw UsageError("--shard is \"\(text)\", expected I/N with 1 ≤ I ≤ N, e.g. 2/3")
      }
      self.shard = shard
    }
    if let jobs = try arguments.integer("--jobs", in: 1...RunRequest.maxJobs) {
      self.jobs = Int(jobs)
    }
    if let seconds = try arguments.integer("--timeout", in: 1...RunRequest.maxTimeoutSeconds) {
      timeoutSeconds = Double(seconds)
    }
    out = arguments.value("--out")
    junit = arguments.value("--junit")
    html = arguments.value("--html")
    json = arguments.value("--json")
  }

  func writeReports(_ report: RunReport) throws {
    try ReportFile.write(report, junit: junit, html: html, json: json)
    if ProcessInfo.processInfo.environment["GITHUB_ACTIONS"]?.isEmpty == false {
      for line in GitHubAnnotations.lines(report) { Console.out(line) }
    }
  }
}

/// A report on its way to a file.
enum ReportFile {
  static func write(_ report: RunReport, junit: String?, html: String?, json: String?) throws {
    if let junit { try write(JUnitReport.text(report), to: junit) }
    if let html { try write(HTMLReport.text(report), to: html) }
    if let json { try write(String(decoding: JSONReport.bytes(report), as: UTF8.self), to: json) }
  }

  static func write(_ text: String, to path: String) throws {
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch { throw RunnerFailure("\(path): cannot be written (\(error.localizedDescription))") }
  }
}

/// Where this very program lies, to be started again as a device.
enum OwnExecutable {
  static func path() throws -> String {
    #if os(Linux)
      // The kernel knows, whatever the shell said; without /proc the arguments have to do.
      let known = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let known = Bundle.main.executablePath
    #endif
    let path = known ?? CommandLine.arguments.first ?? ""
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw RunnerFailure("\(path): the workbench's own program is not there, no device can start")
    }
    return path
  }
}
