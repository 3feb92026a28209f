/// Draws a fleet's arrivals as one SVG picture.
package enum FleetChart {
  private static let width = 960
  private static let height = 420
  private static let left = 70
  private static let bottom = 50
  private static let top = 60
  /// The bound that the curve is shown against.
  static let allowedShare = 0.03

  /// A bar for each second: the last minute of the outage, then the time after it.
  package static func svg(_ report: FleetSimulation.Report) -> String {
    let series = report.arrivalsBefore + report.arrivals
    let bound = Double(report.engines) * allowedShare
    let highest = max(bound * 1.15, Double(series.max() ?? 1) * 1.05, 1)
    let plotWidth = Double(width - left - 20)
    let plotHeight = Double(height - top - bottom)
    func x(_ second: Int) -> Double {
      Double(left) + plotWidth * Double(second) / Double(max(1, series.count))
    }
    func y(_ value: Double) -> Double { Double(top) + plotHeight * (1 - value / highest) }
    var parts = [
      #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(width) \#(height)" "#
        + #"width="\#(width)" height="\#(height)" font-family="sans-serif" font-size="13">"#,
      #"<rect width="100%" height="100%" fill="white"/>"#,
      text(left, 24, "Requests per second, \(report.engines) devices after an outage", size: 16),
      text(left, 44, caption(report)),
    ]
    for (second, count) in series.enumerated() where count > 0 {
      let colour = second < report.arrivalsBefore.count ? "crimson" : "royalblue"
      parts.append(
        #"<rect x="\#(short(x(second)))" y="\#(short(y(Double(count))))" "#
          + #"width="\#(short(plotWidth / Double(series.count)))" "#
          + #"height="\#(short(y(0) - y(Double(count))))" fill="\#(colour)"/>"#)
    }
    parts.append(line(Double(left), y(bound), Double(width - 20), y(bound), "#c80"))
    parts.append(text(width - 150, Int(y(bound)) - 6, "3 % of the fleet"))
    parts.append(line(Double(left), y(0), Double(width - 20), y(0), "#333"))
    parts.append(line(Double(left), Double(top), Double(left), y(0), "#333"))
    parts += axes(report, highest: highest, x: x, y: y)
    parts.append("</svg>\n")
    return parts.joined(separator: "\n")
  }

  private static func caption(_ report: FleetSimulation.Report) -> String {
    "peak of the first minute \(report.peak) (\(short(report.peakShare * 100)) %), "
      + "last delivery after \(report.lastDeliverySecond) s, \(report.undelivered) undelivered"
  }

  private static func axes(
    _ report: FleetSimulation.Report, highest: Double, x: (Int) -> Double, y: (Double) -> Double
  ) -> [String] {
    var parts: [String] = []
    let recovery = report.arrivalsBefore.count
    for minute in stride(from: 0, through: report.arrivals.count / 60, by: 3) {
      let place = x(recovery + minute * 60)
      parts.append(line(place, y(0), place, y(0) + 5, "#333"))
      let label = minute == 0 ? "server is back" : "\(minute) min"
      parts.append(text(Int(place) - 10, Int(y(0)) + 22, label))
    }
    for step in 1...4 {
      let value = highest * Double(step) / 4
      parts.append(text(12, Int(y(value)) + 5, "\(Int(value))"))
    }
    return parts
  }

  private static func text(_ x: Int, _ y: Int, _ content: String, size: Int = 13) -> String {
    #"<text x="\#(x)" y="\#(y)" font-size="\#(size)" fill="black">\#(content)</text>"#
  }

  private static func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String
  ) -> String {
    #"<line x1="\#(short(x1))" y1="\#(short(y1))" x2="\#(short(x2))" y2="\#(short(y2))" "#
      + #"stroke="\#(colour)"/>"#
  }

  /// Two decimals.
  private static func short(_ value: Double) -> String {
    "\((value * 100).rounded() / 100)"
  }
}
