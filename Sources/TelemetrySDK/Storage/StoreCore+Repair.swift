extension StoreCore {
  /// Begins the new file's ledger with the old one's, everything that lay in it counted as lost.
  /// Returns how many that are.
  func beginAfterLoss(_ salvage: Salvage, hint: StoreHint?) throws -> Int64 {
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
    return lost
  }

  /// Puts salvaged rows into the new file, newest last, as far as there is room. Each chunk is
  /// taken off the loss in its own transaction. Returns how many came back.
  func takeIn(_ salvage: Salvage) throws -> Int64 {
    var saved: Int64 = 0
    var start = 0
    while start < salvage.rows.count {
      var bytes = 0
      let chunk = salvage.rows[start...].prefix(StoreCore.chunkRows).prefix { row in
        defer { bytes += row.sealed.count }
        return bytes < StoreCore.chunkBytes
      }
      if !logHasRoom(forBytes: bytes * 2 + 100_000) {
        _ = try connection.checkpointTruncate()
        logFrames = 0
      }
      saved += try makingRoom(forBytes: bytes) {
        try transaction { try takeIn(chunk) }
      }
      start += chunk.count
    }
    return saved + (try takeInQuarantine(salvage.quarantine))
  }

  /// The quarantine within its bound, which lies far below the log's.
  private func takeInQuarantine(_ rows: [QuarantineRow]) throws -> Int64 {
    var saved: Int64 = 0
    var start = 0
    while start < rows.count {
      var bytes = 0
      let chunk = rows[start...].prefix(StoreCore.chunkRows).prefix { row in
        defer { bytes += Int(row.bytes) }
        return bytes < StoreCore.chunkBytes
      }
      if !logHasRoom(forBytes: bytes * 2 + 100_000) {
        _ = try connection.checkpointTruncate()
        logFrames = 0
      }
      saved += try makingRoom(forBytes: bytes) {
        try transaction { try takeIn(quarantine: chunk) }
      }
      start += chunk.count
    }
    return saved
  }

  /// Under new numbers, in the old order: the old numbers may be given anew in this file.
  private func takeIn(quarantine chunk: ArraySlice<QuarantineRow>) throws -> Int64 {
    for row in chunk {
      counts.lastSequence += 1
      counts.requeued += 1
      try insertQuarantined(row.numbered(counts.lastSequence))
    }
    let evicted = try boundQuarantine()
    counts.dropped[.corruptFile, default: 0] -= Int64(chunk.count)
    try saveCounts()
    if evicted > 0 { events.append(.dropped(count: evicted, reason: .quarantineFull)) }
    return Int64(chunk.count)
  }

  private func takeIn(_ chunk: ArraySlice<Salvage.Row>) throws -> Int64 {
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
    return saved
  }

  /// Writes a row that was recorded before, at the end of the queue; within a transaction.
  func insertAgain(_ head: RowHead, sealed: [UInt8]) throws {
    let insert = statements.insert
    insert.bind(1, counts.lastSequence + 1)
    insert.bind(2, head.key)
    insert.bind(3, head.account)
    insert.bind(4, head.rid)
    insert.bind(5, head.tag)
    insert.bind(6, sealed)
    try insert.run()
    counts.lastSequence += 1
    counts.requeued += 1
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

  /// Counts what the hint knows of and this file does not have. Returns how many.
  func settle(with hint: StoreHint) throws -> Int64 {
    if hint.storeID == storeID {
      let lost = hint.recorded - counts.recorded
      guard lost > 0 else { return 0 }
      try transaction {
        counts.base += lost
        counts.dropped[.corruptFile, default: 0] += lost
        try saveCounts()
      }
      return lost
    }
    // Another file than the one the hint speaks of: a fresh one starts with its ledger.
    guard counts.recorded == 0, counts.delivered == 0 else { return 0 }
    let lost = hint.held
    try transaction {
      counts.takeOver(hint)
      counts.dropped[.corruptFile, default: 0] += lost
      try saveCounts()
    }
    return lost
  }
}
