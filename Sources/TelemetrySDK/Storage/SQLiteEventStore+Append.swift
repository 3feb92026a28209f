import Dispatch

extension SQLiteEventStore {
  package func append(_ event: NewEvent) -> AppendOutcome {
    var patience = Patience(limitMs: configuration.appendWaitMs)
    let late = LateOutcome()
    return append(event, patience: &patience, late: { late.takes }) ?? late.wait()
  }

  package func append(
    _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
  ) -> AppendOutcome? {
    let outcome = appendOnce(event, &patience, late)
    guard outcome == .blocked(.walBudget), waitForRestart(&patience) else { return outcome }
    return appendOnce(event, &patience, late)
  }

  private struct Answer {
    /// Nil where it comes late.
    var outcome: AppendOutcome?
    var isHalfFull = false
    var events: [StoreEvent] = []
  }

  private func appendOnce(
    _ event: NewEvent, _ patience: inout Patience, _ late: () -> LateAnswer
  ) -> AppendOutcome? {
    let left = patience
    let answer =
      state.withLock(waitingAtMostMs: 0) { write(event, &$0, left) }
      ?? appendInGroup(event, &patience, late)
    tell(answer.events)
    if answer.isHalfFull { askForRestart() }
    return answer.outcome
  }

  /// Under the store's lock: the caller's event and those of all who wait.
  private func write(_ event: NewEvent, _ state: inout State, _ patience: Patience) -> Answer {
    guard let core = state.core else { return Answer(outcome: .blocked(state.reason)) }
    let others = takeTickets()
    var outcome = AppendOutcome.blocked(.busy)
    core.waiting(atMost: patience) {
      outcome = others.isEmpty ? core.append(event) : write(others, and: event, &state)
    }
    return Answer(
      outcome: outcome, isHalfFull: core.isLogHalfFull, events: core.takeEvents())
  }

  private func appendInGroup(
    _ event: NewEvent, _ patience: inout Patience, _ late: () -> LateAnswer
  ) -> Answer {
    let ticket = AppendTicket(event)
    tickets.withLock { $0.append(ticket) }
    _ = patience.leftNs()
    let left = patience
    if let answer = state.withLock(waiting: &patience, { served(ticket, &$0, left) }) {
      return answer
    }
    let takes = late()
    return tickets.withLock { waiting in
      if let outcome = ticket.outcome { return Answer(outcome: outcome) }
      guard ticket.isTaken else {
        waiting.removeAll { $0 === ticket }
        return Answer(outcome: .blocked(.busy))
      }
      // It is being written at this moment. The caller has waited long enough, and must not keep
      // a second copy: it is told later what came of it.
      ticket.late = takes
      return Answer()
    }
  }

  /// Under the store's lock: the answer that somebody left, or this caller's commits for the
  /// groups up to its own.
  private func served(
    _ ticket: AppendTicket, _ state: inout State, _ patience: Patience
  ) -> Answer {
    var outcome = tickets.withLock { _ in ticket.outcome }
    while outcome == nil {
      var wrote = false
      if let core = state.core {
        core.waiting(atMost: patience) { wrote = commitGroup(&state) }
      } else {
        wrote = commitGroup(&state)
      }
      outcome = tickets.withLock { _ in ticket.outcome }
      if !wrote { break }
    }
    return Answer(
      outcome: outcome ?? .blocked(.busy), isHalfFull: state.core?.isLogHalfFull ?? false,
      events: state.core?.takeEvents() ?? [])
  }

  // MARK: - Many at once

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

  /// For callers on the app's threads: the log is restarted by the store's own thread.
  package func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome] {
    var outcomes: [AppendOutcome] = []
    var needsRestart = false
    while outcomes.count < events.count {
      let rest = events[outcomes.count...]
      let left = patience
      let result = onCore(waiting: &patience) { core -> [AppendOutcome] in
        defer { needsRestart = core.isLogHalfFull }
        var answers: [AppendOutcome] = []
        core.waiting(atMost: left) { answers = core.append(chunk: rest) }
        return answers
      }
      switch result {
      case .success(let answers): outcomes += answers
      case .failure(let blocked): outcomes.append(.blocked(blocked.reason))
      }
      if case .blocked = outcomes.last { break }
    }
    if needsRestart || outcomes.last == .blocked(.walBudget) { askForRestart() }
    return outcomes
  }
}

/// Waits for an answer as long as it takes.
private final class LateOutcome: Sendable {
  private let outcome = Guarded<AppendOutcome?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  var takes: LateAnswer {
    { [self] answer in
      outcome.withLock { $0 = answer }
      isThere.signal()
    }
  }

  func wait() -> AppendOutcome {
    isThere.wait()
    return outcome.withLock { $0 } ?? .blocked(.busy)
  }
}
