/// What the server believes about every event: the independent witness of a test.
///
/// Thread safe. In memory, or with a SQLite file behind it that outlives the process: an answer
/// leaves only after the file has what it says.
public final class Ledger: Sendable {
  struct State: Sendable {
    var table = LedgerTable()
    var counts = LedgerCounts()
    var incarnations: [String] = [""]
    var incarnationIndex: [String: UInt32] = ["": 0]
    var file: SQLiteLedgerFile?
  }
  let state: Guarded<State>

  /// A ledger in memory.
  public init() { state = Guarded(State()) }

  /// A ledger with a file; what an earlier process wrote is there again.
  ///
  /// - Parameter path: the SQLite file; made when absent.
  /// - Throws: `LedgerError` when the file cannot be opened, is no ledger, is of a newer version, or
  ///   another ledger has it (which is waited for, 5 s).
  public init(path: String) throws {
    let file = try SQLiteLedgerFile(path: path)
    var state = State()
    try file.load(into: &state)
    state.file = file
    self.state = Guarded(state)
  }

  /// Forgets what is in memory and reads the file again, as the next process does. Without a file
  /// nothing is forgotten.
  ///
  /// - Throws: `LedgerError` when the file cannot be read any more; the ledger is empty then.
  package func reopen() throws {
    try state.access { state in
      guard let path = state.file?.path else { return }
      state = State()
      let file = try SQLiteLedgerFile(path: path)
      try file.load(into: &state)
      state.file = file
    }
  }

  /// Counters since the ledger was made or reset.
  public var counts: LedgerCounts { state.access { $0.counts } }

  /// What is known about an event.
  ///
  /// - Parameter id: the UUID, in either case.
  /// - Returns: nil when it was never seen, or is no UUID.
  public func entry(_ id: String) -> LedgerEntry? {
    guard let key = EventKey(id) else { return nil }
    return state.access { state in
      state.table.find(key).map { Ledger.entry(state.table[$0], state) }
    }
  }

  /// Events in the order in which they were first seen.
  ///
  /// - Parameters:
  ///   - offset: how many to leave out; from 0.
  ///   - limit: how many at most.
  public func entries(offset: Int = 0, limit: Int = .max) -> [LedgerEntry] {
    state.access { state in
      state.table.slots.dropFirst(max(0, offset)).prefix(max(0, limit)).map {
        Ledger.entry($0, state)
      }
    }
  }

  /// Forgets everything, in the file too.
  ///
  /// - Throws: `LedgerError` when the file refuses; then nothing is forgotten.
  public func reset() throws {
    try state.access { state in
      try state.file?.clear()
      let file = state.file
      state = State()
      state.file = file
    }
  }

  private static func entry(_ slot: LedgerTable.Slot, _ state: State) -> LedgerEntry {
    LedgerEntry(
      id: slot.key.text, firstSeenMs: slot.firstSeenMs, lastSeenMs: slot.lastSeenMs,
      timesSeen: Int(slot.times), timesStored: Int(slot.timesStored),
      conflicts: Int(slot.conflicts), firstRequest: Int(slot.firstRequest),
      firstConnection: Int(slot.firstConnection),
      incarnation: state.incarnations[Int(slot.incarnation)])
  }
}

/// Counters of the ledger. `received = stored + duplicatesWithin + duplicatesAcross + rejected`.
public struct LedgerCounts: Sendable, Hashable {
  /// Batches of which something was committed.
  public var batches = 0
  /// Events in committed batches.
  public var received = 0
  /// Events taken as new.
  public var stored = 0
  /// Different ids.
  public var unique = 0
  /// Events whose id stood in the same batch before.
  public var duplicatesWithin = 0
  /// Events whose id came in an earlier batch.
  public var duplicatesAcross = 0
  /// Events whose id was known with other content.
  public var conflicting = 0
  /// Events listed under `rejected`.
  public var rejected = 0
  /// Requests to the contract that were refused.
  public var invalid = 0

  /// All zero.
  public init() {}
}

/// What the ledger knows about one event.
public struct LedgerEntry: Sendable, Hashable {
  /// The UUID, lower case.
  public let id: String
  /// When it first came, milliseconds since 1970 on the engine's wall clock.
  public let firstSeenMs: Int64
  /// When it last came.
  public let lastSeenMs: Int64
  /// How often it came in committed batches.
  public let timesSeen: Int
  /// How often it was taken as new: more than once only after the dedup window.
  public let timesStored: Int
  /// How often it came with other content.
  public let conflicts: Int
  /// The journal's number of the request that first brought it.
  public let firstRequest: Int
  /// The connection of that request.
  public let firstConnection: Int
  /// The client's incarnation header in that request; empty when it had none.
  public let incarnation: String
}

/// The ledger's file failed.
public struct LedgerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// SQLite's extended result code; 0 where the fault is not SQLite's.
  public let code: Int
  /// What was done: `open`, `commit`, …
  public let operation: String
  /// SQLite's words.
  public let cause: String

  /// `ledger file: commit: database or disk is full (13)`.
  public var description: String { "ledger file: \(operation): \(cause) (\(code))" }
}
