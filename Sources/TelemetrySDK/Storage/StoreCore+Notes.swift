extension StoreCore {
  static let maxNoteBytes = 4096
  /// Names that start with this belong to the store.
  static let ownPrefix = "store."

  func note(_ name: String) throws -> [UInt8]? {
    statements.noteRead.bind(1, name)
    defer { statements.noteRead.reset() }
    guard try statements.noteRead.step() else { return nil }
    let keyID = statements.noteRead.unsigned(0)
    guard let cipher = keys.cipher(keyID) else { return nil }
    return RecordSealer.open(
      statements.noteRead.blob(1), place: notePlace(name, keyID), cipher: cipher)
  }

  /// Writes or removes one note, as its own transaction.
  func setNote(_ name: String, _ value: [UInt8]?) throws {
    try makingRoom(forBytes: value?.count ?? 0) {
      try transaction { try writeNote(name, value) }
    }
  }

  /// Within a transaction; sealed with the live key unless another is given.
  func writeNote(
    _ name: String, _ value: [UInt8]?, with key: (id: UInt64, cipher: AESGCM)? = nil
  ) throws {
    if let old = try keyOfNote(name) {
      statements.noteDelete.bind(1, name)
      try statements.noteDelete.run()
      counts.removeNote(key: old)
    }
    guard let value else { return }
    guard let (id, cipher) = key ?? keys.live else { throw StoreCore.noRandomness }
    var bytes: [UInt8] = []
    guard
      RecordSealer.seal(
        head: [], body: value, place: notePlace(name, id), cipher: cipher, into: &bytes)
    else { throw StoreCore.noRandomness }
    keys.seals += 1
    statements.noteWrite.bind(1, name)
    statements.noteWrite.bind(2, id)
    statements.noteWrite.bind(3, bytes)
    try statements.noteWrite.run()
    counts.addNote(key: id)
  }

  func keyOfNote(_ name: String) throws -> UInt64? {
    statements.noteRead.bind(1, name)
    defer { statements.noteRead.reset() }
    return try statements.noteRead.step() ? statements.noteRead.unsigned(0) : nil
  }

  /// All notes that can be read, for sealing anew.
  func readableNotes() throws -> [(name: String, value: [UInt8])] {
    var names: [String] = []
    while try statements.noteNames.step() { names.append(statements.noteNames.text(0)) }
    return try names.compactMap { name in try note(name).map { (name, $0) } }
  }

  /// A note's row id is its name, padded; longer names are hashed.
  private func notePlace(_ name: String, _ keyID: UInt64) -> SealPlace {
    var row = SIMD16<UInt8>()
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for (index, byte) in name.utf8.enumerated() {
      if index < 8 { row[index] = byte }
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    for index in 0..<8 { row[8 + index] = UInt8(truncatingIfNeeded: hash >> UInt64(index * 8)) }
    return SealPlace(domain: .note, store: storeID, account: 0, keyID: keyID, row: row)
  }
}
