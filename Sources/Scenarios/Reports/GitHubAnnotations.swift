import Foundation

/// Workflow commands that GitHub shows beside the script's line. For a run with `GITHUB_ACTIONS`
/// set.
package enum GitHubAnnotations {
  /// GitHub shows ten of a kind per step; a few more are kept in the log.
  package static let limit = 50

  package static func lines(_ report: RunReport) -> [String] {
    var lines: [String] = []
    for item in report.complaints {
      let title = "\(item.scenario) (\(item.lane))"
      let file = item.history.header.file
      if let trouble = item.trouble {
        lines.append(command("error", file, nil, title, trouble))
      }
      for result in item.complaints {
        let level = result.verdict.outcome == .fail ? "error" : "warning"
        let stories = result.verdict.subjects.map { "\($0.name): \($0.line)" }
        let message =
          ([result.verdict.explanation] + stories
          + FailureText.tail(item, indent: "")).joined(separator: "\n")
        lines.append(
          command(level, file, result.expectation, "\(title): \(result.checker)", message))
      }
    }
    for (scenario, difference) in report.findings {
      lines.append(
        command("error", "", nil, "\(scenario): lanes differ", FailureText.text(difference)))
    }
    return Array(lines.prefix(limit))
  }

  /// A script's mistake.
  package static func line(_ error: ScriptError) -> String {
    let place = ExpectedLine(
      key: "", value: "", line: error.position.line, column: error.position.column)
    let message = error.message + (error.hint.map { ", \($0)" } ?? "")
    return command("error", error.file, place, "script", message)
  }

  /// Prints them where GitHub runs this.
  static func print(_ lines: [String]) {
    guard ProcessInfo.processInfo.environment["GITHUB_ACTIONS"]?.isEmpty == false else { return }
    for line in lines.prefix(limit) { Console.out(line) }
  }

  private static func command(
    _ level: String, _ file: String, _ line: ExpectedLine?, _ title: String, _ message: String
  ) -> String {
    var properties: [String] = []
    if !file.isEmpty { properties.append("file=\(property(file))") }
    if let line, line.line > 0 {
      properties += ["line=\(line.line)", "col=\(line.column)"]
    }
    properties.append("title=\(property(title))")
    return "::\(level) \(properties.joined(separator: ","))::\(data(message))"
  }

  private static func data(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "%": escaped += "%25"
      case "\r\n": escaped += "%0D%0A"
      case "\r": escaped += "%0D"
      case "\n": escaped += "%0A"
      default: escaped += ReportText.printable(String(character))
      }
    }
  }

  private static func property(_ text: String) -> String {
    data(text).reduce(into: "") { escaped, character in
      switch character {
      case ":": escaped += "%3A"
      case ",": escaped += "%2C"
      default: escaped.append(character)
      }
    }
  }
}
