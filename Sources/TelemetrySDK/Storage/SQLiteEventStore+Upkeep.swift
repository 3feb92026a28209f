import Dispatch

/// Syncs, checkpoints, the log's budget, and what else waits for a quiet moment.
extension SQLiteEventStore {
  package func sync() -> StoreBlock? { sync(writingWaiting: true) }

  /// - Parameter writingWaiting: False where everything due was written a moment ago: what has come
  ///   since gathers for the next commit.
  private func sync(writingWaiting: Bool) -> StoreBlock? {
    // Within the upkeep's lock, so that who finds nothing dirty has waited for the sync of another.
    let (block, events) = upkeep.withLock { upkeep -> (StoreBlock?, [StoreEvent]) in
      let owed = takeDirty(writingWaiting)
      guard let covered = owed.counts else { return (owed.block, owed.events) }
      do {
        guard let log = upkeep.log else { return (.notOpen, owed.events) }
        try log.sync()
        state.withLock {
          $0.core?.synced = covered
          $0.syncedThrough = covered.lastSequence
        }
        return (nil, owed.events)
      } catch {
        state.withLock { $0.core?.isDirty = true }
        return (.ioError, owed.events)
      }
    }
    tell(events)
    if block == nil { writeHint() }
    return block
  }

  /// What is committed by now is what the next sync covers; later commits make it dirty again.
  private func takeDirty(
    _ writesWaiting: Bool
  ) -> (counts: StoreCounts?, block: StoreBlock?, events: [StoreEvent]) {
    state.withLock { state in
      if writesWaiting { commitWaiting(&state) }
      guard let core = state.core else { return (nil, state.reason, []) }
      guard !core.isDamaged else { return (nil, .notOpen, core.takeEvents()) }
      defer { core.isDirty = false }
      return (core.isDirty ? core.counts : nil, nil, core.takeEvents())
    }
  }

