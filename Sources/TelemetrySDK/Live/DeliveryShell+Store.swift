/// What the shell does with the store: opening, the memory buffer, settling, notes, the end.
extension DeliveryShell {
  func openStore() {
    guard !isClosed else { return }
    if let block = store.open() {
      isOpen = false
      recorder.blocked(BufferReason(block))
      return receive(.storeBlocked)
    }
    // Also asked for while it is open: to see to keys, purges and damage.
    let wasOpen = isOpen
    isOpen = true
    grantWishes()
    let gate = loadNotes()
    let written = writtenBuffer()
    refreshSnapshot()
    let queued = Int(clamping: published.withLock { $0.snapshot.ledger.queued })
    if !wasOpen { diagnostics.emit(.opened(queued: queued)) }
    receive(.recorded(events: 0, bytes: 0, lastSequence: recorder.lastSequence))
    receive(.storeOpened(gate: gate, queued: queued))
    if let written { receive(written) }
  }

  /// What the app asked for while the store could not take it.
  private func grantWishes() {
    finishPurges()
    if rotationIsWanted { rotateKey() }
  }

  /// Session, account and gate as the store kept them.
  private func loadNotes() -> GateRecord? {
    guard !hasLoadedNotes else { return nil }
    hasLoadedNotes = true
    let account = store.note(DeliveryShell.accountNote).map { String(decoding: $0, as: UTF8.self) }
    recorder.restore(
      session: store.note(SessionRecord.noteKey).flatMap(SessionRecord.init(_:)),
      account: account ?? "")
    noteSession()
    return store.note(GateRecord.noteKey).flatMap(GateRecord.init(_:))
  }

  func note(_ key: String, _ value: [UInt8]?) {
    if let block = store.setNote(key, value) {
      // Not remembered: said, and written again with the next change.
      diagnostics.emit(.storageBlocked(BufferReason(block)))
    }
  }

  func noteSession() {
    let now = environment.clock.now()
    guard let record = recorder.sessionRecord(now: now) else { return }
    lastSessionNote = now
    note(SessionRecord.noteKey, record.bytes)
  }

  // MARK: The memory buffer

  func takeNews() {
    let news = recorder.takeNews()
    if news.events > 0 {
      receive(
        .recorded(events: news.events, bytes: news.bytes, lastSequence: news.lastSequence))
    }
    // A caller may have met a block while it wrote the buffer: then nothing new is in it, and yet
    // somebody must try again.
    guard news.buffered > 0 || recorder.needsWriter, !isClosed else { return }
    // Closed for suspension: the engine has the file opened for a moment.
    if isOpen { writeBuffer() } else if engine.isSuspended { receive(.writesBlocked(.suspended)) }
  }

  /// Writes the memory buffer, oldest first. After a few chunks the rest is left to a later turn:
  /// busy callers must not keep delivery from its own work.
  func writeBuffer() {
    if let written = writtenBuffer() { receive(written) }
  }

  /// The same, with the news for the engine left to the caller; nil where a later turn has it.
  private func writtenBuffer() -> DeliveryInput? {
    guard isOpen else { return nil }
    for _ in 0..<DeliveryShell.chunksPerTurn {
      let drained = recorder.drainChunk(waitingAtMostMs: nil)
      if let reason = drained.blocked { return .writesBlocked(reason) }
      if drained.isIdle { break }
    }
    guard let hadDetour = recorder.endDetour() else {
      perform { $0.writeBuffer() }
      return nil
    }
    if hadDetour { diagnostics.emit(.storageRecovered) }
    return .writesRecovered
  }

  // MARK: Settling

  /// Deletes and quarantines. False where the store is blocked: called again then, and does only
  /// what is left.
  func settle(_ batch: UInt64, _ settlement: Settlement) -> Bool {
    guard var body = bodies[batch] else { return true }
    body.gzip = []
    let complete: Bool
    switch settlement {
    case .delivered(let rejected): complete = deliver(&body, rejected)
    case .quarantine(let reason):
      complete = store.quarantine(body.rows, reason: reason) == nil
    }
    bodies[batch] = complete ? nil : body
    if complete { refreshSnapshot() }
    return complete
  }

