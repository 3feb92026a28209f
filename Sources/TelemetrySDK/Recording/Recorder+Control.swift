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
    // The id is made here, so that the waiter is there before the event can be written.
    let eventID = id ?? environment.random.eventID()
    let identity = Identity(id: eventID, isFromCaller: id != nil)
    state.withLock { $0.waiters[eventID] = completion }
    switch record(type: type, payload: payload, identity: identity) {
    case .buffered(_, .syncPending):
      store.whenSynced { [self] block in
        resume([eventID], with: block == nil ? .durable(eventID) : .rejected(.bufferFull))
      }
    case .buffered: break  // The shell resumes it when the buffer is written.
    case let receipt: resume([eventID], with: receipt)
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
