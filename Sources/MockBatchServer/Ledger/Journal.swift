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
  private struct State {
    /// A ring: entry `id` lies at `id % capacity` until it is overwritten or dropped.
    var ring: [JournalEntry?] = []
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
      put(entry, &state)
      return entry
    }
  }

  /// Replaces an entry that is still there.
  func update(_ entry: JournalEntry) {
    state.access { state in
      guard entry.id >= state.firstID, let old = state.ring[slot(entry.id)], old.id == entry.id
      else { return }
      state.bytes -= old.bytes
      put(entry, &state)
    }
  }

  /// Tells an entry that is still there how its exchange ended; the rest of it stays.
  func close(_ entry: JournalEntry) {
    state.access { state in
      let slot = slot(entry.id)
      guard entry.id >= state.firstID, state.ring[slot]?.id == entry.id else { return }
      state.ring[slot]?.effects = entry.effects
      state.ring[slot]?.bytesSent = entry.bytesSent
      state.ring[slot]?.endedNs = entry.endedNs
      state.ring[slot]?.ending = entry.ending
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
      guard id >= state.firstID, id < state.nextID else { return nil }
      return state.ring[slot(id)]
    }
  }

  /// What is there, oldest first.
  package var entries: [JournalEntry] {
    state.access { state in
      guard !state.ring.isEmpty else { return [] }
      return (state.firstID..<state.nextID).compactMap { state.ring[slot($0)] }
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

  private func put(_ entry: JournalEntry, _ state: inout State) {
    let slot = slot(entry.id)
    while state.ring.count <= slot { state.ring.append(nil) }
    if let old = state.ring[slot], old.id != entry.id {
      state.bytes -= old.bytes
      state.dropped += 1
      state.firstID = max(state.firstID, old.id + 1)
    }
    state.ring[slot] = entry
    state.bytes += entry.bytes
    // The newest entry stays, however large.
    while state.bytes > limits.bytes, state.firstID < state.nextID - 1 {
      if let old = state.ring[self.slot(state.firstID)] {
        if old.id == entry.id { break }
        state.bytes -= old.bytes
        state.dropped += 1
        state.ring[self.slot(state.firstID)] = nil
      }
      state.firstID += 1
    }
  }
}
