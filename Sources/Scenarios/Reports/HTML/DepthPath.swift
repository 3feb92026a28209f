/// A count over time as an SVG path, at most one stroke a pixel.
enum DepthPath {
  /// Begins at the lower right, runs along the ground to the left and then along the counts: open
  /// for the stroke, closed for the fill.
  ///
  /// Where a pixel saw several counts, its stroke runs over all of them from the least to the most:
  /// a queue that fills and empties a thousand times must not look like one that stays full.
  static func text(
    _ points: [(atNs: Int64, count: Int)], axis: TimeAxis, endNs: Int64, bottom: Int, height: Int,
    most: Int
  ) -> String {
    func y(_ count: Int) -> Int {
      guard count > 0, most > 0 else { return bottom }
      return bottom - max(2, Int((Double(height) * Double(count) / Double(most)).rounded()))
    }
    let left = Int(axis.left.rounded())
    let end = Int(axis.x(endNs).rounded())
    var path = "M\(end) \(bottom)H\(left)"
    var current = bottom
    var index = 0
    while index < points.count {
      let x = Int(axis.x(points[index].atNs).rounded())
      // The y axis points down: `peak` is the greatest count.
      var peak = y(points[index].count)
      var floor = peak
      var last = peak
      while index < points.count, Int(axis.x(points[index].atNs).rounded()) == x {
        last = y(points[index].count)
        peak = min(peak, last)
        floor = max(floor, last)
        index += 1
      }
      var strokes: [Int] = []
      // The stroke from the count before to the count after covers what lies between.
      if peak < min(current, last) { strokes.append(peak) }
      if floor > max(current, last) { strokes.append(floor) }
      if (strokes.last ?? current) != last { strokes.append(last) }
      guard !strokes.isEmpty else { continue }
      path += "H\(x)" + strokes.map { "V\($0)" }.joined()
      current = last
    }
    return path + "H\(end)"
  }
}
