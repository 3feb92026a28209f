import JSONText

/// What the façade and the shell ask of the recorder.
extension Recorder {
  func setAttribute(_ name: String, _ value: JSONValue?) {
    state.withLock { $0.attributes[name] = value }
  }

  func setConsent(_ given: Bool) { state.withLock { $0.consent = given } }

  func setAccount(_ account: String) {
    state.withLock { $0.account = account }
    announce()
  }

  func shutDown() { state.withLock { $0.isShutDown = true } }

  func newSession() {
    let started = state.withLock { state -> String? in
      state.session.startNew(fresh: freshSession)
    }
    sessionStarted(started)
  }

  /// Says it, and has it written down.
  func sessionStarted(_ id: String?) {
    guard let id else { return }
    diagnostics.emit(.sessionStarted(id))
    announce()
  }

  func enterBackground() {
    let now = environment.clock.now()
    state.withLock { $0.session.enterBackground(now: now) }
  }

  func enterForeground() {
    let now = environment.clock.now()
    let started = state.withLock { state -> String? in
      state.session.enterForeground(now: now, fresh: freshSession) ? state.session.id : nil
    }
    sessionStarted(started)
  }

  private var freshSession: () -> String {
    { [environment] in environment.random.eventID().description }
  }

  /// Records, and calls back once the event is durable or refused.
  func recordDurably(
    type: String, payload: JSONValue, id: EventID?,
    completion: @escaping @Sendable (RecordReceipt) -> Void
  ) {
    if configuration.durability == .powerLoss {
      return recordOnMedium(type: type, payload: payload, id: id, completion: completion)
    }
    // The id is made here, so that the waiter is there before the event can be written.
    let eventID = id ?? environment.random.eventID()
    let identity = Identity(id: eventID, isFromCaller: id != nil)
    // Two callers with one id: the first one's event is on its way.
    guard wait(for: eventID, completion) else { return completion(reject(.duplicateID)) }
    switch record(type: type, payload: payload, identity: identity) {
    case .buffered(_, .syncPending):
      resumeWhenSynced([eventID])
    case .buffered: break  // The shell resumes it when the buffer is written.
    case let receipt: resume([eventID], with: receipt)
    }
  }

  /// At `powerLoss`: the event waits for its device flush together with those of other callers.
  private func recordOnMedium(
    type: String, payload: JSONValue, id: EventID?,
    completion: @escaping @Sendable (RecordReceipt) -> Void
  ) {
    let identity = Identity(id: id ?? environment.random.eventID(), isFromCaller: id != nil)
    switch prepare(type: type, payload: payload, identity: identity) {
    case .failure(let reason): completion(reject(reason))
    case .success(let event):
      guard let finished = finishedForStore(event) else {
        return bufferAwaited(event, reason: nil, completion)
      }
      store.appendDurably(finished) { [self] outcome in
        switch outcome {
        case .durable(let sequence):
          committed(sequence: sequence, bytes: event.bytes)
          completion(.durable(event.id))
        case .syncPending(let sequence):
          committed(sequence: sequence, bytes: event.bytes)
          awaitSync(event.id, completion)
        case .duplicate: completion(reject(.duplicateID))
        case .blocked(let block):
          bufferAwaited(event, reason: BufferReason(block), completion)
        }
      }
    }
  }

  /// Into the memory buffer; the completion comes once the event is written.
  private func bufferAwaited(
    _ event: PendingEvent, reason: BufferReason?,
    _ completion: @escaping @Sendable (RecordReceipt) -> Void
  ) {
    // Two callers with one id: the first one's event is on its way.
    guard wait(for: event.id, completion) else { return completion(reject(.duplicateID)) }
    var patience = Patience(limitMs: configuration.recordWaitMs)
    switch buffer(event, reason: reason, &patience) {
    case .buffered: break  // The shell resumes it when the buffer is written.
    case let receipt: resume([event.id], with: receipt)
    }
  }

  /// Committed, but the medium did not take it: it is tried again with the next upkeep.
  private func awaitSync(
    _ id: EventID, _ completion: @escaping @Sendable (RecordReceipt) -> Void
  ) {
    let isAbandoned = state.withLock { state -> Bool in
      guard !state.isAbandoned else { return true }
      state.waiters[id] = completion
      state.unsynced.insert(id)
      state.owesSync = true
      return false
    }
    if isAbandoned { completion(.buffered(id, .syncPending)) }
  }

  /// False where another caller waits for an event of this id.
  private func wait(
    for id: EventID, _ completion: @escaping @Sendable (RecordReceipt) -> Void
  ) -> Bool {
    state.withLock { state in
      guard state.waiters[id] == nil else { return false }
      state.waiters[id] = completion
      return true
    }
  }

