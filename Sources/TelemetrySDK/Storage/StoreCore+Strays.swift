/// A row of another database of this store, on its way into this one.
struct StrayRow {
  let head: RowHead
  let sealed: [UInt8]
  /// What lies under the seal; nil where it does not open.
  let plain: [UInt8]?
  /// Why it lies in quarantine, where it does.
  let held: QuarantineReason?
}

/// What goes over in one transaction.
struct StrayChunk {
  var rows: [StrayRow] = []
  /// Not the store's own: what a shell keeps, of session, account and gate, is as young as the rows.
  var notes: [(name: String, value: [UInt8])] = []
  var isEmpty: Bool { rows.isEmpty && notes.isEmpty }
  /// Of the rows' seals.
  var bytes: Int { rows.reduce(0) { $0 + $1.sealed.count } }
}

/// Where the reading of another database stands, and how much it takes at once.
struct StrayReading {
  /// True where the files come near the cap: a chunk lies in both databases and in both logs for a
  /// moment.
  var isTight = false
  fileprivate var maxRows: Int { isTight ? 32 : StoreCore.chunkRows }
  fileprivate var maxBytes: Int { isTight ? 16_000 : StoreCore.chunkBytes }
  fileprivate var queued = Int64.min
  fileprivate var quarantined = Int64.min
}

/// The database that the rows come from.
extension StoreCore {
  /// The next rows to be brought over: of the queue in their order, then of the quarantine. Rows
  /// whose key is not there, or whose account only a later version can tell, stay where they are.
  func readStrays(_ reading: inout StrayReading) throws -> StrayChunk {
    var rows = try queuedStrays(&reading)
    if rows.isEmpty { rows = try quarantinedStrays(&reading) }
    let notes = try readableNotes().filter { !$0.name.hasPrefix(StoreCore.ownPrefix) }
    return StrayChunk(rows: rows, notes: notes)
  }

  private func queuedStrays(_ reading: inout StrayReading) throws -> [StrayRow] {
    let statement = statements.readFrom
    statement.bind(1, reading.queued)
    statement.bind(2, Int64(-1))
    defer { statement.reset() }
    var rows: [StrayRow] = []
    var bytes = 0
    while rows.count < reading.maxRows, bytes < reading.maxBytes, try statement.step() {
      reading.queued = statement.integer(0)
      let row = stray(RowHead(statement), statement.bytes(5), held: nil)
      if let row { rows.append(row) }
      bytes += row?.sealed.count ?? 0
    }
    return rows
  }

  private func quarantinedStrays(_ reading: inout StrayReading) throws -> [StrayRow] {
    var rows: [StrayRow] = []
    while rows.isEmpty {
      let found = try quarantineRows(after: reading.quarantined, limit: reading.maxRows)
      var bytes = 0
      let next = found.prefix { row in
        defer { bytes += Int(row.bytes) }
        return bytes < reading.maxBytes
      }
      guard let last = next.last else { break }
      reading.quarantined = last.head.sequence
      rows = next.compactMap { row in
        let reason = QuarantineReason(code: row.code, detail: openDetail(row))
        return stray(row.head, row.sealed, held: reason)
      }
    }
    return rows
  }

  /// Nil where it has to stay.
  private func stray(
    _ head: RowHead, _ sealed: [UInt8], held: QuarantineReason?
  ) -> StrayRow? {
    guard let cipher = keys.cipher(head.key) else { return nil }
    let plain = sealed.withUnsafeBytes {
      RecordSealer.open($0, place: eventPlace(head), cipher: cipher)
    }
    if let plain, EventRecord(plain) == nil, EventRecord.isOfLaterVersion(plain) { return nil }
    return StrayRow(head: head, sealed: sealed, plain: plain, held: held)
  }

  /// Deletes rows that were brought over. They were recorded there: this ledger is without them.
  func forgetStrays(_ chunk: StrayChunk) throws {
    try forget(
      queued: chunk.rows.filter { $0.held == nil }.map(\.head),
      quarantined: Set(chunk.rows.filter { $0.held != nil }.map(\.head.sequence)),
      notes: chunk.notes.map(\.name))
  }

