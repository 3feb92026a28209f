/// The table scenario × lane × verdict, and what failed in detail.
enum ResultTable {
  static func text(_ results: [CaseResult]) -> String {
    var rows = [["scenario", "lane", "verdict", "recorded", "delivered", "duplicates", "requests"]]
    for result in results {
      let counts = result.history.map(Counts.init) ?? Counts()
      rows.append(
        [result.title, result.lane.rawValue, result.verdict]
          + (result.history == nil ? ["", "", "", ""] : counts.cells))
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    var text = ""
    for row in rows {
      let cells = row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return column < 3 ? cell + padding : padding + cell
      }
      text += cells.joined(separator: "  ").trimmingTrailingBlanks + "\n"
    }
    for result in results where result.exitCode != .pass { text += details(result) }
    for result in results {
      if let why = result.skipped {
        text += "skipped \(result.title) · \(result.lane.rawValue): \(why)\n"
      }
    }
    return text + summary(results) + "\n"
  }

  private static func details(_ result: CaseResult) -> String {
    var text = "\n\(result.verdict) \(result.title) · \(result.lane.rawValue) (\(result.file))\n"
    if let failure = result.failure { text += "  runner: \(failure)\n" }
    for check in result.checks where check.verdict.outcome != .pass {
      text +=
        "  \(check.checker): \(check.verdict.outcome.rawValue): \(check.verdict.explanation)\n"
    }
    if let replay = result.history?.header.replay { text += "  replay: \(replay)\n" }
    if let kept = result.kept { text += "  kept: \(kept)\n" }
    return text
  }

  private static func summary(_ results: [CaseResult]) -> String {
    var counts: [String: Int] = [:]
    for result in results { counts[result.verdict, default: 0] += 1 }
    let parts = ["pass", "FAIL", "unknown", "ERROR", "skipped"].compactMap { name in
      counts[name].map { "\($0) \(name)" }
    }
    return "\(results.count) cases: \(parts.joined(separator: ", "))"
  }

  /// Figures of one history.
  struct Counts {
    var recorded = 0
    var delivered = 0
    var duplicates = 0
    var requests = 0
    var cells: [String] { [recorded, delivered, duplicates, requests].map(String.init) }

    init() {}

    init(_ history: History) {
      for entry in history.entries {
        switch entry.event {
        case .receipt: recorded += 1
        case .committed(_, let commit):
          delivered += commit.stored.count
          duplicates += commit.duplicates.count
        case .arrived: requests += 1
        default: continue
        }
      }
    }
  }
}

extension String {
  fileprivate var trimmingTrailingBlanks: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
