/// What a run's picture shows, before anybody decides where it is drawn.
struct Timeline: Sendable {
  /// A stretch of time with one value.
  struct Band: Sendable, Hashable {
    var fromNs: Int64
    var toNs: Int64
    var value: String
  }
  struct Mark: Sendable, Hashable {
    enum Kind: String { case kill, start, fault, trigger, condition }
    var atNs: Int64
    var kind: Kind
    var text: String
  }
  struct Request: Sendable, Hashable {
    /// How the answer is coloured.
    enum Kind: String { case ok, later, refused, lost, other }
    var atNs: Int64
    var kind: Kind
    var text: String
  }

  private(set) var endNs: Int64 = 0
  private(set) var network: [Band] = []
  private(set) var app: [Band] = []
  private(set) var marks: [Mark] = []
  private(set) var requests: [Request] = []
  /// Durable events that the server has not acknowledged, after each change.
  private(set) var depth: [(atNs: Int64, count: Int)] = []

  init(_ history: History) {
    endNs = max(1, history.entries.map(\.atNs).max() ?? 1)
    network = bands(history, "network", first: "wifi")
    app = bands(history, "app", first: "foreground")
    readMarks(history)
    requests = Evidence(history).requests.map(Timeline.request)
    readDepth(history)
  }

  private func bands(_ history: History, _ name: String, first: String) -> [Band] {
    var bands = [Band(fromNs: 0, toNs: endNs, value: first)]
    for entry in history.entries {
      guard case .condition(name, let value) = entry.event else { continue }
      bands[bands.count - 1].toNs = entry.atNs
      bands.append(Band(fromNs: entry.atNs, toNs: endNs, value: value))
    }
    return bands.filter { $0.toNs > $0.fromNs }
  }

  private mutating func readMarks(_ history: History) {
    for entry in history.entries {
      let mark: (Mark.Kind, String)?
      switch entry.event {
      case .died(let incarnation, let how):
        mark = (how == "closed" ? .condition : .kill, "device \(incarnation): \(how)")
      case .started(let incarnation): mark = (.start, "device \(incarnation) started")
      case .faultApplied(let rule, _, let what, let request):
        mark = (.fault, "\(rule)\(what.isEmpty ? "" : ": \(what)") (request \(request))")
      case .triggerFired(let step): mark = (.trigger, "step \(step) fired")
      case .condition(let name, let value):
        mark = name == "network" || name == "app" ? nil : (.condition, "\(name): \(value)")
      default: mark = nil
      }
      if let mark { marks.append(Mark(atNs: entry.atNs, kind: mark.0, text: mark.1)) }
    }
  }

  private static func request(_ story: RequestStory) -> Request {
    let kind: Request.Kind
    switch story.answer?.status {
    case nil: kind = .lost
    case (200...299)?: kind = story.isAcknowledged ? .ok : .other
    case 429?, (500...)?: kind = .later
    case (400...499)?: kind = .refused
    default: kind = .other
    }
    let answer = story.answer.map { String($0.status) } ?? "no answer"
    var text = "request \(story.number) at \(ScenarioTime.text(story.arrivedNs)): \(answer)"
    if !story.ids.isEmpty { text += ", \(ReportText.plural(story.ids.count, "event"))" }
    if let wait = story.answer?.retryAfter { text += ", Retry-After \(wait)" }
    if !story.faults.isEmpty { text += ", \(story.faults.joined(separator: ", "))" }
    return Request(atNs: story.arrivedNs, kind: kind, text: text)
  }

  private mutating func readDepth(_ history: History) {
    var ids: [Int: [String]] = [:]
    var waiting: Set<String> = []
    func changed(_ atNs: Int64) {
      if depth.last?.atNs == atNs { depth.removeLast() }
      if depth.last?.count != waiting.count { depth.append((atNs, waiting.count)) }
    }
    for entry in history.entries {
      switch entry.event {
      case .receipt(_, .durable(let id)), .becameDurable(let id): waiting.insert(id)
      case .erased(let gone), .acknowledged(let gone), .quarantined(_, _, let gone),
        .dropped(_, _, let gone):
        waiting.subtract(gone)
      case .identified(let request, _, let sent, _): ids[request] = sent
      case .answered(let request, let answer):
        guard (200...299).contains(answer.status) else { continue }
        if answer.contentType?.hasPrefix("text/html") != true {
          waiting.subtract(ids[request] ?? [])
        }
      default: continue
      }
      changed(entry.atNs)
    }
  }
}

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