  /// The same for rows of which a kill left only the ids.
  func forgetStrays(named ids: [SIMD16<UInt8>]) throws {
    guard !ids.isEmpty else { return }
    let ids = Set(ids)
    var queued: [RowHead] = []
    let statement = statements.readFrom
    statement.bind(1, Int64.min)
    statement.bind(2, Int64(-1))
    do {
      defer { statement.reset() }
      while queued.count < ids.count, try statement.step() {
        if ids.contains(statement.sixteen(3)) { queued.append(RowHead(statement)) }
      }
    }
    var held: Set<Int64> = []
    var place = Int64.min
    while queued.count + held.count < ids.count {
      let found = try quarantineRows(after: place, limit: StoreCore.chunkRows)
      guard let last = found.last else { break }
      place = last.head.sequence
      held.formUnion(found.filter { ids.contains($0.head.rid) }.map(\.head.sequence))
    }
    try forget(queued: queued, quarantined: held)
  }

  private func forget(
    queued: [RowHead], quarantined: Set<Int64>, notes: [String] = []
  ) throws {
    guard !queued.isEmpty || !quarantined.isEmpty || !notes.isEmpty else { return }
    try transaction {
      for name in notes { try writeNote(name, nil) }
      try delete(queued)
      for sequence in quarantined.sorted() {
        if let row = try quarantineRows(after: sequence - 1, limit: 1).first {
          try removeQuarantined(row)
        }
      }
      counts.requeued += Int64(queued.count + quarantined.count)
      try saveCounts()
    }
    // On the medium, before a later mark forgets which rows these were.
    _ = try connection.checkpointTruncate()
  }

  /// Gives all free pages back to the disk, a few at a time, so that its log stays short.
  func shrinkWhole() throws {
    var free = try connection.integer("PRAGMA freelist_count") ?? 0
    while free > 0 {
      try connection.execute("PRAGMA incremental_vacuum(\(StoreCore.strayVacuumPages))")
      _ = try connection.checkpointTruncate()
      let left = try connection.integer("PRAGMA freelist_count") ?? 0
      guard left < free else { break }
      free = left
    }
  }
  private static let strayVacuumPages = 4
  /// What the log of such a database takes at once where room is tight, at most.
  static let strayLogBytes: Int64 = 80_000
}

/// The database that they come into.
extension StoreCore {
  /// True where rows can be sealed for it and dated.
  var isReady: Bool { keys.live != nil && keys.secret != nil && hasBoots }

  func emptyLog() throws {
    _ = try connection.checkpointTruncate()
    logFrames = 0
  }

  /// One transaction: the rows, sealed anew, behind those that are queued; the notes, which are
  /// younger than those that are here; what the other ledger
  /// says of events that are gone; and the mark.
  ///
  /// - Parameter room: Bytes by which the database may grow for it, also where files that are about
  ///   to shrink leave less to it.
  func takeStrays(
    _ chunk: StrayChunk, from old: StrayMark, to new: StrayMark, name: String, room: Int64
  ) throws {
    let bytes = chunk.bytes + chunk.rows.count * 200
    let bootsBefore = boots
    var evicted: Int64 = 0
    do {
      try growing(by: room) {
        try makingRoom(forBytes: bytes) {
          try transaction {
            for row in chunk.rows { try insertStray(row) }
            let younger = try youngerNotes()
            for note in chunk.notes where !younger.contains(note.name) {
              try writeNote(note.name, note.value)
            }
            evicted = try boundQuarantine()
            countGone(from: old, to: new)
            if boots != bootsBefore { try writeNote(StoreCore.bootsNote, boots.encoded) }
            try writeStrayMark(new, name)
            try saveCounts()
          }
        }
      }
    } catch {
      boots = bootsBefore
      throw error
    }
    if evicted > 0 { events.append(.dropped(count: evicted, reason: .quarantineFull)) }
  }

  /// Recorded there, and gone there.
  private func countGone(from old: StrayMark, to new: StrayMark) {
    let delivered = max(0, new.delivered - old.delivered)
    counts.delivered += delivered
    counts.base += delivered
    for (index, reason) in StoreCounts.reasonColumns.enumerated() {
      let dropped = max(0, new.dropped[index] - old.dropped[index])
      counts.dropped[reason, default: 0] += dropped
      counts.base += dropped
    }
  }

