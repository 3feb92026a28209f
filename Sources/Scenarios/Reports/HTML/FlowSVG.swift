/// The conservation flow: where the durable events of a run went, to scale.
enum FlowSVG {
  struct Part: Hashable {
    var name: String
    var kind: String
    var count: Int
  }

  private static let width = 560.0
  private static let scale = 64.0
  private static let gap = 6.0
  private static let leastHeight = 4.0

  static func parts(_ history: History) -> (durable: Int, parts: [Part]) {
    let evidence = Evidence(history)
    let durable = evidence.durable
    var stored = 0
    var left: [String: (Int, String)] = [:]
    var open = 0
    for story in durable {
      if story.stored > 0 {
        stored += 1
      } else if let reason = story.leftFor {
        let name = (story.isQuarantined ? "quarantined: " : "dropped: ") + reason
        let kind = story.isQuarantined ? "quarantined" : "dropped"
        left[name] = ((left[name]?.0 ?? 0) + 1, kind)
      } else {
        open += 1
      }
    }
    var parts = [Part(name: "stored on the server", kind: "stored", count: stored)]
    parts += left.sorted { $0.key < $1.key }.map {
      Part(name: $0.key, kind: $0.value.1, count: $0.value.0)
    }
    // What the SDK only counts: as much of the rest as its books explain.
    if let books = evidence.books.last {
      let counted =
        [("queued", "queued", books.queued), ("quarantined", "quarantined", books.quarantined)]
        + books.dropped.map { ("dropped: \($0.reason)", "dropped", $0.count) }
      for (name, kind, count) in counted where left[name] == nil {
        let part = min(open, Int(clamping: count))
        if part > 0 { parts.append(Part(name: name, kind: kind, count: part)) }
        open -= part
      }
    }
    if open > 0 { parts.append(Part(name: "nowhere", kind: "missing", count: open)) }
    return (durable.count, parts.filter { $0.count > 0 })
  }

  /// Empty where nothing became durable.
  static func text(_ history: History) -> String {
    let (durable, parts) = parts(history)
    guard durable > 0 else { return "" }
    let heights = parts.map { max(leastHeight, scale * Double($0.count) / Double(durable)) }
    let total = heights.reduce(0, +)
    let height = total + gap * Double(parts.count) + 12
    var svg =
      "<div class=\"scroll\"><svg class=\"flow\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\""
    svg += " aria-label=\"where \(durable) durable events went\">"
    svg += "<rect class=\"source\" x=\"110\" y=\"6\" width=\"10\" height=\"\(Int(total))\"/>"
    svg += "<text class=\"row\" x=\"102\" y=\"18\">\(durable) durable</text>"
    var from = 6.0
    var to = 6.0
    for (part, height) in zip(parts, heights) {
      let path =
        "M120 \(text(from))C200 \(text(from)) 200 \(text(to)) 280 \(text(to))V\(text(to + height))"
        + "C200 \(text(to + height)) 200 \(text(from + height)) 120 \(text(from + height))Z"
      let name = XMLText.content(part.name)
      svg +=
        "<path class=\"ribbon \(part.kind)\" d=\"\(path)\"><title>\(part.count) \(name)</title></path>"
      svg += "<rect class=\"sink \(part.kind)\" x=\"280\" y=\"\(text(to))\" width=\"10\""
      svg += " height=\"\(text(height))\"/>"
      let middle = to + max(height / 2, 6) + 4
      svg += "<text class=\"part\" x=\"298\" y=\"\(text(middle))\">\(part.count) \(name)</text>"
      from += height
      to += max(height, 12) + gap
    }
    return svg + "</svg></div>"
  }

  private static func text(_ value: Double) -> String { String(Int(value.rounded())) }
}
