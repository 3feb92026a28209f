/// The last part of an event's way, on the caller's thread: into the store, or into memory.
extension Recorder {
  /// Straight to the store where it takes writes, else to the buffer. Whatever is waited for on
  /// the way, one patience bounds it.
  func store(_ event: PendingEvent) -> RecordReceipt {
    var patience = Patience(limitMs: configuration.recordWaitMs)
    guard let finished = finishedForStore(event) else {
      return buffer(event, reason: nil, &patience)
    }
    let outcome = store.append(
      finished, patience: &patience,
      late: { { [self] outcome in settleLate(event, outcome) } })
    switch outcome {
    case nil: return awaitLate(event)
    case .durable(let sequence):
      committed(sequence: sequence, bytes: event.bytes)
      return .durable(event.id)
    case .syncPending(let sequence):
      committed(sequence: sequence, bytes: event.bytes)
      return .buffered(event.id, .syncPending)
    case .duplicate:
      return reject(.duplicateID)
    case .blocked(let block):
      return buffer(event, reason: BufferReason(block), &patience)
    }
  }

  /// Nil where the event has to be buffered.
  func finishedForStore(_ event: PendingEvent) -> NewEvent? {
    // An event whose session is unknown must wait for the store, which knows.
    guard state.withLock({ $0.detour }) == nil, let session = event.session,
      let account = event.account
    else { return nil }
    return event.finished(session: session, account: account)
  }

  // MARK: Being written while nobody waits

  /// Another caller writes the event and is stuck with it: later callers buffer at once.
  private func awaitLate(_ event: PendingEvent) -> RecordReceipt {
    let began = state.withLock { state -> Bool in
      state.late += 1
      state.lateBytes += event.bytes
      defer { state.detour = state.detour ?? .busy }
      state.isRecovering = false
      // The shell ends the detour; it is told as of a buffered event.
      state.news.buffered += 1
      return state.detour == nil
    }
    if began { diagnostics.emit(.storageBlocked(.busy)) }
    announce()
    return .buffered(event.id, .busy)
  }

  /// What came of it. The event may exceed the buffer's bound: its receipt was given already, and
  /// no more than one a thread can be on this way.
  private func settleLate(_ event: PendingEvent, _ outcome: AppendOutcome) {
    let isLost = state.withLock { state -> Bool in
      state.late -= 1
      state.lateBytes -= event.bytes
      guard case .blocked(let block) = outcome else { return false }
      guard !state.isAbandoned else {
        state.rejected[.shutDown, default: 0] += 1
        return true
      }
      state.buffer.appendBeyondLimit(event)
      state.detour = state.detour ?? BufferReason(block)
      state.news.buffered += 1
      return false
    }
    switch outcome {
    case .durable(let sequence):
      committed(sequence: sequence, bytes: event.bytes)
      resume([event.id], with: nil)
    case .syncPending(let sequence):
      committed(sequence: sequence, bytes: event.bytes)
      resumeWhenSynced([event.id])
    case .duplicate: resume([event.id], with: reject(.duplicateID))
    case .blocked where isLost: diagnostics.emit(.lostAtShutdown(count: 1))
    case .blocked: announce()
    }
  }

  // MARK: Into memory

  private enum Keeping {
    case fits
    case full
    /// Nobody writes it any more.
    case closed
    /// An event with the caller's id waits in memory already.
    case duplicate
  }

  /// Keeps the event in memory. A reason starts the detour: from now on, until the buffer is
  /// written, no caller waits for the store again.
  func buffer(
    _ event: PendingEvent, reason: BufferReason?, _ patience: inout Patience
  ) -> RecordReceipt {
    var (kept, detour, began) = keep(event, reason)
    if began, reason != nil { diagnostics.emit(.storageBlocked(detour)) }
    if kept != .duplicate, kept != .closed, state.withLock({ $0.isRecovering }) {
      // The store takes writes again: whoever adds also writes, or busy callers would keep the
      // buffer full for ever.
      let written = drainChunk(&patience).written
      if written.contains(event.id) { return .durable(event.id) }
      if kept == .full { (kept, detour, _) = keep(event, nil) }
    }
    announce()
    switch kept {
    case .fits: return .buffered(event.id, detour)
    case .full: return reject(.bufferFull)
    case .closed: return reject(.shutDown)
    case .duplicate: return reject(.duplicateID)
    }
  }

  private func keep(
    _ event: PendingEvent, _ reason: BufferReason?
  ) -> (kept: Keeping, detour: BufferReason, began: Bool) {
    state.withLock { state in
      let began = state.detour == nil
      let detour = state.detour ?? reason ?? .busy
      state.detour = detour
      if reason != nil { state.isRecovering = false }
      if state.isAbandoned { return (.closed, detour, false) }
      if event.idIsFromCaller, state.buffer.holds(event.id) { return (.duplicate, detour, began) }
      guard state.buffer.append(event) else { return (.full, detour, began) }
      state.news.buffered += 1
      return (.fits, detour, began)
    }
  }

  // MARK: Telling the shell

  func committed(sequence: Int64, bytes: Int) {
    let isFirst = state.withLock { state -> Bool in
      state.news.events += 1
      state.news.bytes += bytes
      state.lastSequence = max(state.lastSequence, sequence)
      guard state.announced == nil else { return false }
      state.announced = .soon
      return true
    }
    if isFirst { onNews.withLock { $0 }?.call(.soon) }
  }

  func announce() {
    let isFirst = state.withLock { state -> Bool in
      defer { state.announced = .now }
      return state.announced != .now
    }
    if isFirst { onNews.withLock { $0 }?.call(.now) }
  }
}
