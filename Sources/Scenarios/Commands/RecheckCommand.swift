import Foundation

/// `workbench recheck FILE…`: judges stored histories again, without running anything.
package enum RecheckCommand {
  static let usage = """
    usage: workbench recheck HISTORY.jsonl|FOLDER… [--junit FILE] [--html FILE] [--json FILE]
    """

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    do {
      let request = try Arguments(
        arguments, valued: ["--junit", "--html", "--json"], flags: [])
      guard !request.paths.isEmpty else { throw UsageError("no history is named\n\(usage)") }
      let report = try judge(request.paths)
      Console.out(TerminalReport(usesColour: Console.usesColour).summary(report), terminator: "")
      try ReportFile.write(
        report, junit: request.value("--junit"), html: request.value("--html"),
        json: request.value("--json"))
      GitHubAnnotations.print(GitHubAnnotations.lines(report))
      return report.exitCode
    } catch let error as UsageError {
      Console.error("workbench recheck: \(error)")
      return ExitCode.invalid.rawValue
    } catch {
      Console.error("workbench recheck: \(error)")
      return ExitCode.runnerFailed.rawValue
    }
  }

  /// A file that is no history is the caller's mistake: nothing is judged then.
  static func judge(_ paths: [String]) throws -> RunReport {
    let histories = try paths.flatMap(files).map { path -> History in
      do {
        return try HistoryReader.read(UserFile.readWhole(path, atMost: HistoryReader.maxBytes))
      } catch let error as HistoryError {
        throw UsageError("\(path): \(error)")
      } catch let trouble as UserFile.Trouble { throw UsageError("\(trouble)") }
    }
    let finished = histories.filter { $0.interruption == nil }
    return RunReport(cases: histories.map(report), comparisons: Comparison.all(finished))
  }

  private static func report(_ history: History) -> CaseReport {
    switch history.interruption {
    case nil: return CaseReport(history: history, results: Checkers.judge(history))
    case .failure(let why): return CaseReport(history: history, results: [], runnerFailure: why)
    case .unavailable(let why): return CaseReport(history: history, results: [], unavailable: why)
    }
  }

  /// The path itself; of a folder the histories in it, as `run --jsonl` leaves them.
  private static func files(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else { return [path] }
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasSuffix(".jsonl") && $0 != KeptCase.journalName }.sorted()
    guard !names.isEmpty else { throw UsageError("\(path): no histories (.jsonl) in it") }
    return names.map { (path.hasSuffix("/") ? path : path + "/") + $0 }
  }
}