  /// Within a transaction.
  private func insertStray(_ row: StrayRow) throws {
    guard let live = keys.live else { throw StoreCore.noRandomness }
    guard let plain = row.plain, let record = EventRecord(plain) else {
      // Kept as it is: whoever looks into the quarantine sees that there was one.
      return try insertQuarantinedStray(
        QuarantineRow(
          head: row.head, sealed: row.sealed, code: QuarantineReason.unreadable.code,
          detailKey: nil, detail: []))
    }
    let tag = try record.callerID.map { try callerTag(EventID(bytes: $0)) }
    if let tag, counts.quarantinedTags.contains(tag) { return }
    let head = RowHead(
      sequence: counts.lastSequence + 1, key: live.id, account: try accountTag(record.account),
      rid: row.head.rid, tag: tag)
    var sealed: [UInt8] = []
    guard
      RecordSealer.seal(
        head: [], body: plain, place: eventPlace(head), cipher: live.cipher, into: &sealed)
    else { throw StoreCore.noRandomness }
    keys.seals += 1
    boots.learn(record.time.boot)
    if let reason = row.held {
      let words = sealedWords(reason, of: head.rid)
      return try insertQuarantinedStray(
        QuarantineRow(
          head: head, sealed: sealed, code: reason.code, detailKey: words.key,
          detail: words.sealed))
    }
    do {
      try insertLast(head, sealed: sealed)
    } catch let error as SQLiteError where error.meaning == .constraint && tag != nil {
      return  // The app recorded it here, too, under its own id.
    }
  }

  private func insertQuarantinedStray(_ row: QuarantineRow) throws {
    counts.lastSequence += 1
    try insertQuarantined(row.numbered(counts.lastSequence))
  }

  /// Counts everything in a database that is given up, once.
  func countStrays(
    of source: StoreCounts, from mark: StrayMark, name: String, as reason: DropReason
  )
    throws
  {
    guard !mark.isSettled else { return }
    let held = source.queued + source.quarantined
    let settled = mark.settled(source)
    try transaction {
      countGone(from: mark, to: settled)
      counts.base += held
      counts.dropped[reason, default: 0] += held
      try writeStrayMark(settled, name)
      try saveCounts()
    }
    if held > 0 { events.append(.dropped(count: held, reason: reason)) }
  }

  /// How far a database of this name and id was brought in.
  func strayMark(_ name: String, of storeID: SIMD16<UInt8>) throws -> StrayMark {
    let fresh = StrayMark(storeID: storeID)
    guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'strays'") != nil
    else { return fresh }
    let read = statements.strayRead
    read.bind(1, name)
    defer { read.reset() }
    guard try read.step(), let mark = StrayMark(read.bytes(0)), mark.storeID == storeID
    else { return fresh }
    return mark
  }

  /// Within a transaction.
  private func writeStrayMark(_ mark: StrayMark, _ name: String) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS strays(name TEXT PRIMARY KEY, mark BLOB NOT NULL)")
    statements.strayWrite.bind(1, name)
    statements.strayWrite.bind(2, mark.encoded)
    try statements.strayWrite.run()
  }
}

/// Notes that were written here while older ones still lay in another database.
extension StoreCore {
  private static let youngerNote = ownPrefix + "younger"

  private func youngerNotes() throws -> Set<String> {
    let names = try note(StoreCore.youngerNote).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Set(names.split(separator: "\n").map(String.init))
  }

  /// A note that no older one may take the place of.
  func setYoungerNote(_ name: String, _ value: [UInt8]?) throws {
    try makingRoom(forBytes: value?.count ?? 0) {
      try transaction {
        try writeNote(name, value)
        let names = try youngerNotes().union([name]).sorted().joined(separator: "\n")
        try writeNote(StoreCore.youngerNote, Array(names.utf8))
      }
    }
  }

  /// No older notes are left.
  func forgetYoungerNotes() throws {
    guard try keyOfNote(StoreCore.youngerNote) != nil else { return }
    try setNote(StoreCore.youngerNote, nil)
  }
}
