extension StoreCore {
  /// The note that holds the secret behind keyed hashes.
  static let secretNote = ownPrefix + "secret"

  /// Makes a saved key the live one and seals all notes with it, in one transaction.
  func adopt(_ id: UInt64, _ cipher: AESGCM) throws {
    let before = keys
    let notes = try readableNotes()
    if keys.secret == nil { keys.secret = notes.first { $0.name == StoreCore.secretNote }?.value }
    keys.add(id, cipher)
    keys.pending = nil
    keys.current = id
    keys.seals = 0
    keys.savedSeals = 0
    keys.bornMs = clock.wallMs()
    resealedQuarantine = .min
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

  /// Within a transaction.
  func makeSecret() throws {
    guard let secret = SystemRandom.shared.bytes(32) else { throw StoreCore.noRandomness }
    try writeNote(StoreCore.secretNote, secret)
    keys.secret = secret
    accountTags = [:]
  }

  func forgetSecret() {
    keys.secret = nil
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
    laterRows = []
    accountNames = [:]
    accountTags = [:]
    namelessTags = []
    starts = [:]
  }
}
