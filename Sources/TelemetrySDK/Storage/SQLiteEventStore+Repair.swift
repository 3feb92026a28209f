/// A damaged file: moved aside, one copy at most, and a new one whose ledger begins with what
/// was lost.
extension SQLiteEventStore {
  /// The moved-aside copy is for whoever looks into the damage; beyond this part of the cap it is
  /// cut off, because the room belongs to events.
  private var maxMovedAsideBytes: Int64 { configuration.maxBytesOnDisk / 4 }

  /// Saves what can be read into a new database. Where there is room under the cap and on the disk,
  /// the new one is filled beside the damaged one and takes its place when it is whole, so that a
  /// kill at any moment costs nothing; else the damaged one has to go first.
  func replaceDamaged(
    _ place: StorePaths, _ hint: StoreHint?, _ events: inout [StoreEvent]
  ) throws -> StoreCore {
    let salvage = try Salvage(path: place.database, vfs: configuration.vfsName)
    var keepsCopy = true
    if hasRoomBeside(salvage) {
      if try fillBeside(place, salvage, hint, &events) {
        try finishRepair(of: place)
        return try openCore(place)
      }
      // The disk is full, so that a copy would take the rows' room.
      keepsCopy = false
    }
    try clearPlace(place, keepsCopy: keepsCopy)
    rescued.withLock { $0 = Rescued(place: place.base, salvage: salvage, hint: hint) }
    return try refill(place, &events) ?? openCore(place)
  }

  /// Fills the new database with what was read out of the damaged one, which is gone by now. Where
  /// that fails, the next opening by this process goes on with it. Nil where there is nothing.
  func refill(_ place: StorePaths, _ events: inout [StoreEvent]) throws -> StoreCore? {
    guard var rest = rescued.withLock({ $0 }), rest.place == place.base else { return nil }
    let core = try openCore(place)
    do {
      try fill(core, with: &rest.salvage, rest.hint, &events)
      rescued.withLock { $0 = nil }
      return core
    } catch {
      rescued.withLock { $0 = rest }
      core.connection.close()
      throw error
    }
  }

  private func fill(
    _ core: StoreCore, with salvage: inout Salvage, _ hint: StoreHint?,
    _ events: inout [StoreEvent]
  ) throws {
    if !salvage.hasLedgerBegun { try core.beginAfterLoss(salvage, hint: hint) }
    salvage.hasLedgerBegun = true
    try core.takeIn(&salvage)
    events += core.takeEvents()
  }

  /// False where the disk has no room for it. To try again would end the same way each time, and
  /// meanwhile nothing could be recorded.
  private func fillBeside(
    _ place: StorePaths, _ salvage: Salvage, _ hint: StoreHint?, _ events: inout [StoreEvent]
  ) throws -> Bool {
    // An earlier copy would take the room, and goes anyway.
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    var news: [StoreEvent] = []
    do {
      try makeWhole(place.repair, of: salvage, hint, &news)
      // Nobody has it open any more.
      try files.sync(place.repair.database)
    } catch let error where SQLiteEventStore.isDiskFull(error) {
      try removeFiles(of: place.repair)
      return false
    }
    try files.rename(place.repair.database, to: place.repaired)
    try files.syncDirectory(configuration.directory)
    events += news
    return true
  }

  private func makeWhole(
    _ place: StorePaths, of salvage: Salvage, _ hint: StoreHint?, _ events: inout [StoreEvent]
  ) throws {
    var salvage = salvage
    let core = try openCore(place)
    defer { core.connection.close() }
    try fill(core, with: &salvage, hint, &events)
    _ = try core.connection.checkpointTruncate()
  }

  /// Some file systems find room only when they write: then the sync is the first to tell.
  private static func isDiskFull(_ error: any Error) -> Bool {
    (error as? SQLiteError)?.isDiskFull ?? (error as? FileError)?.isDiskFull ?? false
  }

