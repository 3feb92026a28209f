/// A damaged file: moved aside, one copy at most, and a new one whose ledger begins with what
/// was lost.
extension SQLiteEventStore {
  /// The moved-aside copy is for whoever looks into the damage; beyond this part of the cap it is
  /// cut off, because the room belongs to events.
  private var maxMovedAsideBytes: Int64 { configuration.maxBytesOnDisk / 4 }

  /// Saves what can be read into a new database. Where there is room under the cap, the new one is
  /// filled beside the damaged one and takes its place when it is whole, so that a kill at any
  /// moment costs nothing; else the damaged one has to go first.
  func replaceDamaged(_ events: inout [StoreEvent]) throws -> StoreCore {
    let salvage = Salvage(path: paths.database, vfs: configuration.vfsName)
    let hint = readHint()
    guard hasRoomBeside(salvage) else {
      try clearPlace()
      let core = try openCore(paths, &events)
      try fill(core, with: salvage, hint, &events)
      return core
    }
    try fillBeside(salvage, hint, &events)
    try finishRepair()
    return try openCore(paths, &events)
  }

  private func fill(
    _ core: StoreCore, with salvage: Salvage, _ hint: StoreHint?, _ events: inout [StoreEvent]
  ) throws {
    let lost = try core.beginAfterLoss(salvage, hint: hint)
    let saved = try core.takeIn(salvage)
    events += core.takeEvents()
    events.append(.movedCorruptFileAside(lost: lost - saved))
    events.append(.dropped(count: lost - saved, reason: .corruptFile))
  }

  private func fillBeside(
    _ salvage: Salvage, _ hint: StoreHint?, _ events: inout [StoreEvent]
  ) throws {
    // An earlier copy would take the room, and goes anyway.
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    let core = try openCore(paths.repair, &events)
    do {
      defer { core.connection.close() }
      try fill(core, with: salvage, hint, &events)
      _ = try core.connection.checkpointTruncate()
    }
    // Nobody has it open any more.
    try files.sync(paths.repair.database)
    try files.rename(paths.repair.database, to: paths.repaired)
    try files.syncDirectory(configuration.directory)
  }

  /// True where the cap allows the damaged files and a new one with all that could be read.
  private func hasRoomBeside(_ salvage: Salvage) -> Bool {
    let damaged = [paths.database, paths.log, paths.sharedMemory]
      .reduce(Int64(0)) { $0 + (files.status($1)?.bytes ?? 0) }
    return damaged + salvage.estimatedFileBytes + configuration.effectiveWALBudget
      + StoreCore.sharedMemoryBytes(logBudget: configuration.effectiveWALBudget)
      <= configuration.maxBytesOnDisk
  }

  /// Ends a repair that a kill interrupted: what was filled to its end takes the damaged one's
  /// place, what was not is thrown away, for the damaged one is still there then. True where one
  /// took its place.
  @discardableResult
  func finishRepair() throws -> Bool {
    for path in [paths.repair.database, paths.repair.log, paths.repair.sharedMemory]
    where files.status(path) != nil {
      try files.removeTree(path)
    }
    guard files.status(paths.repaired)?.isDirectory == false else { return false }
    try clearPlace()
    try files.rename(paths.repaired, to: paths.database)
    try files.syncDirectory(configuration.directory)
    return true
  }

  /// Moves the damaged database aside and removes its log: another database must never find it.
  private func clearPlace() throws {
    try moveAside(paths.database)
    for path in [paths.log, paths.sharedMemory] where files.status(path) != nil {
      try files.removeTree(path)
    }
    try files.syncDirectory(configuration.directory)
  }

  /// Folders where the store's files should be are not the store's: out of the way with them.
  func moveFoldersAway() throws {
    for path in [paths.database, paths.log, paths.sharedMemory]
    where files.status(path)?.isDirectory == true {
      try moveAside(path)
    }
  }

  private func moveAside(_ path: String) throws {
    guard let status = files.status(path) else { return }
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    try files.rename(path, to: paths.movedAside)
    if !status.isDirectory, status.bytes > maxMovedAsideBytes {
      try files.truncate(paths.movedAside, bytes: maxMovedAsideBytes)
    }
    try files.syncDirectory(configuration.directory)
  }

  /// The copy goes when events need its room. True where it is gone.
  func removeMovedAside() -> Bool {
    do {
      try files.removeTree(paths.movedAside)
      let isSet = onCore { core in
        try core.setPageCap(
          movedAsideBytes: 0, leftAloneBytes: leftAloneBytes(beside: core.paths))
      }
      if case .success = isSet { return true }
    } catch {
      // Tried again at the next quiet moment.
    }
    return false
  }

  func readHint() -> StoreHint? {
    upkeep.withLock { upkeep in upkeep.lock.flatMap { StoreHint($0.read()) } }
  }

  /// After a sync; only for the file that the hint belongs to.
  func writeHint() {
    let hint = onCore { core -> StoreHint? in
      guard core.paths.base == paths.base else { return nil }
      return StoreHint(storeID: core.storeID, counts: core.synced)
    }
    guard case .success(.some(let hint)) = hint else { return }
    upkeep.withLock { upkeep in
      guard upkeep.hint != hint else { return }
      upkeep.lock?.write(hint.encoded)
      upkeep.hint = hint
    }
  }

  /// Compares the database with the hint: a file that was emptied or deleted, or a log that was
  /// overwritten, looks whole and still has lost events.
  func countSilentLoss(_ core: StoreCore, _ events: inout [StoreEvent]) throws {
    guard core.paths.base == paths.base, let hint = readHint() else { return }
    let lost = try core.settle(with: hint)
    if lost > 0 { events.append(.dropped(count: lost, reason: .corruptFile)) }
  }
}
