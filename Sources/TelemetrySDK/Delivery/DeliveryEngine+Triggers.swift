/// What the host, the phone and the recorder say: the reasons to deliver.
extension DeliveryEngine {
  /// Everything recorded so far is meant to go.
  mutating func trigger() {
    guard mayHaveRows else { return }
    isWanted = true
    drainThrough = max(drainThrough, lastSequence == 0 ? .max : lastSequence)
  }

  mutating func recorded(events: Int, bytes: Int, last: Int64, now: Moment) {
    lastSequence = max(lastSequence, last)
    guard events > 0 else { return }
    mayHaveRows = true
    pendingEvents += events
    pendingBytes += bytes
    pendingSince = pendingSince ?? now
    dirtySince = dirtySince ?? now
    isAtRest = false
    let isFull =
      pendingEvents >= policy.batchMaxEvents || pendingBytes >= policy.batchLimitBytes
    if isFull, !lowPower, isForeground { trigger() }
  }

  mutating func requeued(events: Int, now: Moment) {
    guard events > 0 else { return }
    mayHaveRows = true
    pendingEvents += events
    pendingSince = pendingSince ?? now
    trigger()
  }

  mutating func foreground(now: Moment) {
    isForeground = true
    isAtRest = false
    if let generation = assertion {
      emit(.endBackgroundTime(generation: generation))
      assertion = nil
    }
    reopen()
    shortenDelay(now: now, spreading: false)
    mayProbe = true
    occasionToAsk()
    trigger()
  }

  mutating func pathChanged(_ new: NetworkPath, now: Moment) {
    let wasUsable = path.satisfied && policy.allows(path)
    path = new
    pathIsDisproved = false
    mayProbe = false
    guard !wasUsable, new.satisfied, policy.allows(new) else { return }
    shortenDelay(now: now, spreading: true)
    occasionToAsk()
    trigger()
  }

  /// Path restored and foreground cut a delay short that came from the transport, not too often,
  /// and with some spread: the phones of a cell come back together.
  private mutating func shortenDelay(now: Moment, spreading: Bool) {
    let isDelayed = backoff.map { now < $0 } ?? false
    guard isDelayed ? backoffIsFromTransport : spreading else { return }
    if let lastRestore, now.milliseconds(since: lastRestore) < policy.restoreThrottleMs { return }
    lastRestore = now
    let jitterMs = RetrySchedule.spread(
      from: 0, through: policy.restoreJitterMs, draw: random.next(purpose: "restore"))
    let early = now.adding(milliseconds: jitterMs)
    backoff = isDelayed ? min(backoff ?? early, early) : early
    backoffIsFromTransport = true
  }

  mutating func consentChanged(_ given: Bool, now: Moment) {
    hasConsent = given
    if given { trigger() } else { stop() }
  }

  mutating func tokenChanged(now: Moment) {
    token.changed()
    mayProbe = true
    trigger()
    pace.changed(now: now)
  }

  /// Also with an empty queue: the answer tells whose events are recorded from now on.
  mutating func askAboutChange(now: Moment) {
    guard pace.isWanted, hasConsent, !isShutDown, token.asking == nil, pace.mayAsk(now: now)
    else { return }
    askProvider(now: now)
  }

  /// A reason of our own to ask again for a token.
  mutating func occasionToAsk() {
    token.occasion()
    pace.occasion()
  }

  mutating func tokenAnswered(_ generation: UInt64, _ answer: AccessToken?) {
    guard token.asking?.generation == generation else { return }
    // A stale answer does not count; the change that made it so is still to be asked about.
    guard token.answered(answer) else { return }
    guard let current = token.current else { return say(.waitingForToken) }
    guard account != current.account else { return }
    account = current.account
    emit(.accountKnown(current.account))
    // Rows of this account may have waited for it.
    trigger()
    if policy.foreignAccounts == .purge {
      emit(.purgeOthers(keeping: current.account.isEmpty ? [""] : ["", current.account]))
    }
  }