  /// Calls each waiter of these events once.
  func resume(_ ids: [EventID], with receipt: RecordReceipt?) {
    let waiting = state.withLock { state in
      ids.compactMap { id in state.waiters.removeValue(forKey: id).map { (id, $0) } }
    }
    for (id, waiter) in waiting { waiter(receipt ?? .durable(id)) }
  }
}

// MARK: - For the shell, on its executor

extension Recorder {
  /// What the status shows of the recorder.
  struct Picture {
    var buffered: Int
    var bufferedBytes: Int
    var rejected: [RejectReason: Int]
    var sessionID: String?
  }

  func picture() -> Picture {
    state.withLock { state in
      Picture(
        buffered: state.buffer.count + max(0, state.late),
        bufferedBytes: state.buffer.bytes + max(0, state.lateBytes),
        rejected: state.rejected,
        sessionID: state.session.id)
    }
  }

  /// The store's highest sequence number, where it is ahead: rows of earlier runs.
  func noteSequence(_ sequence: Int64) {
    state.withLock { $0.lastSequence = max($0.lastSequence, sequence) }
  }

  var lastSequence: Int64 { state.withLock { $0.lastSequence } }

  /// Rows up to here were recorded before now; all rows where this process recorded none yet.
  var flushThrough: Int64 {
    state.withLock { $0.lastSequence == 0 ? .max : $0.lastSequence }
  }

  var identity: RecordingIdentity {
    state.withLock { RecordingIdentity(session: $0.session.id, account: $0.account) }
  }

  func takeNews() -> RecordedNews {
    state.withLock { state in
      var news = state.news
      news.lastSequence = state.lastSequence
      state.news = RecordedNews()
      state.announced = nil
      return news
    }
  }

  /// The session and the account go on as the store kept them.
  func restore(session: SessionRecord?, account: String) {
    let now = environment.clock.now()
    let bootID = environment.clock.bootID()
    let started = state.withLock { state -> String? in
      // Events from before this moment are of this account, whoever has come since.
      state.earlierAccount = account
      if state.account == nil { state.account = account }
      let isNew = state.session.restore(session, now: now, bootID: bootID, fresh: freshSession)
      return isNew ? state.session.id : nil
    }
    if let started { diagnostics.emit(.sessionStarted(started)) }
  }

  func sessionRecord(now: Moment) -> SessionRecord? {
    let bootID = environment.clock.bootID()
    return state.withLock { $0.session.record(now: now, bootID: bootID) }
  }

  func resumeWhenSynced(_ ids: [EventID]) {
    let awaited = state.withLock { state -> [EventID] in
      let awaited = ids.filter { state.waiters[$0] != nil }
      state.unsynced.formUnion(awaited)
      return awaited
    }
    if !awaited.isEmpty { sync(awaited) }
  }

  private func sync(_ ids: [EventID]) {
    store.whenSynced { [self] block in
      state.withLock { state in
        // Committed, but not on the medium: it is tried again with the next upkeep.
        if block == nil { state.unsynced.subtract(ids) } else { state.owesSync = true }
      }
      if block == nil { resume(ids, with: nil) }
    }
  }

  /// Tries again what the medium did not take. True where something is still owed.
  func retryUnsynced() -> Bool {
    let ids = state.withLock { state -> [EventID] in
      guard state.owesSync else { return [] }
      state.owesSync = false
      return Array(state.unsynced)
    }
    if !ids.isEmpty { sync(ids) }
    return state.withLock { $0.owesSync }
  }

  /// `purge()`: what is in memory goes too.
  func clearBuffer() {
    // Behind whoever writes a chunk of the buffer just now and removes it by count afterwards.
    let ids = drain.withLock { _ in
      state.withLock { state -> [EventID] in
        let ids = state.buffer.removeAll().map(\.id)
        if !ids.isEmpty { state.rejected[.purged, default: 0] += ids.count }
        return ids
      }
    }
    if !ids.isEmpty {
      diagnostics.emit(.dropped(count: ids.count, reason: .purged))
    }
    resume(ids, with: .rejected(.purged))
  }

  /// `shutdown()`: nobody will write any more.
  func abandonWaiters() {
    let (unsynced, waiting, lost) = state.withLock { state -> ([EventID], [EventID], Int) in
      state.isAbandoned = true
      let lost = state.buffer.removeAll().count
      if lost > 0 { state.rejected[.shutDown, default: 0] += lost }
      let unsynced = Array(state.unsynced)
      state.unsynced = []
      return (unsynced, Array(Set(state.waiters.keys).subtracting(unsynced)), lost)
    }
    if lost > 0 { diagnostics.emit(.lostAtShutdown(count: lost)) }
    // Committed: the next run delivers them, unless the power goes first.
    for id in unsynced { resume([id], with: .buffered(id, .syncPending)) }
    resume(waiting, with: .rejected(.shutDown))
  }
}
