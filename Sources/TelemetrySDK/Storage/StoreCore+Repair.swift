extension StoreCore {
  /// Begins the new file's ledger with the old one's, everything that lay in it counted as lost.
  func beginAfterLoss(_ salvage: Salvage, hint: StoreHint?) throws {
    var old = salvage.counts ?? StoreCounts()
    old.lastSequence = max(old.lastSequence, salvage.lastSequence)
    if salvage.counts == nil, let hint { old.takeOver(hint) }
    let isSame = hint != nil && (salvage.storeID == nil || hint?.storeID == salvage.storeID)
    let gone = old.delivered + old.dropped.values.reduce(0, +)
    // Without any witness the rows in hand are counted, and at least one.
    let atLeast = max(gone + Int64(salvage.eventCount), gone + (hint == nil ? 1 : 0))
    let recorded = max(old.recorded, isSame ? hint?.recorded ?? 0 : 0, atLeast)
    let lost = recorded - gone
    try transaction {
      counts.base = recorded - counts.lastSequence
      counts.requeued = 0
      counts.delivered = old.delivered
      counts.dropped = old.dropped
      try noteUntoldLoss(isMovedAside: true)
      counts.dropped[.corruptFile, default: 0] += lost
      if let id = salvage.storeID ?? hint?.storeID {
        statements.setStore.bind(1, id)
        try statements.setStore.run()
        storeID = id
      }
      if let key = salvage.currentKey {
        statements.setCurrentKey.bind(1, key)
        try statements.setCurrentKey.run()
        keys.current = key
      }
      for note in salvage.notes {
        statements.noteWrite.bind(1, note.name)
        statements.noteWrite.bind(2, note.key)
        statements.noteWrite.bind(3, note.sealed)
        try statements.noteWrite.run()
        counts.addNote(key: note.key)
      }
      try saveCounts()
    }
  }

  /// Puts salvaged rows into the new file, newest last, as far as there is room. Each chunk is
  /// taken off the loss in its own transaction; where one fails, what is left can be taken in later.
  func takeIn(_ salvage: inout Salvage) throws {
    while salvage.rowsTaken < salvage.rows.count {
      let chunk = StoreCore.chunk(of: salvage.rows[salvage.rowsTaken...]) { $0.sealed.count }
      try takeIn(bytes: chunk.bytes) { try takeIn(chunk.rows) }
      salvage.rowsTaken += chunk.rows.count
    }
    // The quarantine within its bound, which lies far below the log's.
    while salvage.quarantineTaken < salvage.quarantine.count {
      let chunk = StoreCore.chunk(of: salvage.quarantine[salvage.quarantineTaken...]) {
        Int($0.bytes)
      }
      try takeIn(bytes: chunk.bytes) { try takeIn(quarantine: chunk.rows) }
      salvage.quarantineTaken += chunk.rows.count
    }
  }

  /// The next rows that one transaction takes, and their bytes.
  static func chunk<Row>(
    of rows: ArraySlice<Row>, _ bytesOf: (Row) -> Int
  ) -> (rows: ArraySlice<Row>, bytes: Int) {
    var bytes = 0
    let chunk = rows.prefix(chunkRows).prefix { row in
      defer { bytes += bytesOf(row) }
      return bytes < chunkBytes
    }
    return (chunk, bytes)
  }

  private func takeIn(bytes: Int, _ body: () throws -> Void) throws {
    if !logHasRoom(forBytes: bytes * 2 + 100_000) {
      _ = try connection.checkpointTruncate()
      logFrames = 0
    }
    try makingRoom(forBytes: bytes) { try transaction(body) }
  }

  /// Under new numbers, in the old order: the old numbers may be given anew in this file.
  private func takeIn(quarantine chunk: ArraySlice<QuarantineRow>) throws {
    for row in chunk {
      counts.lastSequence += 1
      counts.requeued += 1
      try insertQuarantined(row.numbered(counts.lastSequence))
    }
    let evicted = try boundQuarantine()
    counts.dropped[.corruptFile, default: 0] -= Int64(chunk.count)
    try saveCounts()
    if evicted > 0 { events.append(.dropped(count: evicted, reason: .quarantineFull)) }
  }

  private func takeIn(_ chunk: ArraySlice<Salvage.Row>) throws {
    var saved: Int64 = 0
    for row in chunk {
      do {
        try insertAgain(row.head, sealed: row.sealed)
        saved += 1
      } catch let error as SQLiteError where error.meaning == .constraint {
        continue  // A damaged tree can show a row twice.
      }
    }
    counts.dropped[.corruptFile, default: 0] -= saved
    try saveCounts()
  }

  /// Writes a row that was recorded before, at the end of the queue; within a transaction.
  func insertAgain(_ head: RowHead, sealed: [UInt8]) throws {
    try insertLast(head, sealed: sealed)
    counts.requeued += 1
  }

  /// Writes a row at the end of the queue; within a transaction.
  func insertLast(_ head: RowHead, sealed: [UInt8]) throws {
    let insert = statements.insert
    insert.bind(1, counts.lastSequence + 1)
    insert.bind(2, head.key)
    insert.bind(3, head.account)
    insert.bind(4, head.rid)
    insert.bind(5, head.tag)
    insert.bind(6, sealed)
    try insert.run()
    counts.lastSequence += 1
    counts.addQueued(key: head.key, account: head.account)
  }

  /// Throws where any page is not as it should be.
  func checkAllPages() throws {
    let check = try connection.prepare("PRAGMA quick_check(1)")
    let isSound = try check.step() && check.text(0) == "ok"
    check.reset()
    guard isSound else {
      connection.closeUntouched()
      throw SQLiteError(code: 11, operation: "quick_check", message: "damaged")
    }
  }

  /// Counts what the hint knows of and this file does not have.
  func settle(with hint: StoreHint) throws {
    if hint.storeID == storeID {
      let lost = hint.recorded - counts.recorded
      guard lost > 0 else { return }
      try transaction {
        try noteUntoldLoss(isMovedAside: false)
        counts.base += lost
        counts.dropped[.corruptFile, default: 0] += lost
        try saveCounts()
      }
      return
    }
    // Another file than the one the hint speaks of: a fresh one starts with its ledger.
    guard counts.recorded == 0, counts.delivered == 0 else { return }
    let lost = hint.held
    try transaction {
      counts.takeOver(hint)
      try noteUntoldLoss(isMovedAside: false)
      counts.dropped[.corruptFile, default: 0] += lost
      try saveCounts()
    }
  }
}

