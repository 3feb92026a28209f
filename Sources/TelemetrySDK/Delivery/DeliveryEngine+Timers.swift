/// Which timers should run, derived from the state after every input: so none is forgotten, and
/// none leaks.
extension DeliveryEngine {
  mutating func settleTimers(now: Moment) {
    let retry = retryMoment(now: now)
    for timer in DeliveryTimer.allCases {
      let wanted = isShutDown ? nil : timer == .retry ? retry : moment(of: timer, now: now)
      guard timers[timer]?.at != wanted else { continue }
      if let wanted {
        let generation = nextGeneration()
        timers[timer] = TimerState(at: wanted, generation: generation)
        emit(.setTimer(timer, at: wanted, generation: generation))
      } else {
        timers[timer] = nil
        emit(.cancelTimer(timer))
      }
    }
  }

  private mutating func moment(of timer: DeliveryTimer, now: Moment) -> Moment? {
    switch timer {
    case .flush: return flushMoment
    case .retry: return nil
    case .probe: return probeMoment(now: now)
    case .request:
      guard case .sending(let upload) = flight else { return nil }
      return upload.deadline
    case .token: return token.asking?.deadline ?? (hasConsent ? pace.due : nil)
    case .settle:
      guard case .settling(let settling) = flight else { return nil }
      return settling.retryAt
    case .storage:
      if case .blocked(_, let next) = storage { return next }
      return storage == .open ? writesRetryAt : nil
    case .waiter: return (waiters.map(\.deadline) + tasks.values.compactMap { $0 }).min()
    case .upkeep:
      guard storage == .open, !isTending, let dirtySince else { return nil }
      return dirtySince.adding(milliseconds: policy.syncIntervalMs)
    }
  }

  /// Recorded events go out after a while although they fill no batch.
  private var flushMoment: Moment? {
    guard isForeground, !isWanted, hasConsent, storage == .open, let pendingSince else {
      return nil
    }
    return pendingSince.adding(
      milliseconds: lowPower ? policy.lowPowerIntervalMs : policy.flushIntervalMs)
  }

  private func retryMoment(now: Moment) -> Moment? {
    guard isWanted, flight == .idle else { return nil }
    return blocker(now: now)?.until
  }

  /// The path may lie, and a token may have come without a word: a try now and then, while active.
  private mutating func probeMoment(now: Moment) -> Moment? {
    let isStuck: Bool
    switch blocker(now: now) {
    case .offline: isStuck = policy.allows(path)
    case .token: isStuck = true
    default: isStuck = false
    }
    guard isForeground, isWanted, flight == .idle, isStuck else {
      if flight == .idle { probeDue = nil }
      return nil
    }
    let due = probeDue ?? now.adding(milliseconds: policy.probeIntervalMs)
    probeDue = due
    return due
  }

  mutating func timerFired(_ timer: DeliveryTimer, _ generation: UInt64, now: Moment) {
    guard let state = timers[timer], state.generation == generation else { return }
    timers[timer] = nil
    // One that came early is set again.
    guard now >= state.at else { return }
    switch timer {
    case .flush: trigger()
    case .retry: break  // The delay is over; `advance` sees it.
    case .probe:
      probeDue = nil
      mayProbe = true
      occasionToAsk()
    case .request: requestTimedOut(now: now)
    case .token: tokenAnswered(token.asking?.generation ?? 0, nil)
    case .settle: settleAgain()
    case .storage: openAgain()
    case .waiter: expireTasks(now: now)
    case .upkeep:
      dirtySince = nil
      isTending = true
      emit(.upkeep)
    }
  }

  private mutating func requestTimedOut(now: Moment) {
    guard case .sending(let upload) = flight else { return }
    emit(.cancelUpload(generation: upload.generation))
    uploadEnded(
      upload.generation,
      .failed(code: DeliveryEngine.timedOutCode, lostReusedConnection: false), now: now)
  }

  private mutating func settleAgain() {
    guard case .settling(var settling) = flight else { return }
    // What hinders a delete may be a file that closed or is damaged.
    if storage == .open { emit(.openStore) }
    settling.generation = nextGeneration()
    settling.retryAt = nil
    flight = .settling(settling)
    emit(
      .settle(
        generation: settling.generation, batch: settling.batch.number, settling.settlement))
  }

  private mutating func openAgain() {
    if case .blocked(let tries, _) = storage {
      storage = .blocked(tries: tries, next: nil)
      emit(.openStore)
    } else {
      writesRetryAt = nil
      isWritingBuffer = true
      emit(writesNeedOpening ? .openStore : .writeBuffer)
    }
  }

  private mutating func expireTasks(now: Moment) {
    for (id, deadline) in tasks.sorted(by: { $0.key < $1.key }) {
      if let deadline, deadline <= now { taskExpiring(id, now: now) }
    }
  }

  /// `URLError.timedOut`.
  static let timedOutCode = -1001
}
