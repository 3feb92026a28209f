/// A run's timeline as inline SVG: network and phone, what happened to device and server, requests
/// by status, and how many events waited.
struct TimelineSVG {
  let timeline: Timeline
  let axis: TimeAxis
  var svg = ""
  /// Marks that cut through every row, and where.
  var cuts: [(kind: String, x: Double)] = []
  /// Where the next row begins.
  var top = 6.0

  static let left = 86.0
  static let right = 16.0
  static let width = 1000.0
  private static let bandHeight = 18.0
  private static let depthHeight = 52.0

  static func text(_ report: CaseReport) -> String {
    var drawing = TimelineSVG(Timeline(report.history, results: report.results))
    return drawing.draw(title: "\(report.scenario) on \(report.lane)")
  }

  private init(_ timeline: Timeline) {
    self.timeline = timeline
    axis = TimeAxis(
      timeline, left: TimelineSVG.left,
      width: TimelineSVG.width - TimelineSVG.left - TimelineSVG.right)
  }

  private mutating func draw(title: String) -> String {
    drawBands("network", timeline.network) { value in
      let known = ["wifi", "cellular", "expensive", "offline", "hidden", "lying", "captive"]
      return known.first { value.hasPrefix($0) } ?? "other"
    }
    for row in timeline.rows {
      drawBands(row.name, row.bands) { _ in row.name == "app" ? "away" : "trouble" }
    }
    top += 4
    drawMarks()
    drawRequests()
    drawDepth()
    let bottom = top
    drawAxis()
    var whole = "<div class=\"scroll\"><svg class=\"timeline\""
    whole += " viewBox=\"0 0 \(Int(Self.width)) \(Int(top))\""
    whole += " role=\"img\" aria-label=\"timeline of \(XMLText.attribute(title))\">"
    whole += lines(to: bottom) + svg
    return whole + "</svg></div>"
  }

  /// Kills and failed expectations cut through every row, below their marks.
  private func lines(to bottom: Double) -> String {
    cuts.map { kind, x in
      "<path class=\"line \(kind)\" d=\"M\(Self.number(x)) 2V\(Self.number(bottom))\"/>"
    }.joined()
  }

  static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(abs(tenths % 10))"
  }

  mutating func label(_ text: String, _ y: Double, _ kind: String = "") {
    svg += "<text class=\"row\(kind)\" x=\"\(Self.number(Self.left - 10))\""
    svg += " y=\"\(Self.number(y))\">\(text)</text>"
  }

  private mutating func drawBands(
    _ name: String, _ bands: [Timeline.Band], kind: (String) -> String
  ) {
    label(name, top + 13)
    for band in bands {
      let from = axis.x(band.fromNs)
      let width = max(1, axis.x(band.toNs) - from)
      let value = XMLText.content(band.value)
      svg += "<g><title>\(value) from \(ScenarioTime.text(band.fromNs)) to"
      svg += " \(ScenarioTime.text(band.toNs))</title>"
      svg += "<rect class=\"band \(kind(band.value))\" x=\"\(Self.number(from))\""
      svg += " y=\"\(Self.number(top))\""
      svg += " width=\"\(Self.number(width))\" height=\"\(Self.number(Self.bandHeight))\"/>"
      if width > MarkLabels.width(band.value) + 8 {
        svg += "<text x=\"\(Self.number(from + 5))\""
        svg += " y=\"\(Self.number(top + 13))\">\(value)</text>"
      }
      svg += "</g>"
    }
    top += Self.bandHeight + 3
  }

  private mutating func drawDepth() {
    let most = timeline.depth.map(\.count).max() ?? 0
    let mostBuffered = timeline.buffered.map(\.count).max() ?? 0
    label("waiting", top + 12)
    label("max \(most)", top + 26, " small")
    if mostBuffered > 0 { label("buffered \(mostBuffered)", top + 42, " small memory") }
    let bottom = top + Self.depthHeight
    // The ground line is the durable ones'.
    for (kind, points) in [("memory", timeline.buffered), ("depth", timeline.depth)]
    where kind == "depth" || mostBuffered > 0 {
      let path = DepthPath.text(
        points, axis: axis, endNs: timeline.endNs, bottom: Int(bottom),
        height: Int(Self.depthHeight), most: max(most, mostBuffered))
      svg += "<path class=\"\(kind)\" d=\"\(path)\"/>"
    }
    top = bottom + 6
  }

  private mutating func drawAxis() {
    for tick in axis.ticks(apart: 74) {
      let x = Self.number(axis.x(tick))
      svg += "<path class=\"tick\" d=\"M\(x) \(Self.number(top - 6))v5\"/>"
      let anchor = tick == 0 ? "start" : tick == timeline.endNs ? "end" : "middle"
      svg += "<text class=\"time\" text-anchor=\"\(anchor)\" x=\"\(x)\""
      svg += " y=\"\(Self.number(top + 12))\">\(ScenarioTime.text(tick))</text>"
    }
    top += 20
  }
}
