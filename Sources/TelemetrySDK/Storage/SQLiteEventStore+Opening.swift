extension SQLiteEventStore {
  package func open() -> StoreBlock? {
    let found = state.withLock { ($0.core != nil, $0.core?.isDamaged ?? false) }
    let (isOpen, isDamaged) = found
    if !isOpen || isDamaged {
      closeFiles(reason: .notOpen)
      if let block = openFiles(isSuspect: isDamaged) {
        state.withLock { $0.reason = block }
        tell([.blocked(block)])
        return block
      }
    }
    return settle()
  }

  /// After the files: an interrupted purge, then the keys.
  func settle() -> StoreBlock? {
    if isPurgeOwed, let block = finishPurge() { return block }
    return establishKeys()
  }

  private func openFiles(isSuspect: Bool) -> StoreBlock? {
    do {
      try files.createDirectory(configuration.directory)
      guard let lock = try files.lock(paths.lock) else { return .locked }
      upkeep.withLock { $0.lock = lock }
      return try openDatabase(isSuspect: isSuspect)
    } catch let error as SQLiteError {
      closeFiles(reason: .notOpen)
      if case .block(let block) = error.meaning { return block }
      return .ioError
    } catch {
      closeFiles(reason: .notOpen)
      return .notOpen
    }
  }

  /// - Parameter isSuspect: True where damage was met while the file was open; opening reads only
  ///   some of the pages, so all are checked then.
  private func openDatabase(isSuspect: Bool) throws -> StoreBlock? {
    var events: [StoreEvent] = []
    var core: StoreCore
    try moveFoldersAway()
    let wasRepaired = try finishRepair()
    do {
      core = try openCore(paths, &events)
      if wasRepaired {
        // The start that repaired it was killed before it could say so.
        let lost = core.counts.dropped[.corruptFile] ?? 0
        events.append(.movedCorruptFileAside(lost: lost))
      }
      if isSuspect { try core.checkAllPages() }
    } catch let error as SQLiteError where error.meaning == .damaged {
      core = try replaceDamaged(&events)
    }
    try countSilentLoss(core, &events)
    try install(core)
    writeHint()
    events.append(.opened(recoveredRows: core.counts.queued))
    tell(events)
    return nil
  }

  func openCore(_ paths: StorePaths, _ events: inout [StoreEvent]) throws -> StoreCore {
    let connection = try SQLiteConnection(
      path: paths.database, vfs: configuration.vfsName,
      busyMs: Int32(clamping: configuration.appendWaitMs))
    guard try Schema.prepare(connection) else {
      let version = try connection.integer("PRAGMA user_version") ?? 0
      connection.closeUntouched()
      events.append(.newerSchemaLeftAlone(version: Int(version)))
      return try openCore(paths.beside(version: Int(Schema.version)), &events)
    }
    try connection.execute("PRAGMA synchronous=NORMAL")
    let core = try StoreCore(
      configuration: configuration, paths: paths, connection: connection, clock: clock)
    core.logFrames = (files.status(paths.log)?.bytes ?? 0) / Schema.frameBytes
    try core.setPageCap(
      movedAsideBytes: files.status(paths.movedAside)?.bytes ?? 0,
      leftAloneBytes: leftAloneBytes(beside: paths))
    return core
  }

  /// A database of a newer schema with its log and shared memory, where this one lies beside it.
  func leftAloneBytes(beside open: StorePaths) -> Int64 {
    guard open.base != paths.base else { return 0 }
    return [paths.database, paths.log, paths.sharedMemory]
      .reduce(0) { $0 + (files.status($1)?.bytes ?? 0) }
  }

  private func install(_ core: StoreCore) throws {
    let log = try files.openForSync(core.paths.log)
    try files.syncDirectory(configuration.directory)
    upkeep.withLock {
      $0.database = core.paths.database
      $0.log = log
    }
    state.withLock {
      $0.core = core
      $0.syncedThrough = 0
    }
  }

  /// Closes connections and locks. Safe to call when nothing is open.
  func closeFiles(reason: StoreBlock) {
    let core = state.withLock { state -> StoreCore? in
      defer {
        state.core = nil
        state.reason = reason
      }
      return state.core
    }
    upkeep.withLock { upkeep in
      upkeep.connection?.close()
      core?.connection.close()
      upkeep.log?.close()
      upkeep.lock?.release()
      upkeep = Upkeep()
    }
  }

  package func suspend() {
    _ = sync()
    closeFiles(reason: .suspended)
  }

  package func resume() -> StoreBlock? { open() }

  package func close() {
    _ = sync()
    closeFiles(reason: .notOpen)
  }

  /// Lets go of everything as it is, without sync or checkpoint, as a kill would: for tests.
  package func abandon() {
    state.withLock { $0.core?.connection.skipCheckpointOnClose() }
    upkeep.withLock { $0.connection?.skipCheckpointOnClose() }
    closeFiles(reason: .notOpen)
  }

  /// All files of the store together, by `stat`.
  func bytesOnDisk() -> Int64 {
    let names = [
      paths.database, paths.log, paths.sharedMemory, paths.lock, paths.movedAside,
      paths.purgeIntent, paths.repaired, paths.repair.database, paths.repair.log,
      paths.repair.sharedMemory,
    ]
    let beside = paths.beside(version: Int(Schema.version))
    return (names + [beside.database, beside.log, beside.sharedMemory])
      .reduce(0) { $0 + (files.status($1)?.bytes ?? 0) }
  }
}
