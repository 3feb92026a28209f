import Dispatch

extension SQLiteEventStore {
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
      state.withLock(waitingAtMostMs: 0) { write(event, &$0) } ?? appendInGroup(event)
    tell(answer.events)
    if answer.isHalfFull { askForRestart() }
    return answer.outcome
  }

  /// Under the store's lock: the caller's event and those of all who wait.
  private func write(_ event: NewEvent, _ state: inout State) -> Answer {
    guard let core = state.core else { return Answer(outcome: .blocked(state.reason)) }
    let others = takeTickets()
    let outcome: AppendOutcome
    if others.isEmpty {
      outcome = core.append(event)
    } else {
      outcome = write(others, and: event, &state)
    }
    return Answer(
      outcome: outcome, isHalfFull: core.isLogHalfFull, events: core.takeEvents())
  }

  private func appendInGroup(_ event: NewEvent) -> Answer {
    let ticket = AppendTicket(event)
    tickets.withLock { $0.append(ticket) }
    let answer = state.withLock(waitingAtMostMs: configuration.appendWaitMs) { state in
      served(ticket, &state)
    }
    if let answer { return answer }
    let isTaken = tickets.withLock { waiting -> Bool in
      waiting.removeAll { $0 === ticket }
      return ticket.isTaken
    }
    guard isTaken else { return Answer(outcome: .blocked(.busy)) }
    // It is being written at this moment: the answer comes with the lock.
    return state.withLock { served(ticket, &$0) }
  }

  /// Under the store's lock: the answer that somebody left, or this caller's commits for the
  /// groups up to its own.
  private func served(_ ticket: AppendTicket, _ state: inout State) -> Answer {
    while ticket.outcome == nil, commitGroup(&state) {}
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
