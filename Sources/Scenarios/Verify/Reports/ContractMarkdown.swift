#if os(macOS) || os(Linux)
  /// The report to paste into a ticket: failures with their evidence first.
  package enum ContractMarkdown {
    package static func text(_ report: ContractReport) -> String {
      var text = "## Contract of `\(code(report.target))`\n\n\(sums(report))\n"
      let failed = report.results.filter { $0.verdict == .fail }
      for result in failed { text += section(result) }
      text += table("Not seen or skipped", report) {
        $0.verdict == .skipped || $0.verdict == .notObservable
      }
      text += table("Passed", report) { $0.verdict == .pass }
      return text
    }

    private static func sums(_ report: ContractReport) -> String {
      let parts = ContractVerdict.allCases.map { "\(report.count($0)) \($0.rawValue)" }
      let early = report.endedEarly.map { " Ended early: \(inline($0))." } ?? ""
      return "\(report.results.count) checks: \(parts.joined(separator: ", "))."
        + " Run `\(report.run)`, observer \(inline(report.observer)).\(early)\n"
    }

    private static func section(_ result: ContractResult) -> String {
      var text = "\n### ❌ \(result.id)\n\n\(inline(result.sentence))\n\n"
      text += "- Rule: \(inline(result.rule))\n- Why it matters: \(inline(result.why))\n"
      guard !result.exchanges.isEmpty else { return text }
      var lines: [String] = []
      for exchange in result.exchanges.suffix(3) {
        lines.append("# \(exchange.request)")
        lines.append(exchange.curl)
        lines.append("# → \(exchange.outcome)")
        lines += exchange.headers.map { "#   \($0)" }
        if !exchange.excerpt.isEmpty {
          lines += exchange.excerpt.split(separator: "\n").map { "#   \($0)" }
        }
      }
      let body = lines.joined(separator: "\n")
      let fence = body.contains("```") ? "~~~~" : "```"
      return text + "\n\(fence)sh\n\(body)\n\(fence)\n"
    }

    private static func table(
      _ title: String, _ report: ContractReport, where wanted: (ContractResult) -> Bool
    ) -> String {
      let rows = report.results.filter(wanted)
      guard !rows.isEmpty else { return "" }
      var text = "\n<details><summary>\(title): \(rows.count)</summary>\n\n"
      text += "| check | verdict | |\n|---|---|---|\n"
      for row in rows {
        text += "| \(row.id) | \(row.verdict.rawValue) | \(inline(row.sentence)) |\n"
      }
      return text + "\n</details>\n"
    }

    private static func code(_ text: String) -> String { text.substituting("`", with: "'") }

    /// What a server said must not become markup.
    private static func inline(_ text: String) -> String {
      var result = ""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\\", "*", "_", "[", "]", "<", "|", "#": result += "\\\(scalar)"
        case _ where scalar.value < 0x20 || scalar.value == 0x7f: result += " "
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result
    }
  }
#endif