/// A loss is counted in one start and told in it, or, where a kill comes between, in the next: until
/// it is told, a table of its own says how much was counted before it.
extension StoreCore {
  struct UntoldLoss {
    var lost: Int64
    var isMovedAside: Bool

    var events: [StoreEvent] {
      (isMovedAside ? [.movedCorruptFileAside(lost: lost)] : [])
        + (lost > 0 ? [.dropped(count: lost, reason: .corruptFile)] : [])
    }
  }

  /// Within the transaction that counts the loss, and before it does.
  private func noteUntoldLoss(isMovedAside: Bool) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS untold(before INTEGER NOT NULL, moved INTEGER NOT NULL);
      INSERT INTO untold SELECT \(counts.dropped[.corruptFile] ?? 0), 0
        WHERE NOT EXISTS (SELECT 1 FROM untold);
      """)
    if isMovedAside { try connection.execute("UPDATE untold SET moved = 1") }
  }

  /// What is still to be told.
  ///
  /// - Parameter isRepaired: True where the file was repaired in this start, which is told also
  ///   where nothing was lost.
  func untoldLoss(isRepaired: Bool) throws -> UntoldLoss? {
    let counted = counts.dropped[.corruptFile] ?? 0
    guard isRepaired || counted > 0 else { return nil }
    guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'untold'") != nil,
      let before = try connection.integer("SELECT before FROM untold")
    else { return nil }
    return UntoldLoss(
      lost: max(0, counted - before),
      isMovedAside: try connection.integer("SELECT moved FROM untold") == 1)
  }

  func forgetUntoldLoss() throws {
    try transaction { try connection.execute("DROP TABLE IF EXISTS untold") }
  }
}
