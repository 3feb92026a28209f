/// Being a guest: time in the background is asked for, used, and given back exactly once.
extension DeliveryEngine {
  mutating func background(now: Moment) {
    guard isForeground else { return }
    isForeground = false
    isAtRest = false
    emit(.sync)
    let hasWork = pendingSince != nil || isWanted || flight != .idle || !waiters.isEmpty
    if hasWork, hasConsent {
      askForBackgroundTime()
      trigger()
    }
    if hasWork { scheduleTask() }
  }

  /// Until it is refused, the time counts as granted.
  mutating func askForBackgroundTime() {
    guard assertion == nil else { return }
    let generation = nextGeneration()
    assertion = generation
    emit(.beginBackgroundTime(generation: generation))
  }

  private mutating func scheduleTask() {
    guard policy.schedulesBackgroundTasks, !lowPower, hasConsent else { return }
    emit(.scheduleBackgroundTask)
  }

  /// The system takes the time back, or never gave it.
  mutating func assertionOver(_ generation: UInt64, wasGranted: Bool, now: Moment) {
    guard assertion == generation else { return }
    assertion = nil
    stopWithoutPermission(now: now)
    // A background task may go on: its store stays open.
    if hasPermission { emit(.sync) } else { clean() }
    if wasGranted { emit(.endBackgroundTime(generation: generation)) }
  }

  mutating func taskGranted(_ id: Int, _ deadline: Moment?, now: Moment) {
    guard !isShutDown, hasConsent, tasks.count < DeliveryEngine.maxTasks else {
      return emit(.completeTask(id: id, success: false))
    }
    tasks[id] = .some(deadline)
    isAtRest = false
    reopen()
    mayProbe = true
    pace.occasion()
    trigger()
    // From within the task, as the system wants it: the next one is asked for first.
    scheduleTask()
  }

  mutating func taskExpiring(_ id: Int, now: Moment) {
    guard tasks[id] != nil else { return }
    tasks[id] = nil
    stopWithoutPermission(now: now)
    if !hasPermission { clean() }
    emit(.completeTask(id: id, success: false))
  }

  mutating func completeTask(_ id: Int, success: Bool) {
    guard tasks.removeValue(forKey: id) != nil else { return }
    emit(.sync)
    emit(.completeTask(id: id, success: success))
  }

  /// Nobody grants time any more: the request is cancelled, rows are kept, and who waits for a
  /// delivery hears that there will be none.
  mutating func stopWithoutPermission(now: Moment) {
    guard !hasPermission, !isShutDown else { return }
    stop()
    if !waiters.isEmpty { resumeWaiters(ending(blocker(now: now)) ?? .timedOut) { _ in true } }
  }

  /// A synced stop; in a shared folder without any file lock.
  private mutating func clean() {
    emit(.sync)
    if policy.directoryIsShared, storage == .open, !isForeground {
      emit(.suspendStore)
      storage = .closed
    }
    isAtRest = true
  }

  /// Background tasks end as soon as nothing more can be done in their time, in front as well: the
  /// system counts what an app takes. A success is said only where nothing is left to be sent.
  mutating func settleTasks(now: Moment) {
    guard !tasks.isEmpty, isWorkOver(now: now) else { return }
    let isBlocked = storage != .open || isBufferUnwritten
    for id in tasks.keys.sorted() {
      completeTask(id, success: !isBlocked && (!isWanted || !hasConsent))
    }
  }

  /// In the background: gives back what is not needed, and comes to a clean stop.
  mutating func rest(now: Moment) {
    guard !isForeground, !isShutDown, !isAtRest, isWorkOver(now: now) else { return }
    guard waiters.isEmpty, tasks.isEmpty else { return }
    // The memory buffer is still to be written; its answer comes here again.
    guard !isBufferUnwritten else { return }
    clean()
    if let generation = assertion {
      assertion = nil
      emit(.endBackgroundTime(generation: generation))
    }
  }

  /// Nothing is under way, and nothing can be within the time that is usually granted.
  private func isWorkOver(now: Moment) -> Bool {
    guard flight == .idle, ahead == .none, token.asking == nil, storage != .opening else {
      return false
    }
    guard isWanted else { return true }
    switch blocker(now: now) {
    case nil: return false
    case .storage: return true
    case .serverGate(let until), .refusals(let until), .backoff(let until):
      return until.milliseconds(since: now) > DeliveryEngine.shortWaitMs
    case .disabled, .suspended, .offline, .token: return true
    case .asking:
      // A changed token may have to wait for its turn.
      return (pace.due?.milliseconds(since: now) ?? 0) > DeliveryEngine.shortWaitMs
    }
  }

  static let maxTasks = 16
  static let shortWaitMs: Int64 = 10_000
}
