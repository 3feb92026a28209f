/// One request, as it came and as it went.
package struct JournalEntry: Sendable {
  package var id: Int
  /// The engine's clock.
  package var atNs: Int64
  package var wallMs: Int64
  package var context: RequestContext
  package var request: HTTPRequest
  /// The whole request came.
  package var isComplete = false
  /// Name of the route that took it; empty when none did.
  package var route = ""
  /// How often this set of events has come, this time included.
  package var attempt = 0
  /// Events in the batch; 0 when it is none.
  package var events = 0
  package var account: String?
  package var problem: ProblemKind?
  package var rule: String?
  package var ruleResponse = 0
  /// Names of faults, effects and toxics that took hold, in order.
  package var effects: [String] = []
  /// Which kind of pattern was too costly on it and so matched nothing.
  package var givenUp: String?
  package var commit: CommitResult?
  package var response: HTTPResponse?
  package var bytesSent = 0
  package var endedNs: Int64?
  /// How it ended; empty while it goes on.
  package var ending = ""

  package init(
    id: Int, atNs: Int64, wallMs: Int64, context: RequestContext, request: HTTPRequest
  ) {
    self.id = id
    self.atNs = atNs
    self.wallMs = wallMs
    self.context = context
    self.request = request
  }

  /// What the entry holds on to, roughly.
  var bytes: Int {
    request.body.count + request.target.utf8.count + request.headers.bytes.count
      + (response?.body.count ?? 0) + JournalEntry.fixedBytes
  }
  private static let fixedBytes = 600
}

/// The last requests, bounded in number and in bytes. Raw bytes only: bodies are decoded when
/// somebody looks.
package final class Journal: Sendable {
  /// Bounds of a journal.
  package struct Limits: Sendable, Hashable {
    package var entries: Int
    package var bytes: Int
    package static let standard = Limits(entries: 10_000, bytes: 64_000_000)
    package init(entries: Int, bytes: Int) {
      self.entries = max(1, entries)
      self.bytes = max(1, bytes)
    }
  }
  /// An entry on the heap, so that the ring moves a pointer and not half a kilobyte. Never leaves
  /// the journal's lock.
  private final class Record {
    var entry: JournalEntry
    init(_ entry: JournalEntry) { self.entry = entry }
  }
  private struct State {
    /// A ring: entry `id` lies at `id % capacity` until it is overwritten or dropped.
    var ring: [Record?] = []
    var nextID = 1
    var firstID = 1
    var bytes = 0
    /// Entries that made room.
    var dropped = 0
    /// Complete requests to the contract's routes since the last reset.
    var complete = 0
  }
  private let limits: Limits
  private let state = Guarded(State())

  package init(limits: Limits = .standard) { self.limits = limits }

  /// Opens an entry for a request; gives it its number.
  func open(_ make: (Int) -> JournalEntry) -> JournalEntry {
    state.access { state in
      let entry = make(state.nextID)
      state.nextID += 1
      put(Record(entry), &state)
      return entry
    }
  }

  /// Replaces an entry that is still there.
  func update(_ entry: JournalEntry) {
    state.access { state in
      guard let record = record(entry.id, state) else { return }
      state.bytes += entry.bytes - record.entry.bytes
      record.entry = entry
      makeRoom(&state, keeping: entry.id)
    }
  }

  /// Tells an entry that is still there how its exchange ended; the rest of it stays.
  func close(_ id: Int, effects: [String], bytesSent: Int, atNs: Int64, ending: String) {
    state.access { state in
      guard let record = record(id, state) else { return }
      record.entry.effects = effects
      record.entry.bytesSent = bytesSent
      record.entry.endedNs = atNs
      record.entry.ending = ending
    }
  }

  /// Counts a complete request; tells how many there are.
  func noteComplete() -> Int {
    state.access { state in
      state.complete += 1
      return state.complete
    }
  }

  /// Complete requests since the start or the last reset.
  package var completeRequests: Int { state.access { $0.complete } }

  /// Entries that made room for newer ones.
  package var dropped: Int { state.access { $0.dropped } }

  /// An entry by its number; nil when it never was or has made room.
  package func entry(_ id: Int) -> JournalEntry? {
    state.access { state in
      record(id, state)?.entry
    }
  }

  /// What is there, oldest first.
  package var entries: [JournalEntry] {
    state.access { state in
      guard !state.ring.isEmpty else { return [] }
      return (state.firstID..<state.nextID).compactMap { state.ring[slot($0)]?.entry }
    }
  }

  /// Forgets all entries; numbers go on, so that a late answer finds nothing to overwrite.
  func reset() {
    state.access { state in
      let next = state.nextID
      state = State()
      state.nextID = next
      state.firstID = next
    }
  }

  private func slot(_ id: Int) -> Int { id % limits.entries }

  private func record(_ id: Int, _ state: State) -> Record? {
    guard id >= state.firstID, id < state.nextID, let record = state.ring[slot(id)],
      record.entry.id == id
    else { return nil }
    return record
  }

  private func put(_ record: Record, _ state: inout State) {
    let id = record.entry.id
    let slot = slot(id)
    while state.ring.count <= slot { state.ring.append(nil) }
    if let old = state.ring[slot] {
      state.bytes -= old.entry.bytes
      state.dropped += 1
      state.firstID = max(state.firstID, old.entry.id + 1)
    }
    state.ring[slot] = record
    state.bytes += record.entry.bytes
    makeRoom(&state, keeping: id)
  }

  /// The newest entry stays, however large, and so does the one that is being put.
  private func makeRoom(_ state: inout State, keeping id: Int) {
    while state.bytes > limits.bytes, state.firstID < state.nextID - 1, state.firstID != id {
      if let old = state.ring[slot(state.firstID)] {
        state.bytes -= old.entry.bytes
        state.dropped += 1
        state.ring[slot(state.firstID)] = nil
      }
      state.firstID += 1
    }
  }
}
