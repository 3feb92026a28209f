import Dispatch

/// One caller waiting for the store: whoever holds the lock next writes for all that wait.
final class AppendTicket: @unchecked Sendable {
  // Guard: the store's `tickets` lock for `isTaken`; `outcome` is written by the holder of the
  // store's lock and read after that lock was had.
  let event: NewEvent
  var isTaken = false
  var outcome: AppendOutcome?

  init(_ event: NewEvent) { self.event = event }
}

extension SQLiteEventStore {
  /// Callers served by one commit, at most.
  private static let maxGroup = 64
  /// Beyond so many bytes of events the next caller waits for the next commit.
  private static let maxGroupBytes = 64_000

  package func append(_ event: NewEvent) -> AppendOutcome {
    let outcome = appendOnce(event)
    guard outcome == .blocked(.walBudget), waitForRestart() else { return outcome }
    return appendOnce(event)
  }

  private struct Answer {
    var outcome: AppendOutcome
    var isHalfFull = false
    var events: [StoreEvent] = []
  }

  private func appendOnce(_ event: NewEvent) -> AppendOutcome {
    let answer =
      state.withLock(waitingAtMostMs: 0) { write(event, $0) } ?? appendInGroup(event)
    tell(answer.events)
    if answer.isHalfFull { askForRestart() }
    return answer.outcome
  }

  /// Under the store's lock: the caller's event and those of all who wait.
  private func write(_ event: NewEvent, _ state: State) -> Answer {
    guard let core = state.core else { return Answer(outcome: .blocked(state.reason)) }
    let others = takeTickets()
    let outcome: AppendOutcome
    if others.isEmpty {
      outcome = core.append(event)
    } else {
      outcome = write(others, and: event, core)
    }
    return Answer(
      outcome: outcome, isHalfFull: core.isLogHalfFull, events: core.takeEvents())
  }

  private func write(
    _ tickets: [AppendTicket], and event: NewEvent?, _ core: StoreCore
  ) -> AppendOutcome {
    let events = tickets.map(\.event) + (event.map { [$0] } ?? [])
    let outcomes = core.append(group: events)
    for (ticket, outcome) in zip(tickets, outcomes) { ticket.outcome = outcome }
    return outcomes.last ?? .blocked(.busy)
  }

  private func takeTickets() -> [AppendTicket] {
    tickets.withLock { waiting in
      guard !waiting.isEmpty else { return [] }
      var bytes = 0
      let group = Array(
        waiting.prefix(SQLiteEventStore.maxGroup).prefix { ticket in
          defer { bytes += ticket.event.json.count }
          return bytes < SQLiteEventStore.maxGroupBytes
        })
      for ticket in group { ticket.isTaken = true }
      waiting.removeFirst(group.count)
      return group
    }
  }

  private func appendInGroup(_ event: NewEvent) -> Answer {
    let ticket = AppendTicket(event)
    tickets.withLock { $0.append(ticket) }
    let answer = state.withLock(waitingAtMostMs: configuration.appendWaitMs) { state in
      served(ticket, state)
    }
    if let answer { return answer }
    let isTaken = tickets.withLock { waiting -> Bool in
      waiting.removeAll { $0 === ticket }
      return ticket.isTaken
    }
    guard isTaken else { return Answer(outcome: .blocked(.busy)) }
    // It is being written at this moment: the answer comes with the lock.
    return state.withLock { served(ticket, $0) }
  }

  /// Under the store's lock: the answer that somebody left, or this caller's commits for the
  /// groups up to its own.
  private func served(_ ticket: AppendTicket, _ state: State) -> Answer {
    while ticket.outcome == nil {
      let group = takeTickets()
      if group.isEmpty { break }
      if let core = state.core {
        _ = write(group, and: nil, core)
      } else {
        for other in group { other.outcome = .blocked(state.reason) }
      }
    }
    return Answer(
      outcome: ticket.outcome ?? .blocked(.busy), isHalfFull: state.core?.isLogHalfFull ?? false,
      events: state.core?.takeEvents() ?? [])
  }

  package func append(batch events: [NewEvent]) -> [AppendOutcome] {
    var outcomes: [AppendOutcome] = []
    var hasRestarted = false
    while outcomes.count < events.count {
      let rest = events[outcomes.count...]
      let chunk: [AppendOutcome]
      switch onCore({ $0.append(chunk: rest) }) {
      case .success(let answers): chunk = answers
      case .failure(let blocked): chunk = [.blocked(blocked.reason)]
      }
      if chunk.last == .blocked(.walBudget), !hasRestarted {
        restartLog()
        hasRestarted = true
        continue
      }
      hasRestarted = false
      outcomes += chunk
      if case .blocked = chunk.last { break }
    }
    askForRestartIfHalfFull()
    return outcomes
  }
}
