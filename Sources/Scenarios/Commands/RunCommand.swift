import Dispatch
import Foundation

/// `workbench run PATH…`: replays scenarios and says what held.
package enum RunCommand {
  static let usage = """
    usage: workbench run PATH… [--lane L]… [--seed N] [--filter TEXT] [--shard I/N] [--jobs N]
                               [--timeout SECONDS] [--out DIR] [--junit FILE] [--html FILE]
                               [--json FILE] [--jsonl DIR] [--watch]
                               [--remote URL [--token-env NAME] [--max-real TIME]
                                [--admin URL] [--admin-token-env NAME]]
    """

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    return attempt("run") {
      let request = try RunRequest(arguments)
      let outputs = try OutputCheck.prepare(request)
      let site = try request.site(ProcessInfo.processInfo.environment)
      guard request.watches else { return try run(request, site, outputs) }
      return try WatchRun(request, site, outputs).run()
    }
  }

  /// What went wrong in one line, and the exit code that goes with it.
  static func attempt(_ command: String, _ body: () throws -> ExitCode) -> Int32 {
    do { return try body().rawValue } catch let error as UsageError {
      Console.error("workbench \(command): \(error)")
      return ExitCode.invalid.rawValue
    } catch let gone as TargetUnavailable {
      Console.error("workbench \(command): the target is not there: \(gone.sentence)")
      return ExitCode.unavailable.rawValue
    } catch {
      Console.error("workbench \(command): \(error)")
      return ExitCode.runnerFailed.rawValue
    }
  }

  static func run(
    _ request: RunRequest, _ site: RemoteSite?, _ outputs: OutputCheck.Prepared
  ) throws -> ExitCode {
    let loaded = try ScriptLoader.load(request.paths)
    if loaded.complain() { return .invalid }
    let cases = CaseList.cases(loaded.scenarios, request.selection(site))
    guard !cases.isEmpty else {
      throw UsageError("no case is left to run (lanes, filter and shard leave none)")
    }
    let interrupt = Interrupt()
    interrupt.listen()
    return try run(cases, request, site, interrupt)
  }

  /// Runs cases and writes every report. The interrupt ends the suite between two cases; under
  /// `--watch` nothing is reported then.
  static func run(
    _ cases: [PlannedCase], _ request: RunRequest, _ site: RemoteSite?, _ interrupt: Interrupt
  ) throws -> ExitCode {
    var options = SuiteRunner.Options(executable: try OwnExecutable.path())
    // A target has one plan at a time.
    options.jobs = site == nil ? request.jobs : 1
    options.timeoutSeconds = request.timeoutSeconds
    options.outFolder = request.out
    options.historyFolder = request.jsonl
    options.remote = site
    options.remoteWords = request.remoteWords
    let progress = Progress()
    let started = DispatchTime.now().uptimeNanoseconds
    let suite = SuiteRunner(cases, options: options) { result, done, total in
      progress.show(result, done: done, total: total)
    }
    interrupt.onSignal { suite.stop() }
    let results = try suite.run()
    progress.end()
    if interrupt.isAsked && request.watches { return .interrupted }
    let tookMs = Int64((DispatchTime.now().uptimeNanoseconds - started) / 1_000_000)
    let report = RunReport(results, tookMs: tookMs)
    Console.out(TerminalReport(usesColour: Console.usesColour).summary(report), terminator: "")
    try request.writeReports(report)
    if interrupt.isAsked {
      Console.error("workbench: interrupted, \(results.count) of \(cases.count) cases have run")
      return .interrupted
    }
    return ExitCode(rawValue: report.exitCode) ?? .runnerFailed
  }
}
