/// What survives a kill, and what the status says.
extension DeliveryEngine {
  mutating func persistIfChanged(now: Moment) {
    // Also while the store is blocked: reading may be what it refuses, and what it does not take
    // now is written as soon as it does. Only a memory that was restored may replace the note.
    guard hasRestored, storage != .closed, !isShutDown else { return }
    let record = gateRecord(now: now)
    guard !record.isSame(as: persisted) else { return }
    persisted = record
    emit(.persist(record))
  }

  private func gateRecord(now: Moment) -> GateRecord {
    func pause(_ until: Moment?) -> GateRecord.Pause? {
      guard let until, now < until else { return nil }
      return GateRecord.Pause(until: until, remainingMs: until.milliseconds(since: now))
    }
    var record = GateRecord()
    record.bootID = bootID
    record.server = pause(serverGate)
    record.backoff = pause(backoff)
    record.backoffIsFromTransport = record.backoff != nil && backoffIsFromTransport
    record.attempts = failures
    record.refusal = pause(refusal.until)
    record.refusalLevel = refusal.level
    record.refusalsInRow = refusal.inRow
    record.sizeLimitBytes = lesson.limitBytes
    record.acceptedSinceSizeLesson = lesson.accepted
    record.finalBodies = finalBodies
    return record
  }

  /// A pause goes on where it was, or, after a reboot, waits again what was left when it was
  /// written down; never more than was granted.
  mutating func restore(_ record: GateRecord, now: Moment) {
    func moment(_ pause: GateRecord.Pause?) -> Moment? {
      guard let pause else { return nil }
      let most = now.adding(milliseconds: pause.remainingMs)
      return record.bootID == bootID ? min(pause.until, most) : most
    }
    serverGate = moment(record.server)
    backoff = moment(record.backoff)
    backoffIsFromTransport = record.backoffIsFromTransport
    failures = min(record.attempts, DeliveryEngine.maxFailures)
    refusal.until = moment(record.refusal)
    refusal.level = record.refusalLevel
    refusal.inRow = record.refusalsInRow
    lesson.limitBytes = record.sizeLimitBytes.map { max(1, $0) }
    lesson.accepted = record.acceptedSinceSizeLesson
    finalBodies = Array(record.finalBodies.suffix(DeliveryEngine.maxFinalBodies))
    persisted = record
  }

  /// True while the store is closed for suspension.
  var isSuspended: Bool { storage == .closed }

  /// Events of the request under way.
  package var inFlight: Int {
    if case .sending(let upload) = flight { return upload.batch.summary.rows.count }
    return 0
  }

  /// What the status says.
  package func state(now: Moment) -> DeliveryState {
    let blocker = blocker(now: now)
    if blocker == .disabled { return .disabled }
    if flight != .idle { return .sending }
    if case .blocked = storage { return .storageUnavailable }
    let waits = isWanted || pendingSince != nil
    guard waits else { return .idle }
    switch blocker {
    case nil: return lowPower ? .lowPower : .idle
    case .disabled: return .disabled
    case .storage: return .storageUnavailable
    case .suspended: return .suspended
    case .serverGate(let until):
      return .gatedByServer(remainingMs: until.milliseconds(since: now))
    case .refusals(let until):
      return .pausedByRefusals(remainingMs: until.milliseconds(since: now))
    case .backoff(let until): return .backingOff(remainingMs: until.milliseconds(since: now))
    case .offline: return .offline
    case .asking, .token:
      return isWanted ? .waitingForToken : lowPower ? .lowPower : .idle
    }
  }
}
