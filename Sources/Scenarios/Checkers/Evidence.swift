/// A history, sorted by what checkers ask for. Made once for all of them.
package struct Evidence: Sendable {
  package private(set) var history: History
  package private(set) var stories: LifeStories
  /// Requests in the order of their arrival.
  package private(set) var requests: [RequestStory] = []
  /// All readings of the SDK's books, in order.
  package private(set) var books: [DeviceBooks] = []
  package private(set) var scans: [SecrecyFindings] = []
  package private(set) var seals: [SealSighting] = []
  /// Files whose sealed records could not be read.
  package private(set) var unreadableSeals: [String] = []
  /// Sizes of the device's files.
  package private(set) var measured: [Int64] = []
  /// Set where the ledger itself was read.
  package private(set) var holdings: [Holding]?
  package private(set) var firedRules: Set<String> = []
  package private(set) var firedTriggers: Set<Int> = []
  package private(set) var conditions: [Condition] = []
  /// When power was lost.
  package private(set) var reboots: [Int64] = []
  /// How many device processes were started, and how they ended.
  package private(set) var lives = 0
  package private(set) var deaths: [Death] = []
  /// Whether the queue got empty at the end; nil where nothing was drained.
  package private(set) var drained: Bool?
  /// Steps that found no living device.
  package private(set) var missedSteps: [String] = []
  /// Entries for which the history had no room: what they said is unknown.
  package private(set) var refusedEntries = 0
  private var lastBooksOrder = -1

  /// A condition the script set.
  package struct Condition: Sendable, Hashable {
    package var atNs: Int64
    /// Its place among the history's entries.
    package var order: Int
    package var name: String
    package var value: String
  }

  /// The end of a device process.
  package struct Death: Sendable, Hashable {
    package var atNs: Int64
    package var order: Int
    package var how: String
  }

  /// The device's own tries that are over, in the order of their ends, also those of which no
  /// server knows.
  package private(set) var tries: [Try] = []

  /// One request as the device saw it end.
  package struct Try: Sendable, Hashable {
    package var atNs: Int64
    package var incarnation: Int
    package var number: Int
    /// A status, or a word such as `timeout`.
    package var outcome: String
  }

  /// True where the server knows of the request.
  package func reachedServer(_ tried: Try) -> Bool {
    indexOfName[DeviceName(incarnation: tried.incarnation, number: tried.number)] != nil
  }

  private var indexOfRequest: [Int: Int] = [:]
  /// A request as the device names it.
  private struct DeviceName: Hashable {
    var incarnation: Int
    var number: Int
  }
  private var indexOfName: [DeviceName: Int] = [:]
  private var starts: [DeviceName: Int64] = [:]
  private var outcomes: [DeviceName: RequestStory.Outcome] = [:]

  /// Entries that were read before.
  private var taken = 0

  package init(_ history: History) {
    self.history = History(header: history.header)
    stories = LifeStories(self.history)
    extend(to: history)
  }

  /// Reads on: the history begins with what was read before.
  mutating func extend(to history: History) {
    self.history = history
    stories.extend(by: history.entries[taken...])
    for order in taken..<history.entries.count {
      take(history.entries[order].event, atNs: history.entries[order].atNs, order: order)
    }
    taken = history.entries.count
  }

  /// Events with a durable receipt, or that became durable later.
  package var durable: [LifeStory] { stories.all.filter(\.isDurable) }
  /// Events of one record step.
  package func events(of label: String) -> [LifeStory] {
    stories.all.filter { $0.label == label && $0.serial != nil }
  }
  /// True where the server stored an event.
  package var acceptedAnything: Bool { stories.all.contains { $0.stored > 0 } }
  /// True where the server's side of the run is in the history at all.
  package var sawServer: Bool { !requests.isEmpty || holdings != nil }
  /// True where the books were read after the device had died for the last time. The runner's own
  /// closing of the device at the very end is no death: it follows the reading.
  package var booksAreOfLastLife: Bool {
    guard let death = deaths.last(where: { $0.how != "closed" }) else { return true }
    return lastBooksOrder > death.order
  }
  /// True where the script set this condition at any time.
  package func hadCondition(_ name: String, _ value: String) -> Bool {
    conditions.contains { $0.name == name && $0.value == value }
  }

  private mutating func take(_ event: HistoryEvent, atNs: Int64, order: Int) {
    switch event {
    case .arrived(let number, let arrival):
      indexOfRequest[number] = requests.count
      var story = RequestStory(number: number, arrivedNs: atNs, order: order, arrival: arrival)
      let name = DeviceName(incarnation: arrival.incarnation, number: arrival.number)
      if arrival.number > 0 {
        indexOfName[name] = requests.count
        story.startedNs = starts[name]
        story.outcome = outcomes[name]
      }
      requests.append(story)
    case .sending(let incarnation, let number):
      starts[DeviceName(incarnation: incarnation, number: number)] = atNs
    case .sent(let incarnation, let number, let text):
      tries.append(
        Try(atNs: atNs, incarnation: incarnation, number: number, outcome: text))
      let name = DeviceName(incarnation: incarnation, number: number)
      let outcome = RequestStory.Outcome(atNs: atNs, text: text)
      // A device that gave up early may be heard before its request reached the server.
      outcomes[name] = outcome
      if let index = indexOfName[name] { requests[index].outcome = outcome }
    case .identified(let number, let attempt, let ids, let contents):
      change(number) {
        $0.ids = ids
        $0.contents = contents
        $0.attempt = attempt
      }
    case .committed(let number, let commit):
      change(number) {
        $0.commit = commit
        $0.committedNs = atNs
      }
    case .answered(let number, let answer):
      change(number) {
        $0.answer = answer
        $0.endedNs = atNs
        $0.endOrder = order
      }
    case .ended(let number, let how):
      change(number) {
        $0.ending = how
        $0.endedNs = $0.endedNs ?? atNs
        $0.endOrder = $0.endOrder ?? order
      }
    case .faultApplied(let rule, let response, let what, let number):
      firedRules.formUnion([rule, HistoryHeader.fault(rule: rule, response: response)])
      change(number) { $0.faults.append(what) }
    case .triggerFired(let step): firedTriggers.insert(step)
    case .missed(let step, let what): missedSteps.append("step \(step), \(what)")
    case .condition(let name, let value):
      if name == "listener" { firedRules.insert(HistoryHeader.fault(listener: value, atNs: atNs)) }
      conditions.append(Condition(atNs: atNs, order: order, name: name, value: value))
    case .started: lives += 1
    case .died(_, let how):
      deaths.append(Death(atNs: atNs, order: order, how: how))
      if how == "reboot" { reboots.append(atNs) }
    case .books(let reading):
      books.append(reading)
      lastBooksOrder = order
    case .drained(let isEmpty): drained = isEmpty
    case .full(let refused): refusedEntries = refused
    case .scanned(let findings): scans.append(findings)
    case .seals(let sightings, let unreadable):
      seals += sightings
      unreadableSeals += unreadable
    case .measured(let bytes): measured.append(bytes)
    case .held(let all): holdings = all
    default: break
    }
  }

  private mutating func change(_ number: Int, _ body: (inout RequestStory) -> Void) {
    guard let index = indexOfRequest[number] else { return }
    body(&requests[index])
  }
}

