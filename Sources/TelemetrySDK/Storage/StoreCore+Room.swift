extension StoreCore {
  /// Pages kept back from new rows, so that deletes and moves go through at the cap.
  private static let reservePages: Int64 = 16
  /// Evictions for one write: more would hold the lock too long.
  private static let maxEvictions = 32

  /// Sets the cap on the database's pages: what is left beside log, shared memory and a file
  /// that was moved aside.
  ///
  /// - Parameters:
  ///   - movedAsideBytes: Of a copy of a damaged file.
  ///   - leftAloneBytes: Of other databases, as of a newer schema. At least a quarter of the cap
  ///     stays for this database and its log all the same.
  ///   - hasRoomToGive: True where some of it can go when events need the room.
  func setPageCap(
    movedAsideBytes: Int64, leftAloneBytes: Int64, hasRoomToGive: Bool
  ) throws {
    let budget = configuration.effectiveWALBudget
    let sharedMemory = StoreCore.sharedMemoryBytes(logBudget: budget)
    self.hasRoomToGive = hasRoomToGive
    needsRoom = false
    let leftAlone = min(leftAloneBytes, configuration.maxBytesOnDisk / 4 * 3)
    let others = budget + sharedMemory + movedAsideBytes + leftAlone + 8192
    maxPages = max(32, (configuration.maxBytesOnDisk - others) / Schema.pageBytes)
    try allow(pages: maxPages - StoreCore.reservePages)
  }

  /// The most that the shared memory of a log of this size takes.
  static func sharedMemoryBytes(logBudget: Int64) -> Int64 {
    32_768 * (1 + logBudget / (4096 * Schema.frameBytes) + 1)
  }

  private func allow(pages: Int64) throws {
    try connection.execute("PRAGMA max_page_count=\(pages)")
  }

  /// Runs a write; where the cap refuses it, evicts the oldest rows and tries again.
  func makingRoom<Result>(forBytes bytes: Int, _ write: () throws -> Result) throws -> Result {
    for _ in 0..<StoreCore.maxEvictions {
      do {
        return try write()
      } catch let error as SQLiteError where error.primary == 13 {
        guard try isAtPageCap(forBytes: bytes) else { throw error }
        guard logHasRoom(forBytes: bytes + StoreCore.chunkBytes * 2) else { throw LogIsFull() }
        guard try evictOldest(bytes: bytes) > 0 else { throw error }
      }
    }
    return try write()
  }

  /// For rows that leave another file of ours for this one.
  func growing<Result>(by bytes: Int64, _ write: () throws -> Result) throws -> Result {
    let pages = try connection.integer("PRAGMA page_count") ?? 0
    let usual = maxPages
    maxPages = max(maxPages, pages + bytes / Schema.pageBytes)
    defer {
      maxPages = usual
      // try? because the next write sets it again where this one fails.
      try? allow(pages: maxPages - StoreCore.reservePages)
    }
    try allow(pages: maxPages)
    return try write()
  }

  /// Tells the cap from a full disk: SQLite answers both with the same code.
  private func isAtPageCap(forBytes bytes: Int) throws -> Bool {
    let pages = try connection.integer("PRAGMA page_count") ?? 0
    let needed = Int64(bytes) / 4000 + Int64(StoreCore.pagesBesideTheRow)
    return pages + needed > maxPages - StoreCore.reservePages
  }

  /// Deletes the oldest rows that are not in flight: a chunk, or as many large ones as make room
  /// for so many bytes. Returns how many.
  func evictOldest(bytes: Int = 0) throws -> Int {
    needsRoom = hasRoomToGive
    try allow(pages: maxPages)
    defer {
      // try? because the next write sets it again where this one fails.
      try? allow(pages: maxPages - StoreCore.reservePages)
    }
    let rows = try oldestRows(
      limit: StoreCore.chunkRows, bytes: max(bytes, StoreCore.chunkBytes))
    try drop(rows, reason: .queueFull)
    return rows.count
  }

  /// Brings a database that outgrew its cap (a smaller configuration, a file moved aside) back.
  func shrinkToCap() throws -> Bool {
    guard let pages = try connection.integer("PRAGMA page_count"), pages > maxPages else {
      return false
    }
    if (try connection.integer("PRAGMA freelist_count") ?? 0) < StoreCore.vacuumPages {
      guard try evictOldest() > 0 else { return false }
    }
    try vacuumStep()
    return true
  }

  /// Pages given back per step.
  static let vacuumPages: Int64 = 16

  /// True where so much of the file is free that giving it back is worth the writes.
  func hasPagesToGiveBack() throws -> Bool {
    let free = try connection.integer("PRAGMA freelist_count") ?? 0
    guard free > StoreCore.vacuumPages else { return false }
    return free * 4 > (try connection.integer("PRAGMA page_count") ?? 0)
  }

  func vacuumStep() throws {
    try connection.execute("PRAGMA incremental_vacuum(\(StoreCore.vacuumPages))")
    noteCommit()
  }
}
