/// Where events of a commit come from.
package struct CommitOrigin: Sendable {
  package var request: Int
  package var connection: Int
  package var incarnation: String
  package var wallMs: Int64
  package var dedupWindowNs: Int64
  package var rejectsConflicts: Bool
  /// Whether somebody wants to know what became of each event.
  package var wantsOutcomes: Bool

  package init(
    request: Int, connection: Int, incarnation: String = "", wallMs: Int64,
    dedupWindowNs: Int64 = 30 * 86_400_000_000_000, rejectsConflicts: Bool = false,
    wantsOutcomes: Bool = false
  ) {
    self.request = request
    self.connection = connection
    self.incarnation = incarnation
    self.wallMs = wallMs
    self.dedupWindowNs = dedupWindowNs
    self.rejectsConflicts = rejectsConflicts
    self.wantsOutcomes = wantsOutcomes
  }
}

/// What became of one event in a commit.
package enum CommitOutcome: Sendable, Hashable {
  case stored
  case duplicate
  /// Known with other content.
  case conflicting
}

/// What became of a batch's events.
package struct CommitResult: Sendable {
  package var stored = 0
  package var duplicatesWithin = 0
  package var duplicatesAcross = 0
  package var conflicting = 0
  /// Events that were rejected for their content.
  package var rejectedConflicts: [EventKey] = []
  /// What became of each event; empty unless asked for.
  package var outcomes: [(key: EventKey, outcome: CommitOutcome)] = []
  package var duplicates: Int { duplicatesWithin + duplicatesAcross }
}

extension Ledger {
  /// Takes events, in one step that other commits see wholly or not at all.
  ///
  /// - Parameters:
  ///   - events: the good events, as many as the response's `commit` says.
  ///   - rejected: how many others are listed under `rejected`, for the counters.
  /// - Throws: `LedgerError` when the file refuses; then nothing was taken.
  package func commit(
    _ events: ArraySlice<DecodedBatch.Event>, rejected: Int, from origin: CommitOrigin
  ) throws -> CommitResult {
    try state.access { state in
      var commit = RunningCommit(origin: origin, state: state)
      let incarnation = Ledger.index(of: origin.incarnation, &state)
      for event in events { commit.take(event, incarnation, &state.table) }
      let counts = state.counts
      commit.count(events.count, rejected, state.table.count, &state.counts)
      do {
        try state.file?.write(commit.touched.map { state.table[$0] }, state)
      } catch {
        commit.undo(&state.table)
        state.counts = counts
        throw error
      }
      return commit.result
    }
  }

  /// Counts a refused request.
  package func noteInvalid() {
    state.access { state in
      state.counts.invalid += 1
      // The refusal stands whatever the file says; the next commit writes the counters again.
      try? state.file?.write([], state)
    }
  }

  /// Names beyond this are not told apart.
  private static let maxIncarnations = 10_000

  private static func index(of incarnation: String, _ state: inout State) -> UInt32 {
    if incarnation.isEmpty { return 0 }
    if let known = state.incarnationIndex[incarnation] { return known }
    guard state.incarnations.count < maxIncarnations else { return 0 }
    let index = UInt32(state.incarnations.count)
    state.incarnations.append(incarnation)
    state.incarnationIndex[incarnation] = index
    return index
  }
}

/// One commit at work, able to take everything back.
private struct RunningCommit {
  let origin: CommitOrigin
  let firstNew: Int
  /// Tells an id that stands twice in this batch from one of an earlier batch.
  let request: UInt32
  let keepsUndo: Bool
  var result = CommitResult()
  var touched: [Int] = []
  var before: [(index: Int, slot: LedgerTable.Slot)] = []

  init(origin: CommitOrigin, state: Ledger.State) {
    self.origin = origin
    firstNew = state.table.count
    request = UInt32(truncatingIfNeeded: origin.request)
    keepsUndo = state.file != nil
  }

  mutating func take(
    _ event: DecodedBatch.Event, _ incarnation: UInt32, _ table: inout LedgerTable
  ) {
    let outcome: CommitOutcome
    if let index = table.find(event.key) {
      if keepsUndo {
        before.append((index, table[index]))
        touched.append(index)
      }
      outcome = meetAgain(event, &table[index])
    } else {
      if keepsUndo { touched.append(table.count) }
      table.append(newSlot(event, incarnation))
      outcome = .stored
    }
    if outcome == .stored { result.stored += 1 }
    if origin.wantsOutcomes { result.outcomes.append((event.key, outcome)) }
  }

  private mutating func meetAgain(
    _ event: DecodedBatch.Event, _ slot: inout LedgerTable.Slot
  ) -> CommitOutcome {
    let isWithin = slot.lastRequest == request
    let ageNs = (origin.wallMs - slot.firstSeenMs).multipliedReportingOverflow(by: 1_000_000)
    let isForgotten =
      !isWithin && (ageNs.overflow || ageNs.partialValue >= origin.dedupWindowNs)
    slot.times += 1
    slot.lastRequest = request
    slot.lastSeenMs = origin.wallMs
    if isForgotten {
      // The server would store it once more; the new content is what counts from here.
      slot.timesStored += 1
      slot.firstSeenMs = origin.wallMs
      slot.content = event.content
      return .stored
    }
    let isConflict = slot.content != event.content
    if isConflict {
      slot.conflicts += 1
      result.conflicting += 1
    }
    if isConflict, origin.rejectsConflicts {
      result.rejectedConflicts.append(event.key)
    } else if isWithin {
      result.duplicatesWithin += 1
    } else {
      result.duplicatesAcross += 1
    }
    return isConflict ? .conflicting : .duplicate
  }

  private func newSlot(_ event: DecodedBatch.Event, _ incarnation: UInt32) -> LedgerTable.Slot {
    LedgerTable.Slot(
      key: event.key, content: event.content, firstSeenMs: origin.wallMs,
      lastSeenMs: origin.wallMs, firstRequest: request,
      lastRequest: request,
      firstConnection: UInt32(truncatingIfNeeded: origin.connection), times: 1, timesStored: 1,
      conflicts: 0, incarnation: incarnation)
  }

  func count(_ events: Int, _ rejected: Int, _ unique: Int, _ counts: inout LedgerCounts) {
    counts.batches += 1
    counts.received += events + rejected
    counts.stored += result.stored
    counts.unique = unique
    counts.duplicatesWithin += result.duplicatesWithin
    counts.duplicatesAcross += result.duplicatesAcross
    counts.conflicting += result.conflicting
    counts.rejected += rejected + result.rejectedConflicts.count
  }

  func undo(_ table: inout LedgerTable) {
    table.removeLast(downTo: firstNew)
    // In reverse: the first of several copies of a slot is the one from before.
    for (index, slot) in before.reversed() where index < firstNew { table[index] = slot }
  }
}