/// One request as the server saw it.
package struct RequestStory: Sendable, Hashable {
  package var number: Int
  package var arrivedNs: Int64
  /// Its place among the history's entries.
  package var order: Int
  package var arrival: Arrival
  package var ids: [String] = []
  /// The digest of each event's content, in the order of the ids; none where they are not known.
  package var contents: [String] = []
  package var attempt = 0
  package var commit: Commit?
  package var committedNs: Int64?
  package var answer: Answer?
  package var ending: String?
  /// When the answer was sent, or else when the exchange was over.
  package var endedNs: Int64?
  package var endOrder: Int?
  package var faults: [String] = []
  /// When the device started it; nil where the client does not say.
  package var startedNs: Int64?
  /// How it ended for the device; nil where the device did not live to see it.
  package var outcome: Outcome?

  /// A request's end as the device saw it.
  package struct Outcome: Sendable, Hashable {
    package var atNs: Int64
    /// A status, or a word such as `timeout`.
    package var text: String
  }

  /// The answer, where the device got it whole: its own account of the request says the same
  /// status. For a client that does not number its requests, the server's word has to do.
  package var heard: Answer? {
    guard let answer, arrival.number > 0 else { return answer }
    return outcome?.text == String(answer.status) ? answer : nil
  }

  /// True where the client must take the answer as an acknowledgement.
  package var isAcknowledged: Bool {
    guard let heard, (200...299).contains(heard.status) else { return false }
    return heard.contentType?.lowercased().hasPrefix("text/html") != true
  }
  /// True where the answer says that this body must not come again.
  package var isFinalRefusal: Bool {
    guard let status = heard?.status, (400...499).contains(status) else { return false }
    return status != 401 && status != 413 && status != 429
  }
  /// True where the client may only try again later: by what the device saw, and by what the
  /// server sent where the device did not live to see it.
  package var isTemporaryFailure: Bool {
    guard let status = outcome.map({ Int($0.text) }) ?? answer?.status else {
      return outcome != nil || endedNs != nil
    }
    return status == 429 || status >= 500
  }
  /// When it had failed for the client.
  package var failedNs: Int64? { outcome?.atNs ?? endedNs }
}