  package func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) {
    guard configuration.usesBackgroundThreads else { return callback(sync()) }
    askForSync { $0.waitingForSync.append(callback) }
  }

  func askForSync(_ change: (inout Requests) -> Void = { _ in }) {
    let isFirst = requests.withLock { requests -> Bool in
      change(&requests)
      defer { requests.isSyncAsked = true }
      return !requests.isSyncAsked
    }
    guard isFirst else { return }
    syncQueue.async { self.syncForWaiting() }
  }

  /// One sync for all that wait by now; those that come during it get the next.
  private func syncForWaiting() {
    let callbacks = requests.withLock { requests -> [@Sendable (StoreBlock?) -> Void] in
      defer {
        requests.waitingForSync = []
        requests.isSyncAsked = false
      }
      return requests.waitingForSync
    }
    let tickets = commitWaiting()
    let block = sync(writingWaiting: false)
    // Where the files were closed meanwhile, closing has synced them.
    let through = state.withLock { $0.syncedThrough }
    for ticket in tickets { ticket.tell(block, syncedThrough: through) }
    for callback in callbacks { callback(block) }
  }

  // MARK: - The log's budget

  func askForRestartIfHalfFull() {
    let isHalfFull = state.withLock { state in
      state.core.map { !$0.isDamaged && $0.isLogHalfFull } ?? false
    }
    if isHalfFull { askForRestart() }
  }

  func askForRestart() {
    guard configuration.usesBackgroundThreads else { return restartLog() }
    let isFirst = requests.withLock { requests -> Bool in
      defer { requests.isRestartAsked = true }
      return !requests.isRestartAsked
    }
    guard isFirst else { return }
    restarts.enter()
    checkpointQueue.async {
      self.restartLog()
      self.requests.withLock { $0.isRestartAsked = false }
      self.restarts.leave()
    }
  }

  /// Waits for the log to have room, once, and no longer than is granted. True where it is worth
  /// another try.
  func waitForRestart(_ patience: inout Patience) -> Bool {
    askForRestart()
    guard configuration.usesBackgroundThreads else { return true }
    let mayWait = onCore(waiting: &patience) { core -> Bool in
      defer { core.hasWaitedForLog = true }
      return !core.hasWaitedForLog
    }
    guard case .success(true) = mayWait else { return false }
    let limit = DispatchTimeInterval.nanoseconds(Int(patience.leftNs()))
    guard restarts.wait(timeout: .now() + limit) == .success else { return false }
    _ = onCore(waiting: &patience) { $0.hasWaitedForLog = false }
    return true
  }

  /// Brings the log into the database; the next write then starts it from the beginning.
  ///
  /// The bulk is copied while others write, the rest under the store's lock: a log that is never
  /// caught at its end never starts over.
  func restartLog() {
    var events: [StoreEvent] = []
    upkeep.withLock { upkeep in
      let connection: SQLiteConnection
      do {
        guard let found = try checkpointConnection(&upkeep) else { return }
        connection = found
        _ = try connection.checkpointPassive()
      } catch {
        return  // A budget that stays used up says so at the next write.
      }
      state.withLock { state in
        guard let core = state.core, !core.isDamaged else { return }
        do {
          if try connection.checkpointPassive().isComplete {
            core.logFrames = 0
            core.hasWaitedForLog = false
            core.events.append(.walRestarted)
          }
        } catch {
          // A budget that stays used up says so at the next write; damage is remembered here.
          _ = core.meaning(of: error)
        }
        events = core.takeEvents()
      }
    }
    tell(events)
  }

  private func checkpointConnection(_ upkeep: inout Upkeep) throws -> SQLiteConnection? {
    if let connection = upkeep.connection { return connection }
    guard let database = upkeep.database else { return nil }
    let connection = try SQLiteConnection(
      path: database, vfs: configuration.vfsName, busyMs: 0)
    try connection.execute(Schema.settings)
    try connection.execute("PRAGMA synchronous=NORMAL")
    // The first read makes the connection see the log; a checkpoint before it does nothing.
    _ = try connection.integer("SELECT count(*) FROM meta")
    upkeep.connection = connection
    return connection
  }

  // MARK: - Housekeeping

  package func maintain() -> Bool {
    let isSuspended = state.withLock { $0.core == nil && $0.reason == .suspended }
    if isSuspended { return false }
    let needsOpening = state.withLock { $0.core.map(\.isDamaged) ?? true }
    if needsOpening, open() != nil { return false }
    _ = settle()
    probe()
    _ = sync()
    let hasStrays = bringInStrays(atMost: SQLiteEventStore.straysPerUpkeep)
    if case .success(true) = onCore({ $0.needsRoom }) { giveRoomToEvents() }
    if case .success(true) = onCore({ $0.isLogHalfFull }) { restartLog() }
    rotateIfDue()
    let hasResealed = resealStep()
    destroyUnusedKeys()
    return shrink() || hasResealed || hasStrays
  }

  /// One step of giving pages back. True where more are waiting.
  private func shrink() -> Bool {
    let result = writing(forBytes: SQLiteEventStore.chunkBytes) { core -> Bool in
      if try core.shrinkToCap() { return true }
      guard try core.hasPagesToGiveBack() else { return false }
      try core.vacuumStep()
      return try core.hasPagesToGiveBack()
    }
    if case .success(let hasMore) = result { return hasMore }
    return false
  }

  package func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) {
    // No server lives outside these years; their sums with any stored time fit.
    guard (0...SQLiteEventStore.maxPlausibleMs).contains(confirmedNowMs) else { return }
    guard case .success(true) = onCore({ $0.keys.live != nil }) else { return }
    guard case .success = writing({ try $0.confirm(nowMs: confirmedNowMs) }) else { return }
    let (limitMs, overflows) = confirmedNowMs.subtractingReportingOverflow(maxAgeMs)
    if overflows { return }
    while case .success(let count) = writing({ try $0.dropAged(beforeMs: limitMs) }), count > 0 {}
    while case .success(let count) = writing({
      try $0.dropOrphans(nowMs: confirmedNowMs, maxAgeMs: maxAgeMs)
    }), count > 0 {}
  }

  /// The year 4,000 or so.
  private static let maxPlausibleMs: Int64 = 1 << 46

  /// Tries a small write where an earlier one failed, so that the block ends by itself.
  private func probe() {
    guard case .success(true) = onCore({ $0.block != nil }) else { return }
    _ = writing { core in try core.writeForTrial() }
  }
}