  mutating func purged() {
    stop()
    // A delete that waits for its next try has nothing left to delete.
    if case .settling(let settling) = flight { putBack(settling.batch) }
    isWanted = false
    isolation = []
    finalBodies = []
    mayHaveRows = false
    pendingEvents = 0
    pendingBytes = 0
    pendingSince = nil
    // The store keeps the gate through a purge where it can; it is written again in any case.
    persisted = GateRecord()
    resumeWaiters(.cancelled) { _ in true }
  }

  mutating func shutDown(now: Moment) {
    stop()
    if case .settling = flight { flight = .idle }
    resumeWaiters(.cancelled) { _ in true }
    for id in tasks.keys.sorted() { completeTask(id, success: false) }
    if let generation = assertion { emit(.endBackgroundTime(generation: generation)) }
    assertion = nil
    persistIfChanged(now: now)
    isShutDown = true
    isWanted = false
  }

  /// Ends what is under way, rows kept. A delete goes on: its rows are delivered already.
  mutating func stop() {
    switch flight {
    case .idle, .settling: break
    case .preparing: flight = .idle  // Its late answer is released.
    case .ready(let batch): putBack(batch)
    case .sending(let upload):
      emit(.cancelUpload(generation: upload.generation))
      putBack(upload.batch)
    }
    releaseAhead()
  }
}

// MARK: - The store

extension DeliveryEngine {
  mutating func storeOpened(_ gate: GateRecord?, queued: Int, now: Moment) {
    let wasOpen = storage == .open
    storage = .open
    // In the background it is closed again in this turn, unless something is to be done.
    isAtRest = false
    if !hasRestored, let gate { restore(gate, now: now) }
    hasRestored = true
    guard queued > 0 else { return }
    mayHaveRows = true
    pendingSince = pendingSince ?? now
    if !wasOpen { trigger() }
  }

  mutating func storeBlocked(now: Moment) {
    var tries = 1
    if case .blocked(let earlier, _) = storage { tries = min(earlier + 1, 1_000) }
    storage = .blocked(
      tries: tries, next: now.adding(milliseconds: DeliveryEngine.storageRetryMs(tries)))
  }

  mutating func writesBlocked(_ reason: BufferReason, now: Moment) {
    isWritingBuffer = false
    if storage == .closed {
      // Recorded in the background: the file is opened for a moment, so that nothing stays in
      // memory only.
      reopen()
      emit(.writeBuffer)
      isWritingBuffer = true
      isAtRest = false
      return
    }
    writesTries = min(writesTries + 1, 1_000)
    writesRetryAt = now.adding(milliseconds: DeliveryEngine.storageRetryMs(writesTries))
    writesNeedOpening = reason.needsOpening
  }

  mutating func writesRecovered() {
    writesTries = 0
    writesRetryAt = nil
    isWritingBuffer = false
    writesNeedOpening = false
  }

  /// Something recorded is in memory only.
  var isBufferUnwritten: Bool { writesRetryAt != nil || isWritingBuffer }

  mutating func reopen() {
    guard storage == .closed else { return }
    storage = .open
    emit(.resumeStore)
  }

  mutating func upkeepDone(more: Bool, now: Moment) {
    isTending = false
    if more { dirtySince = dirtySince ?? now }
  }

  static func storageRetryMs(_ tries: Int) -> Int64 {
    RetrySchedule(baseMs: 125, capMs: 5_000).ceilingMs(failures: tries)
  }
}

extension BufferReason {
  /// True where writing again is not enough: a file that closed or is damaged, a key that is
  /// missing and an interrupted purge are seen to by opening the store, which does nothing where
  /// all is well.
  fileprivate var needsOpening: Bool {
    switch self {
    case .notOpen, .keyUnavailable, .locked, .ioError: return true
    case .busy, .diskFull, .suspended, .walBudget, .syncPending: return false
    }
  }
}
