/// A damaged file: moved aside, one copy at most, and a new one whose ledger begins with what
/// was lost.
extension SQLiteEventStore {
  /// The moved-aside copy is for whoever looks into the damage; beyond this part of the cap it is
  /// cut off, because the room belongs to events.
  private var maxMovedAsideBytes: Int64 { configuration.maxBytesOnDisk / 4 }

  func replaceDamaged(_ events: inout [StoreEvent]) throws -> StoreCore {
    let salvage = Salvage(path: paths.database, vfs: configuration.vfsName)
    let hint = readHint()
    try moveAside(paths.database)
    for path in [paths.log, paths.sharedMemory] where files.status(path) != nil {
      try files.removeTree(path)
    }
    let core = try openCore(paths, &events)
    let lost = try core.beginAfterLoss(salvage, hint: hint)
    let saved = try core.takeIn(salvage)
    events.append(.movedCorruptFileAside(lost: lost - saved))
    events.append(.dropped(count: lost - saved, reason: .corruptFile))
    return core
  }

  /// Folders where the store's files should be are not the store's: out of the way with them.
  func moveFoldersAway() throws {
    for path in [paths.database, paths.log, paths.sharedMemory]
    where files.status(path)?.isDirectory == true {
      try moveAside(path)
    }
  }

  private func moveAside(_ path: String) throws {
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    guard let status = files.status(path) else { return }
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
