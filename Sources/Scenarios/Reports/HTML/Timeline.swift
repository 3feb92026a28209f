/// What a run's picture shows, before anybody decides where it is drawn.
struct Timeline: Sendable {
  /// A stretch of time with one value.
  struct Band: Sendable, Hashable {
    var fromNs: Int64
    var toNs: Int64
    var value: String
  }
  struct Mark: Sendable, Hashable {
    /// From the least to what must be seen first.
    enum Kind: String, CaseIterable { case condition, trigger, start, fault, kill, failed }
    var atNs: Int64
    var kind: Kind
    var text: String
    /// A word for those who see no tooltip; empty for none.
    var label = ""
  }
  struct Request: Sendable, Hashable {
    /// How the answer is coloured.
    /// From the least to what must be seen first.
    enum Kind: String, CaseIterable { case ok, other, later, refused, lost }
    var atNs: Int64
    var kind: Kind
    var text: String
    /// Nil without an answer.
    var status: Int?
  }

  private(set) var endNs: Int64 = 0
  private(set) var network: [Band] = []
  /// What was not as usual with phone and listener: a row for each condition that ever was.
  private(set) var rows: [(name: String, bands: [Band])] = []
  private(set) var marks: [Mark] = []
  private(set) var requests: [Request] = []
  /// Durable events that the server has not acknowledged, after each change.
  private(set) var depth: [(atNs: Int64, count: Int)] = []
  /// Events that wait in the device's memory, after each change.
  private(set) var buffered: [(atNs: Int64, count: Int)] = []

  /// The results give the places at which an expectation failed.
  init(_ history: History, results: [CheckResult] = []) {
    endNs = max(1, history.entries.map(\.atNs).max() ?? 1)
    network = bands(history, "network", first: "wifi") { _ in true }
    rows = PhoneRow.all.compactMap { row in
      let bands = bands(history, row.condition, first: row.usual) { !row.momentary.contains($0) }
      let unusual = bands.filter { !row.isUsual($0.value) }
      return unusual.isEmpty ? nil : (row.name, unusual)
    }
    readMarks(history)
    readFailures(history, results)
    requests = Evidence(history).requests.map(Timeline.request)
    readDepth(history)
  }

  private func bands(
    _ history: History, _ name: String, first: String, lasts: (String) -> Bool
  ) -> [Band] {
    var bands = [Band(fromNs: 0, toNs: endNs, value: first)]
    for entry in history.entries {
      guard case .condition(name, let value) = entry.event, lasts(value) else { continue }
      bands[bands.count - 1].toNs = entry.atNs
      bands.append(Band(fromNs: entry.atNs, toNs: endNs, value: value))
    }
    return bands.filter { $0.toNs > $0.fromNs }
  }

  private mutating func readMarks(_ history: History) {
    for entry in history.entries {
      func add(_ kind: Mark.Kind, _ text: String, _ label: String = "") {
        marks.append(Mark(atNs: entry.atNs, kind: kind, text: text, label: label))
      }
      switch entry.event {
      case .died(let incarnation, let how):
        let isClosed = how == "closed"
        add(isClosed ? .condition : .kill, "device \(incarnation): \(how)", isClosed ? "" : how)
      case .started(let incarnation): add(.start, "device \(incarnation) started")
      case .faultApplied(let rule, _, let what, let request):
        add(.fault, "\(rule)\(what.isEmpty ? "" : ": \(what)") (request \(request))", rule)
      case .triggerFired(let step): add(.trigger, "step \(step) fired")
      case .condition(let name, let value):
        guard name != "network", !PhoneRow.showsAsBand(name, value) else { continue }
        // Background time turns over and over; it is no news.
        let isTurn = name == "assertion" || name == "task"
        add(.condition, "\(name): \(value)", isTurn ? "" : Self.words(name, value))
      default: continue
      }
    }
  }

