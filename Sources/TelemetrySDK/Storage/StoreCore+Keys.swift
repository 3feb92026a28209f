extension StoreCore {
  /// The note that holds the secret behind keyed hashes.
  static let secretNote = ownPrefix + "secret"

  /// Makes a saved key the live one and seals all notes with it, in one transaction.
  func adopt(_ id: UInt64, _ cipher: AESGCM) throws {
    let before = keys
    let notes = try readableNotes()
    if keys.secret == nil { keys.secret = notes.first { $0.name == StoreCore.secretNote }?.value }
    keys.add(id, cipher)
    keys.current = id
    keys.seals = 0
    keys.savedSeals = 0
    keys.bornMs = clock.wallMs()
    do {
      try transaction {
        statements.setCurrentKey.bind(1, id)
        try statements.setCurrentKey.run()
        for note in notes { try writeNote(note.name, note.value) }
        try writeNote(StoreCore.keyAgeNote, keyAge)
        if keys.secret == nil { try makeSecret() }
      }
    } catch {
      keys = before
      throw error
    }
  }

  /// When the live key was made and how often it has sealed.
  static let keyAgeNote = ownPrefix + "keyAge"

  private var keyAge: [UInt8] {
    [keys.bornMs, keys.seals].flatMap { value in
      (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
    }
  }

  /// Counts on from what was written down, plus what may have been sealed since.
  func loadKeyAge() throws {
    guard let bytes = try note(StoreCore.keyAgeNote), bytes.count == 16 else {
      keys.bornMs = clock.wallMs()
      return try saveKeyAge()
    }
    keys.bornMs = bytes[..<8].reduce(0) { $0 << 8 | Int64($1) }
    keys.seals += bytes[8...].reduce(0) { $0 << 8 | Int64($1) } + KeyRing.sealsBetweenSaves
    keys.savedSeals = keys.seals
  }

  func saveKeyAge() throws {
    try setNote(StoreCore.keyAgeNote, keyAge)
    keys.savedSeals = keys.seals
  }

  /// A key is due at its number of seals, or when the wall clock is a lifetime away from its
  /// birth in either direction: a clock that jumps costs a key, never a row.
  var isKeyDue: Bool {
    guard keys.live != nil else { return false }
    let (ageMs, overflows) = clock.wallMs().subtractingReportingOverflow(keys.bornMs)
    return keys.seals >= configuration.sealsPerKey || overflows
      || ageMs.magnitude >= configuration.keyLifetimeMs.magnitude
  }

  /// Seals one chunk of rows of an old, loaded key under the live one. True where rows changed.
  /// It may be interrupted anywhere: each row has the key that its column names.
  func resealChunk() throws -> Bool {
    guard let (liveID, live) = keys.live,
      let oldID = counts.queuedByKey.keys.first(where: { $0 != liveID && keys.cipher($0) != nil }),
      let old = keys.cipher(oldID)
    else { return false }
    let rows = try rows(ofKey: oldID)
    var unreadable: [RowHead] = []
    try transaction {
      for (head, bytes) in rows {
        var place = SealPlace(
          domain: configuration.domain, store: storeID, account: head.account, keyID: oldID,
          row: head.rid)
        let plain = bytes.withUnsafeBytes { RecordSealer.open($0, place: place, cipher: old) }
        guard let plain else {
          unreadable.append(head)
          continue
        }
        place.keyID = liveID
        var fresh: [UInt8] = []
        guard
          RecordSealer.seal(head: [], body: plain, place: place, cipher: live, into: &fresh)
        else { throw StoreCore.noRandomness }
        keys.seals += 1
        statements.reseal.bind(1, liveID)
        statements.reseal.bind(2, fresh)
        statements.reseal.bind(3, head.sequence)
        try statements.reseal.run()
        counts.removeQueued(key: oldID, account: head.account)
        counts.addQueued(key: liveID, account: head.account)
      }
    }
    if !unreadable.isEmpty { try quarantine(unreadable, reason: .unreadable) }
    return true
  }

  private func rows(ofKey id: UInt64) throws -> [(RowHead, [UInt8])] {
    let statement = statements.rowsOfKey
    statement.bind(1, id)
    statement.bind(2, Int64(StoreCore.chunkRows))
    defer { statement.reset() }
    var rows: [(RowHead, [UInt8])] = []
    var bytes = 0
    while bytes < StoreCore.chunkBytes, try statement.step() {
      rows.append((RowHead(statement), statement.bytes(5)))
      bytes += rows[rows.count - 1].1.count
    }
    return rows
  }

  /// Within a transaction.
  func makeSecret() throws {
    guard let secret = SystemRandom.shared.bytes(32) else { throw StoreCore.noRandomness }
    try writeNote(StoreCore.secretNote, secret)
    keys.secret = secret
    accountTags = [:]
  }

  /// Deletes everything that was sealed, in one transaction: whole tables go without touching
  /// their pages. The gate stays where it is sealed with the key that was kept for it.
  func purgeRows(keepingGateOf kept: UInt64?) throws {
    try transaction {
      let gone = counts.queued + counts.quarantined
      let gateKey = try keyOfNote(GateRecord.noteKey)
      let isGateKept = kept != nil && gateKey == kept
      let others = isGateKept ? " WHERE name<>'\(GateRecord.noteKey)'" : ""
      try connection.execute(
        "DELETE FROM events; DELETE FROM quarantine; DELETE FROM notes\(others);")
      try connection.execute("UPDATE meta SET current_key=NULL")
      counts.dropped[.purged, default: 0] += gone
      counts.forgetRows()
      if isGateKept, let kept { counts.addNote(key: kept) }
      try saveCounts()
    }
    keys.removeAll()
    boots = BootAnchors()
    hasBoots = false
    inFlight = []
    accountNames = [:]
    accountTags = [:]
  }
}
