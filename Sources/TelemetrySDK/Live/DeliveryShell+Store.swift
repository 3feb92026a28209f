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
    _ = finishPurges()
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
    notedIdentity = RecordingIdentity(session: nil, account: account ?? "")
    noteIdentity()
    return store.note(GateRecord.noteKey).flatMap(GateRecord.init(_:))
  }

  func note(_ key: String, _ value: [UInt8]) {
    guard let block = store.setNote(key, value) else {
      unwrittenNotes[key] = nil
      return
    }
    // Said, and written as soon as the store takes it: a pause that is not remembered would end
    // with the process.
    diagnostics.emit(.storageBlocked(BufferReason(block)))
    unwrittenNotes[key] = value
    if isOpen { receive(.writesBlocked(BufferReason(block))) }
  }

  /// What still hinders them, if anything does.
  private func writeNotes() -> StoreBlock? {
    for (key, value) in unwrittenNotes.sorted(by: { $0.key < $1.key }) {
      if let block = store.setNote(key, value) { return block }
      unwrittenNotes[key] = nil
    }
    return nil
  }

  func noteSession() {
    let now = environment.clock.now()
    guard let record = recorder.sessionRecord(now: now) else { return }
    lastSessionNote = now
    notedIdentity.session = record.id
    note(SessionRecord.noteKey, record.bytes)
  }

  /// Writes down who records and in which session, where that has changed: the next run goes on
  /// with what was true at a kill.
  func noteIdentity() {
    guard isOpen, hasLoadedNotes, !isClosed else { return }
    let identity = recorder.identity
    if identity.session != notedIdentity.session { noteSession() }
    if let account = identity.account, account != notedIdentity.account {
      notedIdentity.account = account
      note(DeliveryShell.accountNote, Array(account.utf8))
    }
  }

  // MARK: The memory buffer

  func takeNews() {
    noteIdentity()
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
    // What is recorded after a purge was asked for must not fall to it: it waits in memory.
    if let reason = finishPurges() { return .writesBlocked(reason) }
    for _ in 0..<DeliveryShell.chunksPerTurn {
      let drained = recorder.drainChunk()
      if let reason = drained.blocked { return .writesBlocked(reason) }
      if drained.isIdle { break }
    }
    if let block = writeNotes() { return .writesBlocked(BufferReason(block)) }
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
    let hasMore = store.maintain()
    if rotationIsWanted { rotateKey() }
    let more = recorder.retryUnsynced() || hasMore
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
    noteIdentity()
    writeBuffer()
    // The file may have been found damaged, or another one.
    refreshSnapshot()
  }

  // MARK: Wishes of the app

  func rotateKey() {
    rotationIsWanted = store.rotateKey() != nil
  }

  func purge(_ completion: (@Sendable () -> Void)?) {
    guard !isDisabled else {
      completion?()
      return
    }
    guard !isClosed else { return purgeClosed(completion) }
    recorder.clearBuffer()
    purgesWanted.append(completion ?? {})
    // A closed file is opened for it; one that does not open is purged when it does.
    let isForPurge = !isOpen && engine.isSuspended
    if !isOpen, store.resume() == nil { isOpen = true }
    if isOpen, let reason = finishPurges() { receive(.writesBlocked(reason)) }
    if isForPurge, isOpen, engine.isSuspended { suspendStore() }
  }

  /// After the end: opened once more, for this alone.
  private func purgeClosed(_ completion: (@Sendable () -> Void)?) {
    if store.resume() != nil || store.purge() != nil { diagnostics.emit(.purgeUnfinished) }
    refreshSnapshot()
    store.close()
    completion?()
  }

  /// What hinders a purge that is wanted. Nothing reaches the store until it has gone through: a
  /// later try would take that, too.
  private func finishPurges() -> BufferReason? {
    guard !purgesWanted.isEmpty else { return nil }
    if let block = store.purge() {
      recorder.blocked(BufferReason(block))
      return BufferReason(block)
    }
    let completions = purgesWanted
    purgesWanted = []
    for batch in bodies.keys.sorted() { bodies[batch]?.rows = [] }
    unwrittenNotes = unwrittenNotes.filter { $0.key == GateRecord.noteKey }
    receive(.purged)
    recorder.newSession()
    noteSession()
    notedIdentity.account = nil
    noteIdentity()
    refreshSnapshot()
    for completion in completions { completion() }
    return nil
  }

  /// Nobody records any more, so this ends.
  private func writeWholeBuffer() {
    guard isOpen else { return }
    while true {
      let drained = recorder.drainChunk()
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
      if isOpen { _ = finishPurges() }
      writeWholeBuffer()
      noteSession()
      _ = writeNotes()
      if store.sync() == nil { _ = recorder.retryUnsynced() }
      refreshSnapshot()
      store.close()
    }
    isClosed = true
    isOpen = false
    recorder.abandonWaiters()
    publish()
    if !purgesWanted.isEmpty { diagnostics.emit(.purgeUnfinished) }
    let purges = purgesWanted
    purgesWanted = []
    for purge in purges { purge() }
    completion?()
  }

  static let chunksPerTurn = 64
  static let sessionNoteIntervalMs: Int64 = 60_000
}
