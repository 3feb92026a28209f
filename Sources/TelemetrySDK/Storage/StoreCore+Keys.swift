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
    do {
      try transaction {
        statements.setCurrentKey.bind(1, id)
        try statements.setCurrentKey.run()
        for note in notes { try writeNote(note.name, note.value) }
        if keys.secret == nil { try makeSecret() }
      }
    } catch {
      keys = before
      throw error
    }
  }

  /// Within a transaction.
  func makeSecret() throws {
    guard let secret = SystemRandom.shared.bytes(32) else { throw StoreCore.noRandomness }
    try writeNote(StoreCore.secretNote, secret)
    keys.secret = secret
    accountTags = [:]
  }

  /// Deletes everything that was sealed, in one transaction: whole tables go without touching
  /// their pages.
  func purgeRows() throws {
    try transaction {
      let gone = counts.queued + counts.quarantined
      try connection.execute("DELETE FROM events; DELETE FROM quarantine; DELETE FROM notes;")
      try connection.execute("UPDATE meta SET current_key=NULL")
      counts.dropped[.purged, default: 0] += gone
      counts.forgetRows()
      try saveCounts()
    }
    keys.removeAll()
    inFlight = []
    accountNames = [:]
    accountTags = [:]
  }
}
