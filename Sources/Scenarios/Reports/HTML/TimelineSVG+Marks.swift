extension TimelineSVG {
  /// What happened, and below it in words as far as there is room.
  mutating func drawMarks() {
    let kinds = Timeline.Mark.Kind.allCases
    let columns = MarkColumns(
      timeline.marks.map { mark in
        MarkColumns.Item(
          x: axis.x(mark.atNs), key: mark.kind.rawValue,
          rank: kinds.firstIndex(of: mark.kind) ?? 0,
          text: "\(ScenarioTime.text(mark.atNs)) \(mark.text)", label: mark.label)
      })
    label("events", top + 11)
    let ground = top + columns.height - MarkColumns.pitch / 2
    for column in columns.columns {
      for (level, mark) in column.marks.enumerated() {
        let y = ground - Double(level) * MarkColumns.pitch
        if mark.key == "kill" || mark.key == "failed" { cuts.append((mark.key, column.x)) }
        svg += "<g class=\"mark \(mark.key)\""
        svg += " transform=\"translate(\(Self.number(column.x)) \(Self.number(y)))\">"
        svg += "<title>\(MarkColumns.title(mark))</title>\(Self.shape(mark.key))</g>"
      }
    }
    top += columns.height
    drawLabels(columns)
    top += 6
  }

  static func shape(_ kind: String) -> String {
    switch Timeline.Mark.Kind(rawValue: kind) {
    case .kill: return "<path d=\"M-5 -5L5 5M5 -5L-5 5\"/>"
    case .start: return "<path d=\"M-4 -5L5 0L-4 5Z\"/>"
    case .fault: return "<path d=\"M0 -6L6 5H-6Z\"/>"
    case .trigger: return "<path d=\"M0 -6L5 0L0 6L-5 0Z\"/>"
    case .failed: return "<path d=\"M-4 6V-6H6L3 -3L6 0H-2V6Z\"/>"
    case .condition, nil: return "<circle r=\"3\"/>"
    }
  }

  private mutating func drawLabels(_ columns: MarkColumns) {
    var labels = MarkLabels(right: Self.width)
    var said: Set<String> = []
    let words = columns.columns.flatMap { column in
      column.marks.filter { !$0.labels.isEmpty }.map { (column.x, $0) }
    }
    // What matters most has the choice of the place.
    let ranked = words.enumerated().sorted {
      ($1.element.1.rank, $0.offset) < ($0.element.1.rank, $1.offset)
    }
    for (x, mark) in ranked.map(\.element) {
      let text = MarkLabels.cut(mark.labels.joined(separator: ", "))
      // A rule is named where it first applied: its triangles speak for the rest.
      guard mark.key == "condition" || said.insert("\(mark.key) \(text)").inserted,
        let place = labels.place(text, x: x)
      else { continue }
      svg += "<text class=\"word \(mark.key)\" x=\"\(Self.number(place.x))\""
      svg += " y=\"\(Self.number(top + 10 + Double(place.line) * MarkLabels.lineHeight))\">"
      svg += "\(XMLText.content(text))</text>"
    }
    top += Double(labels.lines) * MarkLabels.lineHeight
  }

  /// More statuses at one moment than are told apart; beyond it kinds are.
  private static let maxStatuses = 5

  /// Requests by status, failures on top, the status beside them where there is room.
  mutating func drawRequests() {
    let kinds = Timeline.Request.Kind.allCases
    func set(byStatus: Bool) -> MarkColumns {
      MarkColumns(
        timeline.requests.map { request in
          let status = request.status.map(String.init) ?? "none"
          return MarkColumns.Item(
            x: axis.x(request.atNs), key: "\(request.kind.rawValue) \(byStatus ? status : "")",
            rank: kinds.firstIndex(of: request.kind) ?? 0, text: request.text,
            label: request.status == nil ? "" : status)
        })
    }
    var columns = set(byStatus: true)
    if columns.levels > Self.maxStatuses { columns = set(byStatus: false) }
    label("requests", top + 11)
    let ground = top + columns.height - MarkColumns.pitch / 2
    var free = Self.left
    for (index, column) in columns.columns.enumerated() {
      let isLast = index == columns.columns.count - 1
      let next = isLast ? Self.width : columns.columns[index + 1].x - 6
      let words = column.marks.map(Self.word)
      let widest = words.map(MarkLabels.width).max() ?? 0
      let fitsRight = column.x + 9 + widest <= next
      let fitsLeft = column.x - 9 - widest >= free
      for (level, mark) in column.marks.enumerated() {
        let y = ground - Double(level) * MarkColumns.pitch
        let kind = mark.key.prefix { $0 != " " }
        svg += "<circle class=\"request \(kind)\" cx=\"\(Self.number(column.x))\""
        svg += " cy=\"\(Self.number(y))\" r=\"\(mark.texts.count > 1 ? "6" : "4.5")\">"
        svg += "<title>\(MarkColumns.title(mark))</title></circle>"
        guard !words[level].isEmpty, fitsRight || fitsLeft else { continue }
        svg += "<text class=\"status\" x=\"\(Self.number(column.x + (fitsRight ? 9 : -9)))\""
        svg += " y=\"\(Self.number(y + 4))\"\(fitsRight ? "" : " text-anchor=\"end\"")>"
        svg += "\(words[level])</text>"
      }
      free = column.x + 6 + (fitsRight ? widest + 3 : 0)
    }
    top += columns.height + 6
  }

  /// `413 ×3`.
  private static func word(_ mark: MarkColumns.Mark) -> String {
    let count = mark.texts.count
    return mark.labels.joined(separator: ", ") + (count > 1 ? " ×\(count)" : "")
  }
}
