import Dispatch

/// An event waiting for the store: whoever holds the lock next writes for all that wait.
final class AppendTicket: @unchecked Sendable {
  // Guard: the store's `tickets` lock. Nobody else knows a ticket with a callback once it is
  // taken.
  let event: NewEvent
  /// Nil where a caller stands waiting for the outcome.
  let callback: (@Sendable (AppendOutcome) -> Void)?
  var isTaken = false
  var outcome: AppendOutcome?
  /// Set by a caller who waits no longer although the event is being written.
  var late: LateAnswer?

  init(_ event: NewEvent, callback: (@Sendable (AppendOutcome) -> Void)? = nil) {
    self.event = event
    self.callback = callback
  }

  /// After a sync that covers the commit, or failed.
  func tell(_ block: StoreBlock?, syncedThrough: Int64) {
    let outcome = self.outcome ?? .blocked(.busy)
    if case .syncPending(let sequence) = outcome, sequence <= syncedThrough {
      callback?(.durable(sequence: sequence))
    } else {
      callback?(outcome.synced(unless: block))
    }
  }
}

/// Group commit: many waiting events in one transaction.
extension SQLiteEventStore {
  /// Events in one commit, at most.
  private static let maxGroup = 64
  /// Beyond so many bytes of events the next one waits for the next commit.
  private static let maxGroupBytes = 64_000
  /// Waiting events, at most; the next caller writes a group before it adds its own.
  private static let maxWaiting = 256

  /// Leaves the event for the thread that commits and syncs, or for whoever has the lock before.
  package func appendDurably(
    _ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void
  ) {
    guard configuration.durability == .powerLoss, configuration.usesBackgroundThreads else {
      let outcome = append(event)
      guard case .syncPending = outcome else { return callback(outcome) }
      return whenSynced { callback(outcome.synced(unless: $0)) }
    }
    let ticket = AppendTicket(event, callback: callback)
    let isFull = tickets.withLock { waiting -> Bool in
      guard waiting.count < SQLiteEventStore.maxWaiting else { return true }
      waiting.append(ticket)
      return false
    }
    if isFull {
      // The pace is more than the medium's: the caller writes, and waits as `append` does.
      var patience = Patience(limitMs: configuration.appendWaitMs)
      let finish: LateAnswer = { [self] outcome in
        whenSynced { callback(outcome.synced(unless: $0)) }
      }
      if let outcome = append(event, patience: &patience, late: { finish }) { finish(outcome) }
      return
    }
    askForSync()
  }

  /// On the sync thread: everything that waits is written. What has an answer by now is returned,
  /// to be told after a sync.
  func commitWaiting() -> [AppendTicket] {
    let (answered, events) = state.withLock { state -> ([AppendTicket], [StoreEvent]) in
      commitWaiting(&state)
      defer { state.answered = [] }
      return (state.answered, state.core?.takeEvents() ?? [])
    }
    tell(events)
    let hindered = answered.filter { $0.outcome == .blocked(.walBudget) }
    if !hindered.isEmpty {
      let outcomes = append(batch: hindered.map(\.event))
      for (ticket, outcome) in zip(hindered, outcomes) { ticket.outcome = outcome }
    }
    askForRestartIfHalfFull()
    return answered
  }

  /// Under the store's lock.
  func commitWaiting(_ state: inout State) {
    while commitGroup(&state) {}
  }

  /// Under the store's lock: one commit for those who have waited longest. False where none does.
  func commitGroup(_ state: inout State) -> Bool {
    let group = takeTickets()
    if group.isEmpty { return false }
    _ = write(group, and: nil, &state)
    return true
  }

  /// Under the store's lock: the caller's event and those of all who wait.
  func write(_ tickets: [AppendTicket], and event: NewEvent?, _ state: inout State)
    -> AppendOutcome
  {
    let events = tickets.map(\.event) + (event.map { [$0] } ?? [])
    let outcomes =
      state.core?.append(group: events) ?? events.map { _ in .blocked(state.reason) }
    settle(tickets, outcomes)
    state.answered += tickets.filter { $0.callback != nil }
    return outcomes.last ?? .blocked(.busy)
  }

  /// Writes the answers down; those whose callers wait no longer are told on a thread of its own.
  func settle(_ group: [AppendTicket], _ outcomes: [AppendOutcome]) {
    let late = tickets.withLock { _ in
      zip(group, outcomes).compactMap { ticket, outcome -> (LateAnswer, AppendOutcome)? in
        ticket.outcome = outcome
        return ticket.late.map { ($0, outcome) }
      }
    }
    for (late, outcome) in late { lateQueue.async { late(outcome) } }
  }

  func takeTickets() -> [AppendTicket] {
    tickets.withLock { waiting in
      guard !waiting.isEmpty else { return [] }
      var bytes = 0
      let group = Array(
        waiting.prefix(SQLiteEventStore.maxGroup).prefix { ticket in
          defer { bytes += ticket.event.storedBytes }
          return bytes < SQLiteEventStore.maxGroupBytes
        })
      for ticket in group { ticket.isTaken = true }
      waiting.removeFirst(group.count)
      return group
    }
  }
}
