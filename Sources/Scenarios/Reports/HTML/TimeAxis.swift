/// Scenario time on a line. Half of the line is true to time, half gives every moment at which
/// something happened the same room: eight quiet hours must not squeeze the busy minute after
/// them into one pixel.
struct TimeAxis: Sendable {
  private let anchors: [Int64]
  private let endNs: Int64
  let left: Double
  let width: Double

  /// More moments than a line has room for.
  private static let maxAnchors = 240

  init(_ timeline: Timeline, left: Double, width: Double) {
    endNs = timeline.endNs
    self.left = left
    self.width = width
    var moments = Set<Int64>([0, timeline.endNs])
    moments.formUnion(timeline.network.map(\.fromNs))
    moments.formUnion(timeline.rows.flatMap { $0.bands.map(\.fromNs) })
    moments.formUnion(timeline.marks.map(\.atNs))
    moments.formUnion(timeline.requests.map(\.atNs))
    let sorted = moments.sorted()
    let stride = max(1, sorted.count / TimeAxis.maxAnchors)
    anchors = sorted.enumerated().filter {
      $0.offset % stride == 0 || $0.offset == sorted.count - 1
    }.map(\.element)
  }

  func x(_ atNs: Int64) -> Double {
    let time = min(max(atNs, 0), endNs)
    let linear = Double(time) / Double(endNs)
    guard anchors.count > 2 else { return left + width * linear }
    var low = 0
    var high = anchors.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if anchors[middle] <= time { low = middle } else { high = middle }
    }
    let span = Double(anchors[high] - anchors[low])
    let within = span > 0 ? Double(time - anchors[low]) / span : 0
    let rank = (Double(low) + within) / Double(anchors.count - 1)
    return left + width * (linear + rank) / 2
  }

  /// Moments to be labelled, at least `apart` from each other and with different words; start and
  /// end always.
  func ticks(apart: Double) -> [Int64] {
    var ticks: [Int64] = [0]
    for moment in anchors.dropFirst().dropLast()
    where x(moment) - x(ticks[ticks.count - 1]) >= apart && x(endNs) - x(moment) >= apart
      && ScenarioTime.text(moment) != ScenarioTime.text(ticks[ticks.count - 1])
    {
      ticks.append(moment)
    }
    return endNs > 0 ? ticks + [endNs] : ticks
  }
}
