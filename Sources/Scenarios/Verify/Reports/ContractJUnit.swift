#if os(macOS) || os(Linux)
  /// The report for CI servers: one test case per check.
  package enum ContractJUnit {
    package static func text(_ report: ContractReport) -> String {
      let skipped = report.count(.skipped) + report.count(.notObservable)
      var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      text += "<testsuites>\n<testsuite name=\"contract of \(escaped(report.target))\""
      text += " tests=\"\(report.results.count)\" failures=\"\(report.count(.fail))\""
      text += " errors=\"0\" skipped=\"\(skipped)\">\n"
      for result in report.results {
        text += "<testcase classname=\"contract.\(escaped(subject(result.id)))\""
        text += " name=\"\(escaped(result.id))\">"
        switch result.verdict {
        case .pass: break
        case .fail:
          text += "<failure message=\"\(escaped(result.sentence))\">\(escaped(evidence(result)))"
          text += "</failure>"
        case .skipped, .notObservable:
          let message = "\(result.verdict.rawValue): \(result.sentence)"
          text += "<skipped message=\"\(escaped(message))\"/>"
        }
        text += "</testcase>\n"
      }
      return text + "</testsuite>\n</testsuites>\n"
    }

    private static func subject(_ id: String) -> String { String(id.prefix { $0 != "." }) }

    private static func evidence(_ result: ContractResult) -> String {
      var lines = ["rule: \(result.rule)", "why: \(result.why)"]
      for exchange in result.exchanges {
        lines.append("\(exchange.request): \(exchange.outcome)")
        if !exchange.excerpt.isEmpty { lines.append(exchange.excerpt) }
        lines.append(exchange.curl)
      }
      return lines.joined(separator: "\n")
    }

    /// XML 1.0 has no way to write most control characters: they become the replacement character.
    static func escaped(_ text: String) -> String {
      var result = ""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\n": result += "&#10;"
        case "\t": result += "&#9;"
        case _
        where scalar.value < 0x20 || scalar.value == 0x7f || (scalar.value & 0xfffe) == 0xfffe:
          result += "\u{FFFD}"
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result
    }
  }
#endif
