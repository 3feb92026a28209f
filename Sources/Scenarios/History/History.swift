/// A whole run as a value: what was planned, and what happened in order.
package struct History: Sendable, Hashable {
  package var header: HistoryHeader
  package var entries: [HistoryEntry]
  /// How the run ended before its time; nil where it came to its end.
  package var interruption: Interruption?

  /// Why a run did not come to its end: what is not in its history proves nothing.
  package enum Interruption: Sendable, Hashable {
    /// The runner failed.
    case failure(String)
    /// The target could not be reached.
    case unavailable(String)
  }

  package init(header: HistoryHeader, entries: [HistoryEntry] = []) {
    self.header = header
    self.entries = entries
  }

  /// Adds what happened at a moment of the scenario clock.
  package mutating func append(_ event: HistoryEvent, atNs: Int64) {
    entries.append(HistoryEntry(atNs: atNs, event: event))
  }

  /// What stood in the first entries.
  package func prefix(_ count: Int) -> History {
    History(header: header, entries: Array(entries.prefix(count)))
  }
}

/// One thing that happened, and when.
package struct HistoryEntry: Sendable, Hashable {
  /// Nanoseconds of scenario time.
  package var atNs: Int64
  package var event: HistoryEvent

  package init(atNs: Int64, event: HistoryEvent) {
    self.atNs = atNs
    self.event = event
  }
}

/// What a checker and a report must know about the run beyond what happened in it.
package struct HistoryHeader: Sendable, Hashable {
  /// The scenario's title, with its variant.
  package var scenario: String
  package var about: String
  /// The script's file.
  package var file: String
  package var lane: String
  package var seed: UInt64
  /// The command that repeats this run.
  package var replay: String
  /// The script says `"accepts":"none"`.
  package var acceptsNone: Bool
  /// False where nothing of the server's side can be seen: verdicts on it are unknown then.
  package var seesServer: Bool
  /// Crash points are counted in storage operations: receipts may differ between lanes.
  package var hasStorageTriggers: Bool
  /// What the fault plan has: a rule's id (with several responses each as `id#n`), `toxic NAME`,
  /// `listener STATE at TIME`.
  package var plannedRules: [String]
  /// Indices of the `when` steps.
  package var plannedTriggers: [Int]
  /// How long the server remembers an id; nil: for ever.
  package var dedupWindowNs: Int64?
  /// How much of the latest recording a power loss may take: the background sync's interval; 0
  /// where every receipt waits for the device flush.
  package var powerLossWindowNs: Int64
  /// The longest `Retry-After` the device honours.
  package var retryAfterCapNs: Int64
  package var expectations: [ExpectedLine]

  package init(
    scenario: String, about: String = "", file: String = "", lane: String, seed: UInt64 = 0,
    replay: String = "", acceptsNone: Bool = false, seesServer: Bool = true,
    hasStorageTriggers: Bool = false,
    plannedRules: [String] = [], plannedTriggers: [Int] = [], dedupWindowNs: Int64? = nil,
    powerLossWindowNs: Int64 = 500_000_000, retryAfterCapNs: Int64 = 86_400_000_000_000,
    expectations: [ExpectedLine] = []
  ) {
    self.scenario = scenario
    self.about = about
    self.file = file
    self.lane = lane
    self.seed = seed
    self.replay = replay
    self.acceptsNone = acceptsNone
    self.seesServer = seesServer
    self.hasStorageTriggers = hasStorageTriggers
    self.plannedRules = plannedRules
    self.plannedTriggers = plannedTriggers
    self.dedupWindowNs = dedupWindowNs
    self.powerLossWindowNs = powerLossWindowNs
    self.retryAfterCapNs = retryAfterCapNs
    self.expectations = expectations
  }
}

extension HistoryHeader {
  /// How a response of a rule is named among the planned faults, counted from 1.
  static func fault(rule: String, response: Int) -> String { "\(rule)#\(response + 1)" }
  static func fault(toxic: String) -> String { "toxic \(toxic)" }
  static func fault(listener: String, atNs: Int64) -> String {
    "listener \(listener) at \(ScenarioTime.text(atNs))"
  }
}

/// One expectation as it stands in the script.
package struct ExpectedLine: Sendable, Hashable {
  package var key: String
  /// The value as compact JSON text.
  package var value: String
  package var line: Int
  package var column: Int
  /// The script's line, for the caret.
  package var source: String

  package init(key: String, value: String, line: Int = 0, column: Int = 0, source: String = "") {
    self.key = key
    self.value = value
    self.line = line
    self.column = column
    self.source = source
  }
}
