import JSONText

/// What the façade and the shell ask of the recorder.
extension Recorder {
  func setAttribute(_ name: String, _ value: JSONValue?) {
    state.withLock { $0.attributes[name] = value }
  }

  func setConsent(_ given: Bool) { state.withLock { $0.consent = given } }

  func setAccount(_ account: String) { state.withLock { $0.account = account } }

  func shutDown() { state.withLock { $0.isShutDown = true } }

  func newSession() {
    let started = state.withLock { state -> String? in
      state.session.startNew(fresh: freshSession) ? state.session.id : nil
    }
    if let started { diagnostics.emit(.sessionStarted(started)) }
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
    if let started { diagnostics.emit(.sessionStarted(started)) }
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
    state.withLock { $0.waiters[eventID] = completion }
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
          completion(.buffered(event.id, .syncPending))
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
    let isOpen = state.withLock { state -> Bool in
      if !state.isShutDown { state.waiters[event.id] = completion }
      return !state.isShutDown
    }
    guard isOpen else { return completion(reject(.shutDown)) }
    switch buffer(event, reason: reason) {
    case .buffered: break  // The shell resumes it when the buffer is written.
    case let receipt: resume([event.id], with: receipt)
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
    var committedSinceCount: Int
    var rejected: [RejectReason: Int]
    var sessionID: String?
  }

  func picture() -> Picture {
    state.withLock { state in
      Picture(
        buffered: state.buffer.count, bufferedBytes: state.buffer.bytes,
        committedSinceCount: state.committedSinceCount, rejected: state.rejected,
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

  var account: String? { state.withLock { $0.account } }

  /// The store is about to be counted: what is committed from now on is not in that count.
  func countStartsAnew() { state.withLock { $0.committedSinceCount = 0 } }

  func takeNews() -> RecordedNews {
    state.withLock { state in
      var news = state.news
      news.lastSequence = state.lastSequence
      state.news = RecordedNews()
      state.newsIsAnnounced = false
      return news
    }
  }

  /// The session and the account go on as the store kept them.
  func restore(session: SessionRecord?, account: String) {
    let now = environment.clock.now()
    let bootID = environment.clock.bootID()
    let started = state.withLock { state -> String? in
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
    let isAwaited = state.withLock { state in ids.contains { state.waiters[$0] != nil } }
    guard isAwaited else { return }
    store.whenSynced { [self] block in
      // Not on the medium, but committed: the waiter is told the truth.
      for id in ids {
        resume([id], with: block == nil ? .durable(id) : .buffered(id, .syncPending))
      }
    }
  }

  /// `purge()`: what is in memory goes too.
  func clearBuffer() {
    let ids = state.withLock { state -> [EventID] in
      let ids = state.buffer.removeAll().map(\.id)
      state.rejected[.purged, default: 0] += ids.count
      return ids
    }
    if !ids.isEmpty {
      diagnostics.emit(.dropped(count: ids.count, reason: DropReason.purged.rawValue))
    }
    resume(ids, with: .rejected(.purged))
  }

  /// `shutdown()`: nobody will write any more.
  func abandonWaiters() {
    let (ids, lost) = state.withLock { ($0.waiters.keys.map { $0 }, $0.buffer.count) }
    if lost > 0 { diagnostics.emit(.dropped(count: lost, reason: "shutDownWhileBlocked")) }
    resume(ids, with: .rejected(.shutDown))
  }
}
