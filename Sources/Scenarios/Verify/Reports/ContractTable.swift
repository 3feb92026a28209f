#if os(macOS) || os(Linux)
  /// The report as a terminal shows it.
  package enum ContractTable {
    private static let idWidth = 26

    package static func line(_ result: ContractResult) -> String {
      let mark: String
      switch result.verdict {
      case .pass: mark = "pass   "
      case .fail: mark = "FAIL   "
      case .skipped: mark = "skipped"
      case .notObservable: mark = "unseen "
      }
      let gap = String(repeating: " ", count: max(1, idWidth - result.id.count))
      return "\(mark)  \(result.id)\(gap)\(oneLine(result.sentence))"
    }

    /// What follows the list: failures with their evidence, then the sums.
    package static func ending(_ report: ContractReport) -> String {
      var text = ""
      for result in report.results where result.verdict == .fail {
        text += "\n\(result.id): \(result.sentence)\n"
        text += "  rule  \(result.rule)\n  why   \(result.why)\n"
        if let exchange = result.exchanges.last {
          text += "  saw   \(exchange.outcome)\(excerpt(exchange))\n"
        }
        for exchange in result.exchanges.prefix(2) { text += "  try   \(exchange.curl)\n" }
      }
      if let early = report.endedEarly { text += "\nended early: \(early)\n" }
      return text + "\n\(summary(report))\n"
    }

    package static func summary(_ report: ContractReport) -> String {
      let parts = ContractVerdict.allCases.map { "\(report.count($0)) \($0.rawValue)" }
      return "\(report.results.count) checks of \(report.target): "
        + parts.joined(separator: ", ") + " (run \(report.run), observer \(report.observer))"
    }

    private static func excerpt(_ exchange: CheckExchange) -> String {
      exchange.excerpt.isEmpty ? "" : ": \(oneLine(String(exchange.excerpt.prefix(160))))"
    }

    /// Control characters of a server must not steer the terminal.
    private static func oneLine(_ text: String) -> String {
      String(
        String.UnicodeScalarView(
          text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }))
    }

    package static func plan(_ report: ContractReport) -> String {
      var text = ""
      for entry in report.planned {
        let times = entry.copies > 1 ? " × \(entry.copies)" : ""
        let bytes = entry.bytes > 0 ? ", \(entry.bytes) bytes" : ""
        let about = entry.about.isEmpty ? "" : "  \(entry.about)"
        let gap = String(repeating: " ", count: max(1, idWidth - entry.check.count))
        text += "\(entry.check)\(gap)\(entry.method) \(entry.url)\(times)\(about)\(bytes)\n"
      }
      let sum = report.planned.reduce(0) { $0 + $1.copies }
      let skipped = report.results.filter { $0.verdict == .skipped || $0.verdict == .notObservable }
      for result in skipped where result.exchanges.isEmpty {
        text += "\(line(result))\n"
      }
      return text + "\ndry run: nothing was sent; a run makes about \(sum) requests\n"
    }
  }
#endif
