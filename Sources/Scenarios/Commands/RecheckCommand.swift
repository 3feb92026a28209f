import Foundation

/// `workbench recheck FILE…`: judges stored histories again, without running anything.
package enum RecheckCommand {
  static let usage = """
    usage: workbench recheck HISTORY.jsonl… [--junit FILE] [--html FILE] [--json FILE]
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
    let histories = try paths.map { path -> History in
      do {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return try HistoryReader.read([UInt8](bytes))
      } catch let error as HistoryError {
        throw UsageError("\(path): \(error)")
      } catch { throw UsageError("\(path): cannot be read (\(error.localizedDescription))") }
    }
    let cases = histories.map { CaseReport(history: $0, results: Checkers.judge($0)) }
    return RunReport(cases: cases, comparisons: Comparison.all(histories))
  }
}
