/// What became of one event, in order: offered, durable, sent n, committed, acknowledged, erased.
package struct LifeStory: Sendable, Hashable {
  /// The event's id; nil for one that never got any.
  package var id: String?
  /// Its serial number in the run; nil for an id that nobody offered.
  package var serial: Int?
  /// Its record step.
  package var label: String
  package var account: String
  /// The digest of what was recorded; empty where it is not known.
  package var content = ""
  package var receipt: Receipt?
  package var isDurable = false
  package var moments: [Moment] = []
  /// How often the server stored it.
  package var stored = 0
  /// How often it arrived.
  package var arrivals = 0
  /// Why it was dropped or lies in quarantine.
  package var leftFor: String?
  package var isQuarantined = false

  /// One thing that happened to it.
  package struct Moment: Sendable, Hashable {
    package var atNs: Int64
    package var what: String
    package init(atNs: Int64, what: String) {
      self.atNs = atNs
      self.what = what
    }
  }

  /// `offered 1m00s → durable 1m00s → sent 1 (request 4) 9h00m → committed …`
  package var line: String {
    moments.map { "\($0.what) \(ScenarioTime.text($0.atNs))" }.joined(separator: " → ")
  }

  /// The event's name for a reader: its id, or its serial number.
  package var name: String {
    id ?? serial.map { "offered event \($0)" } ?? "an unknown event"
  }
}

/// The life stories of a whole run, by serial number and by id.
package struct LifeStories: Sendable {
  /// Events in the order in which they were offered; then ids that nobody offered.
  package private(set) var all: [LifeStory] = []
  private var bySerial: [Int: Int] = [:]
  private var byID: [String: Int] = [:]
  /// The story that was found last: events mostly come in the order in which they were offered.
  private var latest = -1
  /// Two offered events have the same id: the later one stands for both.
  private var hasTwins = false
  /// The words of the latest moment on the wire: the same for most events of a request.
  private var sentWords = (arrivals: 0, request: 0, text: "")
  /// Stories that turned out to be a part of another one.
  private var merged = 0
  /// Moments for which a story gets room at once: most lives have no more.
  private static let usualMoments = 6

  /// Reads a history once.
  package init(_ history: History) { extend(by: history.entries[...]) }

  /// Reads what has happened since.
  mutating func extend(by entries: ArraySlice<HistoryEntry>) {
    for entry in entries { take(entry.event, atNs: entry.atNs) }
    guard merged > 0 else { return }
    merged = 0
    latest = -1
    all.removeAll { $0.id == nil && $0.serial == nil }
    byID = [:]
    bySerial = [:]
    for (index, story) in all.enumerated() {
      if let id = story.id { byID[id] = index }
      if let serial = story.serial { bySerial[serial] = index }
    }
  }

  /// The story of an id.
  package func story(id: String) -> LifeStory? { byID[id].map { all[$0] } }

  private mutating func take(_ event: HistoryEvent, atNs: Int64) {
    switch event {
    case .offered(let serial, let label, let account, let content):
      bySerial[serial] = all.count
      var story = LifeStory(serial: serial, label: label, account: account)
      story.content = content
      story.moments.reserveCapacity(LifeStories.usualMoments)
      story.moments.append(LifeStory.Moment(atNs: atNs, what: "offered"))
      all.append(story)
    case .receipt(let serial, let receipt): take(receipt, serial: serial, atNs: atNs)
    case .becameDurable(let id):
      change(id, atNs, "durable") { $0.isDurable = true }
    case .identified(let request, _, let ids, _):
      for id in ids {
        let index = index(of: id)
        all[index].arrivals += 1
        let what = sentWords(all[index].arrivals, request)
        all[index].moments.append(LifeStory.Moment(atNs: atNs, what: what))
      }
    case .committed(_, let commit):
      for id in commit.stored { change(id, atNs, "committed") { $0.stored += 1 } }
      for id in commit.duplicates { change(id, atNs, "duplicate") { _ in } }
      for id in commit.conflicting { change(id, atNs, "conflicting") { _ in } }
    case .acknowledged(let ids): for id in ids { change(id, atNs, "acknowledged") { _ in } }
    case .erased(let ids): for id in ids { change(id, atNs, "erased") { _ in } }
    case .quarantined(_, let reason, let ids):
      for id in ids {
        change(id, atNs, "quarantined (\(reason))") {
          $0.leftFor = reason
          $0.isQuarantined = true
        }
      }
    case .dropped(_, let reason, let ids):
      for id in ids { change(id, atNs, "dropped (\(reason))") { $0.leftFor = reason } }
    case .condition("quarantine", "requeue"): requeue()
    case .held(let holdings): for holding in holdings { take(holding, atNs: atNs) }
    default: break
    }
  }

  /// The app puts back what lies in quarantine: what becomes of it from here on is open again.
  private mutating func requeue() {
    for index in all.indices where all[index].isQuarantined {
      all[index].isQuarantined = false
      all[index].leftFor = nil
    }
  }

  private mutating func take(_ receipt: Receipt, serial: Int, atNs: Int64) {
    guard let index = bySerial[serial] else { return }
    let what: String
    switch receipt {
    case .durable: what = "durable"
    case .buffered(_, let reason): what = "buffered (\(reason))"
    case .rejected(let reason): what = "rejected (\(reason))"
    }
    all[index].receipt = receipt
    if case .durable = receipt { all[index].isDurable = true }
    all[index].moments.append(LifeStory.Moment(atNs: atNs, what: what))
    guard let id = receipt.id else { return }
    let known = byID[id]
    if let known, known != index, all[known].serial != nil { hasTwins = true }
    if let early = known, all[early].serial == nil {
      // The event was seen on the wire before its receipt was read.
      all[index].stored += all[early].stored
      all[index].arrivals += all[early].arrivals
      all[index].moments = all[early].moments + all[index].moments
      all[early] = LifeStory(label: "", account: "")
      merged += 1
    }
    all[index].id = id
    byID[id] = index
  }

  /// The ledger's own count is better evidence than what was seen going in.
  private mutating func take(_ holding: Holding, atNs: Int64) {
    let index = index(of: holding.id)
    all[index].stored = holding.stored
    all[index].arrivals = max(all[index].arrivals, holding.seen)
  }

  private mutating func change(
    _ id: String, _ atNs: Int64, _ what: String, _ body: (inout LifeStory) -> Void
  ) {
    let index = index(of: id)
    all[index].moments.append(LifeStory.Moment(atNs: atNs, what: what))
    body(&all[index])
  }

  private mutating func index(of id: String) -> Int {
    if !hasTwins, latest + 1 < all.count, all[latest + 1].id == id {
      latest += 1
    } else if let index = byID[id] {
      latest = index
    } else {
      latest = all.count
      byID[id] = latest
      all.append(LifeStory(id: id, label: "", account: ""))
    }
    return latest
  }

  private mutating func sentWords(_ arrivals: Int, _ request: Int) -> String {
    if sentWords.arrivals != arrivals || sentWords.request != request {
      sentWords = (arrivals, request, "sent \(arrivals) (request \(request))")
    }
    return sentWords.text
  }
}
