/// Text that is shown in a terminal.
enum ReportText {
  /// Control characters would move the cursor or change the terminal's state.
  static func printable(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
      shown.append(isControl ? " " : scalar)
    }
    return String(shown)
  }

  /// The line of a script with a caret under the column; empty without a line.
  static func excerpt(_ line: ExpectedLine, indent: String) -> [String] {
    guard !line.source.isEmpty else { return [] }
    let scalars = Array(line.source.unicodeScalars)
    let caret = min(max(line.column - 1, 0), scalars.count)
    // Long lines are cut around the caret.
    let start = max(0, min(caret - maxShown / 2, scalars.count - maxShown))
    let end = min(scalars.count, start + maxShown)
    var window = String.UnicodeScalarView()
    window.append(contentsOf: scalars[start..<end])
    let spaces = String(repeating: " ", count: caret - start)
    return [indent + printable(String(window)), indent + spaces + "^"]
  }

  private static let maxShown = 100

  /// `1.2 s`, `340 ms`.
  static func milliseconds(_ number: Int64) -> String {
    if number < 1000 { return "\(number) ms" }
    return "\(number / 1000).\(number % 1000 / 100) s"
  }

  static func plural(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}

/// Columns that line up, whatever stands in them.
struct TextTable {
  enum Side { case left, right }
  private let sides: [Side]
  private var rows: [[String]] = []

  init(_ columns: [(title: String, side: Side)]) {
    sides = columns.map(\.side)
    rows = [columns.map(\.title)]
  }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// Lines without trailing spaces. The width of a cell is counted in characters.
  var lines: [String] {
    let widths = sides.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += sides[column] == .left ? cell + space : space + cell
        if column < row.count - 1 { line += "  " }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
