/// A run's timeline as inline SVG: network, what happened to device and server, requests by
/// status, and how many events waited.
struct TimelineSVG {
  private let timeline: Timeline
  private let axis: TimeAxis
  private var svg = ""

  private static let left = 86.0
  private static let right = 16.0
  private static let width = 1000.0
  private static let networkTop = 6.0
  private static let marksTop = 40.0
  private static let requestsTop = 66.0
  private static let depthTop = 92.0
  private static let depthHeight = 52.0
  private static let axisTop = 150.0
  private static let height = 172.0

  static func text(_ history: History) -> String {
    var drawing = TimelineSVG(history)
    return drawing.draw(title: "\(history.header.scenario) on \(history.header.lane)")
  }

  private init(_ history: History) {
    timeline = Timeline(history)
    axis = TimeAxis(
      timeline, left: TimelineSVG.left,
      width: TimelineSVG.width - TimelineSVG.left - TimelineSVG.right)
  }

  private mutating func draw(title: String) -> String {
    svg = "<svg class=\"timeline\" viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\""
    svg += " role=\"img\" aria-label=\"timeline of \(XMLText.attribute(title))\">"
    drawBands()
    drawMarks()
    drawRequests()
    drawDepth()
    drawAxis()
    return svg + "</svg>"
  }

  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(abs(tenths % 10))"
  }

  private mutating func label(_ text: String, _ y: Double) {
    svg +=
      "<text class=\"row\" x=\"\(Self.number(Self.left - 10))\" y=\"\(Self.number(y))\">\(text)</text>"
  }

  private mutating func drawBands() {
    label("network", Self.networkTop + 13)
    for band in timeline.network {
      let from = axis.x(band.fromNs)
      let width = max(1, axis.x(band.toNs) - from)
      let known = ["wifi", "cellular", "expensive", "offline", "hidden", "lying", "captive"]
      let kind = known.first { band.value.hasPrefix($0) } ?? "other"
      let value = XMLText.content(band.value)
      svg += "<g><title>\(value) from \(ScenarioTime.text(band.fromNs)) to"
      svg += " \(ScenarioTime.text(band.toNs))</title>"
      svg +=
        "<rect class=\"band \(kind)\" x=\"\(Self.number(from))\" y=\"\(Self.number(Self.networkTop))\""
      svg += " width=\"\(Self.number(width))\" height=\"18\"/>"
      if width > Double(band.value.count) * 7 + 8 {
        svg += "<text class=\"inband\" x=\"\(Self.number(from + 5))\""
        svg += " y=\"\(Self.number(Self.networkTop + 13))\">\(value)</text>"
      }
      svg += "</g>"
    }
    for band in timeline.app where band.value != "foreground" {
      let from = axis.x(band.fromNs)
      svg +=
        "<rect class=\"away\" x=\"\(Self.number(from))\" y=\"\(Self.number(Self.networkTop + 19))\""
      svg += " width=\"\(Self.number(max(1, axis.x(band.toNs) - from)))\" height=\"4\">"
      svg += "<title>\(XMLText.content(band.value))</title></rect>"
    }
  }

  private mutating func drawMarks() {
    label("events", Self.marksTop + 11)
    var drawn: Set<String> = []
    for mark in timeline.marks {
      let x = axis.x(mark.atNs)
      // Marks that would lie on each other are drawn once.
      guard drawn.insert("\(mark.kind.rawValue) \(Int(x))").inserted else { continue }
      let place = "translate(\(Self.number(x)) \(Self.number(Self.marksTop + 7)))"
      svg += "<g class=\"mark \(mark.kind.rawValue)\" transform=\"\(place)\">"
      svg += "<title>\(ScenarioTime.text(mark.atNs)) \(XMLText.content(mark.text))</title>"
      switch mark.kind {
      case .kill: svg += "<path class=\"line\" d=\"M0 -40V104\"/><path d=\"M-5 -5L5 5M5 -5L-5 5\"/>"
      case .start: svg += "<path d=\"M-4 -5L5 0L-4 5Z\"/>"
      case .fault: svg += "<path d=\"M0 -6L6 5H-6Z\"/>"
      case .trigger: svg += "<path d=\"M0 -6L5 0L0 6L-5 0Z\"/>"
      case .condition: svg += "<circle r=\"3\"/>"
      }
      svg += "</g>"
    }
  }

  private mutating func drawRequests() {
    label("requests", Self.requestsTop + 11)
    var order: [String] = []
    var stacks: [String: (x: Double, kind: Timeline.Request.Kind, texts: [String])] = [:]
    for request in timeline.requests {
      let x = axis.x(request.atNs)
      let key = "\(Int(x / 2)) \(request.kind.rawValue)"
      if stacks[key] == nil {
        order.append(key)
        stacks[key] = (x, request.kind, [])
      }
      stacks[key]?.texts.append(request.text)
    }
    for key in order {
      guard let stack = stacks[key] else { continue }
      let shown = stack.texts.prefix(8).map(XMLText.content).joined(separator: "&#10;")
      let more = stack.texts.count > 8 ? "&#10;and \(stack.texts.count - 8) more" : ""
      svg += "<circle class=\"request \(stack.kind.rawValue)\" cx=\"\(Self.number(stack.x))\""
      svg +=
        " cy=\"\(Self.number(Self.requestsTop + 7))\" r=\"\(stack.texts.count > 1 ? 6 : 4.5)\">"
      svg += "<title>\(shown)\(more)</title></circle>"
    }
  }

  private mutating func drawDepth() {
    let bottom = Self.depthTop + Self.depthHeight
    let most = timeline.depth.map(\.count).max() ?? 0
    label("waiting", Self.depthTop + 12)
    svg += "<text class=\"row small\" x=\"\(Self.number(Self.left - 10))\""
    svg += " y=\"\(Self.number(Self.depthTop + 26))\">max \(most)</text>"
    let start = Self.number(Self.left)
    let end = Self.number(axis.x(timeline.endNs))
    svg += "<path class=\"ground\" d=\"M\(start) \(Self.number(bottom))H\(end)\"/>"
    guard most > 0 else { return }
    var path = "M\(start) \(Self.number(bottom))"
    var lastX = -1.0
    for (index, point) in timeline.depth.enumerated() {
      let x = axis.x(point.atNs)
      // One step a pixel is all that can be seen; the last one ends the line.
      if x - lastX < 0.7, index < timeline.depth.count - 1 { continue }
      lastX = x
      let y = bottom - Self.depthHeight * Double(point.count) / Double(most)
      path += "H\(Self.number(x))V\(Self.number(y))"
    }
    path += "H\(end)"
    svg += "<path class=\"area\" d=\"\(path)V\(Self.number(bottom))Z\"/>"
    svg += "<path class=\"depth\" d=\"\(path)\"/>"
  }

  private mutating func drawAxis() {
    for tick in axis.ticks(apart: 74) {
      let x = Self.number(axis.x(tick))
      svg += "<path class=\"tick\" d=\"M\(x) \(Self.number(Self.axisTop - 6))v5\"/>"
      let anchor = tick == 0 ? "start" : tick == timeline.endNs ? "end" : "middle"
      svg += "<text class=\"time\" text-anchor=\"\(anchor)\" x=\"\(x)\""
      svg += " y=\"\(Self.number(Self.axisTop + 12))\">\(ScenarioTime.text(tick))</text>"
    }
  }
}
