/// Marks of one row, set in columns: what happened at nearly one moment stands above each other,
/// so that no mark hides another one of another kind.
struct MarkColumns {
  struct Item {
    var x: Double
    /// Items of one key in one column are one mark.
    var key: String
    /// The higher, the further up.
    var rank: Int
    var text: String
    /// A word beside the mark; empty for none.
    var label = ""
  }
  struct Mark {
    var key: String
    var rank: Int
    var texts: [String]
    var labels: [String]
  }
  struct Column {
    var x: Double
    /// From the lowest to the highest.
    var marks: [Mark]
  }

  /// A mark's room to each side and above.
  static let pitch = 13.0
  private static let maxTexts = 8

  private(set) var columns: [Column] = []

  init(_ items: [Item]) {
    let sorted = items.enumerated().sorted { ($0.element.x, $0.offset) < ($1.element.x, $1.offset) }
    for (_, item) in sorted {
      if let last = columns.last, item.x - last.x < Self.pitch {
        columns[columns.count - 1].add(item)
      } else {
        columns.append(Column(x: item.x, marks: []))
        columns[columns.count - 1].add(item)
      }
    }
    for index in columns.indices {
      columns[index].marks.sort { ($0.rank, $0.key) < ($1.rank, $1.key) }
    }
  }

  /// Marks in the highest column; 1 where there is none, for the row's label.
  var levels: Int { max(1, columns.map(\.marks.count).max() ?? 1) }

  var height: Double { Double(levels) * Self.pitch }

  /// A mark's tooltip, escaped.
  static func title(_ mark: Mark) -> String {
    let shown = mark.texts.prefix(maxTexts).map(XMLText.content).joined(separator: "&#10;")
    let more = mark.texts.count - maxTexts
    return more > 0 ? "\(shown)&#10;and \(more) more" : shown
  }
}

extension MarkColumns.Column {
  fileprivate mutating func add(_ item: MarkColumns.Item) {
    let index = marks.firstIndex { $0.key == item.key } ?? marks.count
    if index == marks.count {
      marks.append(MarkColumns.Mark(key: item.key, rank: item.rank, texts: [], labels: []))
    }
    marks[index].texts.append(item.text)
    if !item.label.isEmpty, !marks[index].labels.contains(item.label) {
      marks[index].labels.append(item.label)
    }
  }
}

/// Words below a row of marks: each where there is room for it, in a few lines.
struct MarkLabels {
  private var taken: [[ClosedRange<Double>]] = []
  private let right: Double
  private static let maxLines = 3
  private static let maxCharacters = 40
  static let lineHeight = 13.0

  init(right: Double) { self.right = right }

  var lines: Int { taken.count }

  /// About as wide as the text is drawn.
  static func width(_ text: String) -> Double { Double(text.count) * 6.4 }

  static func cut(_ text: String) -> String {
    text.count > maxCharacters ? text.prefix(maxCharacters - 1) + "…" : text
  }

  /// The line and the left end; nil where there is no room.
  mutating func place(_ text: String, x: Double) -> (line: Int, x: Double)? {
    let width = Self.width(text)
    let from = max(0, min(x - 5, right - width))
    let range = from...(from + width + 8)
    for line in 0..<Self.maxLines {
      if line == taken.count { taken.append([]) }
      if taken[line].allSatisfy({ !$0.overlaps(range) }) {
        taken[line].append(range)
        return (line, from)
      }
    }
    return nil
  }
}
