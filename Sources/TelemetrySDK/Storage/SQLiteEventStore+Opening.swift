/// The file is of a newer version than this code knows.
struct NewerSchema: Error {
  let version: Int64
}

extension SQLiteEventStore {
  package func open() -> StoreBlock? {
    let (isOpen, witness) = state.withLock { ($0.core != nil, witnessOfDamage($0)) }
    if !isOpen || witness != nil {
      closeFiles(reason: .notOpen)
      if let block = openFiles(witness) {
        state.withLock { $0.reason = block }
        tell([.blocked(block)])
        return block
      }
    }
    if let block = settle() { return block }
    _ = bringInStrays(atMost: SQLiteEventStore.straysAtOpening)
    return nil
  }

  /// What a file held that was found damaged while it was open: nobody knows it better.
  private func witnessOfDamage(_ state: State) -> StoreHint? {
    guard let core = state.core, core.isDamaged else { return nil }
    return StoreHint(storeID: core.storeID, counts: core.counts)
  }

  /// After the files: an interrupted purge, then the keys.
  func settle() -> StoreBlock? {
    if isPurgeOwed, let block = finishPurge() { return block }
    return establishKeys()
  }

  private func openFiles(_ witness: StoreHint?) -> StoreBlock? {
    do {
      try files.createDirectory(configuration.directory)
      try moveFoldersAway()
      strays.withLock { $0 = [:] }
      guard let lock = try files.lock(paths.lock) else { return .locked }
      upkeep.withLock { $0.lock = lock }
      try openDatabase(witness)
      return nil
    } catch let error as SQLiteError {
      closeFiles(reason: .notOpen)
      if case .block(let block) = error.meaning { return block }
      return .ioError
    } catch {
      closeFiles(reason: .notOpen)
      return (error as? FileError)?.isDiskFull == true ? .diskFull : .notOpen
    }
  }

  /// - Parameter witness: Given where damage was met while the file was open; opening reads only
  ///   some of the pages, so all are checked then.
  private func openDatabase(_ witness: StoreHint?) throws {
    var events: [StoreEvent] = []
    let found: (core: StoreCore, isRepaired: Bool)
    do {
      found = try openOrRepair(paths, witness, &events)
    } catch let newer as NewerSchema {
      events.append(.newerSchemaLeftAlone(version: Int(newer.version)))
      found = try openOrRepair(paths.beside(version: Schema.version), witness, &events)
    }
    let core = found.core
    try countSilentLoss(core, witness ?? readHint())
    let loss = try core.untoldLoss(isRepaired: found.isRepaired)
    try install(core)
    writeHint()
    events += loss?.events ?? []
    events.append(.opened(recoveredRows: core.counts.queued))
    tell(events)
    // Told again by the next start where this one ends first, or the write fails: better twice than
    // never.
    if loss != nil { _ = writing { try $0.forgetUntoldLoss() } }
  }

  /// The database of a place, after the repair that it needs.
  func openOrRepair(
    _ place: StorePaths, _ witness: StoreHint?, _ events: inout [StoreEvent]
  ) throws -> (core: StoreCore, isRepaired: Bool) {
    let wasRepaired = try finishRepair(of: place)
    do {
      if let core = try refill(place, &events) { return (core, true) }
      let core = try openCore(place)
      if witness != nil { try core.checkAllPages() }
      return (core, wasRepaired)
    } catch let error as SQLiteError where error.meaning == .damaged {
      let hint = place.base == paths.base ? witness ?? readHint() : witness
      return (try replaceDamaged(place, hint, &events), true)
    }
  }

  func openCore(_ place: StorePaths) throws -> StoreCore {
    let connection = try SQLiteConnection(
      path: place.database, vfs: configuration.vfsName,
      busyMs: Int32(clamping: configuration.appendWaitMs))
    guard try Schema.prepare(connection) else {
      let version = try connection.integer("PRAGMA user_version") ?? 0
      connection.closeUntouched()
      throw NewerSchema(version: version)
    }
    try connection.execute("PRAGMA synchronous=NORMAL")
    let core = try StoreCore(
      configuration: configuration, paths: place, connection: connection, clock: clock,
      appended: commits)
    core.logFrames = (files.status(place.log)?.bytes ?? 0) / Schema.frameBytes
    try setPageCap(core)
    return core
  }

  /// What the files beside the open one leave to it.
  func setPageCap(_ core: StoreCore) throws {
    let copy = files.status(paths.movedAside)?.bytes ?? 0
    try core.setPageCap(
      movedAsideBytes: copy, leftAloneBytes: leftAloneBytes(beside: core.paths),
      hasRoomToGive: copy > 0 || hasUnreadableStrays)
  }

  /// Databases with their logs that lie beside the one that is open: of a newer schema, recorded
  /// beside one, or damaged and being repaired.
  private func leftAloneBytes(beside open: StorePaths) -> Int64 {
    databases.filter { $0.base != open.base }.reduce(0) { sum, place in
      guard files.status(place.database) != nil else { return sum }
      let bytes = place.files.reduce(0) { $0 + (files.status($1)?.bytes ?? 0) }
      return sum + bytes + (place.base == paths.base ? 0 : StoreCore.strayLogBytes)
    }
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
    // try? because a folder that cannot be read holds nothing that could be counted.
    let names = (try? files.list(configuration.directory)) ?? []
    return names.filter(StorePaths.names.contains).reduce(0) { sum, name in
      let status = files.status(configuration.directory + "/" + name)
      return sum + (status.map { $0.isDirectory ? 0 : $0.bytes } ?? 0)
    }
  }
}