  private func deliver(_ body: inout PreparedBody, _ rejected: [RejectedEvent]) -> Bool {
    var reasons: [EventID: String] = [:]
    for event in rejected where reasons[event.id] == nil { reasons[event.id] = event.reason }
    let delivered = body.rows.filter { reasons[$0.id] == nil }
    if !body.isDeleted {
      guard delivered.isEmpty || store.deleteDelivered(delivered) == nil else { return false }
      body.isDeleted = true
      if !delivered.isEmpty { diagnostics.emit(.delivered(count: delivered.count)) }
    }
    let refused = body.rows.filter { reasons[$0.id] != nil }
    let groups = Dictionary(grouping: refused) { reasons[$0.id] ?? "" }
      .sorted { $0.key < $1.key }
    for (reason, rows) in groups.dropFirst(body.reasonsDone) {
      guard store.quarantine(rows, reason: .rejectedByServer(reason: reason)) == nil else {
        return false
      }
      body.reasonsDone += 1
    }
    return true
  }

  // MARK: Upkeep and suspension

  func tend() {
    let more = store.maintain()
    if rotationIsWanted { rotateKey() }
    let now = environment.clock.now()
    if let last = lastSessionNote,
      now.milliseconds(since: last) >= DeliveryShell.sessionNoteIntervalMs
    {
      noteSession()
    }
    refreshSnapshot()
    receive(.upkeepDone(more: more))
  }

  func sync() {
    noteSession()
    if let block = store.sync(), block != .suspended, block != .notOpen {
      diagnostics.emit(.storageBlocked(BufferReason(block)))
    }
  }

  func suspendStore() {
    recorder.blocked(.suspended)
    store.suspend()
    isOpen = false
  }

  func resumeStore() {
    if let block = store.resume() {
      recorder.blocked(BufferReason(block))
      return receive(.storeBlocked)
    }
    isOpen = true
    grantWishes()
    writeBuffer()
  }

  // MARK: Wishes of the app

  func rotateKey() {
    rotationIsWanted = store.rotateKey() != nil
  }

  func purge(_ completion: (@Sendable () -> Void)?) {
    guard !isClosed, !isDisabled else {
      completion?()
      return
    }
    recorder.clearBuffer()
    purgesWanted.append(completion ?? {})
    // A closed file is opened for it; one that does not open is purged when it does.
    if !isOpen, store.resume() == nil { isOpen = true }
    finishPurges()
  }

  private func finishPurges() {
    guard !purgesWanted.isEmpty, store.purge() == nil else { return }
    let completions = purgesWanted
    purgesWanted = []
    for batch in bodies.keys.sorted() { bodies[batch]?.rows = [] }
    receive(.purged)
    recorder.newSession()
    noteSession()
    note(DeliveryShell.accountNote, recorder.account.map { Array($0.utf8) })
    refreshSnapshot()
    for completion in completions { completion() }
  }

  /// Nobody records any more, so this ends.
  private func writeWholeBuffer() {
    guard isOpen else { return }
    while true {
      let drained = recorder.drainChunk(waitingAtMostMs: nil)
      if drained.isIdle || drained.blocked != nil { return }
    }
  }

  func shutDown(_ completion: (@Sendable () -> Void)?) {
    guard !isClosed else {
      completion?()
      return
    }
    receive(.shutDown)
    if !isDisabled {
      // Nothing may stay in memory only, also where the files are closed just now.
      if !isOpen, store.resume() == nil { isOpen = true }
      writeWholeBuffer()
      noteSession()
      _ = store.sync()
      refreshSnapshot()
      store.close()
    }
    isClosed = true
    isOpen = false
    recorder.abandonWaiters()
    publish()
    completion?()
  }

  static let chunksPerTurn = 64
  static let sessionNoteIntervalMs: Int64 = 60_000
}