  private static func words(_ name: String, _ value: String) -> String {
    let words = value.split(separator: " ").joined(separator: " ")
    return name == "serverToken" ? "server: \(words)" : "\(name) \(words)"
  }

  private mutating func readFailures(_ history: History, _ results: [CheckResult]) {
    let failed = results.filter { $0.verdict.outcome == .fail }
    var onTheWay: Set<ExpectedLine> = []
    for entry in history.entries {
      guard case .asked(let lines) = entry.event else { continue }
      for result in failed {
        guard let line = result.expectation, lines.contains(line) else { continue }
        onTheWay.insert(line)
        addFailure(result, atNs: entry.atNs)
      }
    }
    for result in failed where !(result.expectation.map(onTheWay.contains) ?? false) {
      addFailure(result, atNs: endNs)
    }
  }

  private mutating func addFailure(_ result: CheckResult, atNs: Int64) {
    marks.append(
      Mark(
        atNs: atNs, kind: .failed, text: "\(result.checker): \(result.verdict.explanation)",
        label: "\(result.checker) fails at \(ScenarioTime.text(atNs))"))
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
    return Request(
      atNs: story.arrivedNs, kind: kind, text: text, status: story.answer?.status)
  }

  private mutating func readDepth(_ history: History) {
    var ids: [Int: [String]] = [:]
    var waiting: Set<String> = []
    var inMemory: Set<String> = []
    func leave(_ gone: [String]) {
      waiting.subtract(gone)
      inMemory.subtract(gone)
    }
    for entry in history.entries {
      switch entry.event {
      case .receipt(_, .buffered(let id, _)): inMemory.insert(id)
      case .receipt(_, .durable(let id)), .becameDurable(let id):
        inMemory.remove(id)
        waiting.insert(id)
      case .died: inMemory = []
      case .erased(let gone), .acknowledged(let gone), .quarantined(_, _, let gone),
        .dropped(_, _, let gone):
        leave(gone)
      case .identified(let request, _, let sent, _): ids[request] = sent
      case .answered(let request, let answer):
        guard (200...299).contains(answer.status) else { continue }
        if answer.contentType?.hasPrefix("text/html") != true { leave(ids[request] ?? []) }
      default: continue
      }
      Self.change(&depth, entry.atNs, waiting.count)
      Self.change(&buffered, entry.atNs, inMemory.count)
    }
  }

  private static func change(
    _ line: inout [(atNs: Int64, count: Int)], _ atNs: Int64, _ count: Int
  ) {
    if line.last?.atNs == atNs { line.removeLast() }
    if (line.last?.count ?? 0) != count { line.append((atNs, count)) }
  }
}

/// A condition that lasts, and what of it is worth a row in the picture.
private struct PhoneRow {
  var condition: String
  var name: String
  var usual: String
  /// Values that happen and do not last.
  var momentary: Set<String> = []

  static let all = [
    PhoneRow(condition: "app", name: "app", usual: "foreground"),
    PhoneRow(condition: "disk", name: "disk", usual: "ok", momentary: ["corrupt"]),
    PhoneRow(condition: "key", name: "key", usual: "available", momentary: ["rotate", "lost"]),
    PhoneRow(condition: "lowPower", name: "low power", usual: "off"),
    PhoneRow(condition: "consent", name: "consent", usual: "given"),
    PhoneRow(condition: "token", name: "token", usual: "given"),
    PhoneRow(condition: "listener", name: "listener", usual: "accept"),
  ]

  /// Of tokens only their absence lasts in the picture; a new one is a mark.
  func isUsual(_ value: String) -> Bool {
    condition == "token" ? !value.hasPrefix("none") : value == usual
  }

  static func showsAsBand(_ name: String, _ value: String) -> Bool {
    guard let row = all.first(where: { $0.condition == name }) else { return false }
    return !row.momentary.contains(value) && (name != "token" || !row.isUsual(value))
  }
}