  /// True where the cap allows the damaged files and a new one with all that could be read.
  private func hasRoomBeside(_ salvage: Salvage) -> Bool {
    let copy = files.status(paths.movedAside)?.bytes ?? 0
    return bytesOnDisk() - copy + salvage.estimatedFileBytes + configuration.effectiveWALBudget
      + StoreCore.sharedMemoryBytes(logBudget: configuration.effectiveWALBudget)
      <= configuration.maxBytesOnDisk
  }

  /// Ends a repair that a kill interrupted: what was filled to its end takes the damaged one's
  /// place, what was not is thrown away, for the damaged one is still there then. True where one
  /// took its place.
  @discardableResult
  func finishRepair(of place: StorePaths) throws -> Bool {
    try removeFiles(of: place.repair)
    guard files.status(place.repaired) != nil else { return false }
    try clearPlace(place, keepsCopy: true)
    try files.rename(place.repaired, to: place.database)
    try files.syncDirectory(configuration.directory)
    return true
  }

  func removeFiles(of place: StorePaths) throws {
    // The database last: a log without one would never be found again.
    for path in place.files.reversed() where files.status(path) != nil {
      try files.remove(path)
    }
  }

  /// Moves the damaged database aside and removes its log: another database must never find it.
  private func clearPlace(_ place: StorePaths, keepsCopy: Bool) throws {
    try moveAside(place.database)
    if !keepsCopy, files.status(paths.movedAside) != nil { try files.remove(paths.movedAside) }
    for path in [place.log, place.sharedMemory] where files.status(path) != nil {
      try files.remove(path)
    }
    try files.syncDirectory(configuration.directory)
  }

  private func moveAside(_ path: String) throws {
    guard let status = files.status(path) else { return }
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    try files.rename(path, to: paths.movedAside)
    if status.bytes > maxMovedAsideBytes {
      try files.truncate(paths.movedAside, bytes: maxMovedAsideBytes)
    }
    try files.syncDirectory(configuration.directory)
  }

  /// Folders where the store's files should be are not the store's: out of the way with them, each
  /// under a name of its own, with all that is in them.
  func moveFoldersAway() throws {
    var hasMoved = false
    for name in try files.list(configuration.directory) where StorePaths.names.contains(name) {
      let path = configuration.directory + "/" + name
      guard files.status(path)?.isDirectory == true else { continue }
      try files.rename(path, to: try freeName(for: path))
      hasMoved = true
    }
    if hasMoved { try files.syncDirectory(configuration.directory) }
  }

  private func freeName(for path: String) throws -> String {
    let names = (1...SQLiteEventStore.maxFoldersAway).lazy.map { "\(path).folder\($0)" }
    guard let name = names.first(where: { self.files.status($0) == nil }) else {
      throw FileError(operation: "rename", code: 17)  // EEXIST
    }
    return name
  }
  private static let maxFoldersAway = 1_000

  /// What nobody can read any more goes when events need its room.
  func giveRoomToEvents() {
    do {
      if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
      try dropUnreadableStrays()
      try onCore { try setPageCap($0) }.get()
    } catch {
      // Tried again at the next quiet moment.
    }
  }

  func readHint() -> StoreHint? {
    upkeep.withLock { upkeep in upkeep.lock.flatMap { StoreHint($0.read()) } }
  }

  /// After a sync; only for the file that the hint belongs to.
  func writeHint() {
    let hint = state.withLock { state -> StoreHint? in
      guard let core = state.core, !core.isDamaged, core.paths.base == paths.base else {
        return nil
      }
      return StoreHint(storeID: core.storeID, counts: core.synced)
    }
    guard let hint else { return }
    upkeep.withLock { upkeep in
      guard upkeep.hint != hint else { return }
      upkeep.lock?.write(hint.encoded)
      upkeep.hint = hint
    }
  }

  /// Compares the database with the hint: a file that was emptied or deleted, or a log that was
  /// overwritten, looks whole and still has lost events.
  func countSilentLoss(_ core: StoreCore, _ hint: StoreHint?) throws {
    guard core.paths.base == paths.base, let hint else { return }
    try core.settle(with: hint)
  }
}
