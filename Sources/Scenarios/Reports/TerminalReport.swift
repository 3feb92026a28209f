/// What a terminal shows: progress while the cases run, failures and a table at the end.
package struct TerminalReport: Sendable {
  /// ANSI colours. Never decided by what is printed, always by where it goes.
  package var usesColour: Bool

  package init(usesColour: Bool) { self.usesColour = usesColour }

  private enum Colour: String { case red = "31", green = "32", yellow = "33", grey = "90" }

  private func paint(_ text: String, _ colour: Colour, bold: Bool = false) -> String {
    guard usesColour else { return text }
    return "\u{1b}[\(bold ? "1;" : "")\(colour.rawValue)m\(text)\u{1b}[0m"
  }

  private func colour(_ status: CaseReport.Status) -> Colour {
    switch status {
    case .pass: return .green
    case .fail, .runnerFailed, .unavailable: return .red
    case .unknown: return .yellow
    case .skipped: return .grey
    }
  }

  package static func word(_ status: CaseReport.Status) -> String {
    switch status {
    case .pass: return "pass"
    case .fail: return "FAIL"
    case .unknown: return "UNKNOWN"
    case .skipped: return "skipped"
    case .runnerFailed: return "RUNNER FAILED"
    case .unavailable: return "UNAVAILABLE"
    }
  }

  /// One line for a case that has just ended: for a log that grows.
  package func progressLine(_ report: CaseReport, done: Int, of total: Int) -> String {
    let status = paint(TerminalReport.word(report.status), colour(report.status))
    let name = ReportText.printable("\(report.scenario) (\(report.lane))")
    return "[\(done)/\(total)] \(status) \(name) \(ReportText.milliseconds(report.tookMs))"
  }

  /// The line that a terminal rewrites in place, at most `width` columns; it starts with a carriage
  /// return and clears the rest.
  package func statusLine(
    running: String, done: Int, of total: Int, failed: Int, width: Int = 80
  ) -> String {
    let filled = total > 0 ? done * 20 / total : 0
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
    let trouble = failed > 0 ? " \(failed) failed" : ""
    let text = "\(bar) \(done)/\(total)\(trouble) \(ReportText.printable(running))"
    return "\r\(text.prefix(max(1, width - 1)))\u{1b}[K"
  }

  /// Everything at the end: failures first, then the table, then one line to remember.
  package func summary(_ report: RunReport) -> String {
    var lines: [String] = []
    for complaint in report.complaints { lines += complaintLines(complaint) + [""] }
    lines += differenceLines(report)
    lines += table(report)
    lines += ["", closingLine(report)]
    return lines.joined(separator: "\n") + "\n"
  }

  private func complaintLines(_ report: CaseReport) -> [String] {
    let names = report.complaints.map(\.checker).joined(separator: ", ")
    let title = ReportText.printable("\(report.scenario) (\(report.lane))")
    let status = paint(TerminalReport.word(report.status), colour(report.status), bold: true)
    var lines = ["\(status) \(title)\(names.isEmpty ? "" : ": \(names)")"]
    if let trouble = report.trouble { lines.append("  \(ReportText.printable(trouble))") }
    if report.results.isEmpty, report.trouble == nil { lines.append("  nothing was expected") }
    for result in report.complaints { lines += FailureText.lines(result, report, indent: "  ") }
    lines += FailureText.tail(report, indent: "  ")
    return lines
  }

  private func differenceLines(_ report: RunReport) -> [String] {
    var lines: [String] = []
    for (scenario, difference) in report.findings {
      let status = paint("LANES DIFFER", .red, bold: true)
      lines.append("\(status) \(ReportText.printable(scenario)): \(FailureText.text(difference))")
    }
    for comparison in report.comparisons {
      for difference in comparison.differences where difference.explanation != nil {
        let status = paint("lanes differ, explained", .grey)
        let name = ReportText.printable(comparison.scenario)
        lines.append("\(status) \(name): \(FailureText.text(difference))")
      }
    }
    return lines.isEmpty ? [] : lines + [""]
  }

  private func table(_ report: RunReport) -> [String] {
    var table = TextTable([
      ("scenario", .left), ("lane", .left), ("verdict", .left), ("recorded", .right),
      ("delivered", .right), ("duplicates", .right), ("requests", .right), ("took", .right),
    ])
    for item in report.cases {
      let isSkipped = item.status == .skipped
      let figures = item.figures
      let numbers = [figures.recorded, figures.delivered, figures.duplicates, figures.requests]
      table.add(
        [
          ReportText.printable(item.scenario), item.lane,
          isSkipped
            ? ReportText.printable("skipped: \(item.skipped ?? "")")
            : TerminalReport.word(item.status),
        ] + numbers.map { isSkipped ? "" : String($0) }
          + [isSkipped ? "" : ReportText.milliseconds(item.tookMs)])
    }
    let lines = table.lines
    return [paint(lines[0], .grey)]
      + zip(lines.dropFirst(), report.cases).map { line, item in
        item.status == .pass ? line : paint(line, colour(item.status))
      }
  }

  private func closingLine(_ report: RunReport) -> String {
    var parts = CaseReport.Status.allCases.compactMap { status -> String? in
      let count = report.count(status)
      return count > 0 ? "\(count) \(TerminalReport.word(status).lowercased())" : nil
    }
    if !report.findings.isEmpty {
      parts.append(ReportText.plural(report.findings.count, "difference") + " between lanes")
    }
    let text = "\(ReportText.plural(report.cases.count, "case")): \(parts.joined(separator: ", "))"
    let took = report.tookMs > 0 ? " in \(ReportText.milliseconds(report.tookMs))" : ""
    return paint(text + took, report.exitCode == 0 ? .green : .red)
  }
}

/// A failure in words, for every report that has words.
package enum FailureText {
  /// Lines about one complaint: the expectation with a caret, what was found, the life stories.
  package static func lines(
    _ result: CheckResult, _ report: CaseReport, indent: String
  ) -> [String] {
    var lines: [String] = []
    if let expectation = result.expectation {
      let file = report.history.header.file
      if expectation.line > 0, !file.isEmpty {
        lines.append("\(indent)\(file):\(expectation.line):\(expectation.column)")
      } else {
        lines.append("\(indent)expected \(expectation.key): \(expectation.value)")
      }
      lines += ReportText.excerpt(expectation, indent: indent + "  ")
    }
    let word = result.verdict.outcome == .unknown ? "unknown: " : ""
    lines.append("\(indent)\(result.checker): \(word)\(result.verdict.explanation)")
    for story in result.verdict.subjects {
      lines.append("\(indent)  \(story.name): \(story.line)")
    }
    return lines.map(ReportText.printable)
  }

  /// How to see it again, and where it was kept.
  package static func tail(_ report: CaseReport, indent: String) -> [String] {
    var lines: [String] = []
    if !report.history.header.replay.isEmpty {
      lines.append("\(indent)replay: \(report.history.header.replay)")
    }
    if let artifacts = report.artifacts { lines.append("\(indent)kept: \(artifacts)") }
    return lines.map(ReportText.printable)
  }

  package static func text(_ difference: Comparison.Difference) -> String {
    let more = difference.count > 1 ? " (and \(difference.count - 1) more like it)" : ""
    let why = difference.explanation.map { ": \($0)" } ?? ""
    return ReportText.printable(difference.text + more + why)
  }
}
