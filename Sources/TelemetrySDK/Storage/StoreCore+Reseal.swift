/// Rows of old keys sealed anew under the live one, so that the old ones can be destroyed. It may be
/// interrupted anywhere: each row has the key that its column names.
extension StoreCore {
  /// One chunk of queued rows, or of quarantined ones once no queued row is left. True where more
  /// may be waiting.
  func resealChunk() throws -> Bool {
    guard let live = keys.live else { return false }
    let old = counts.queuedByKey.keys.first { $0 != live.id && keys.cipher($0) != nil }
    if let old {
      try resealQueued(of: old, live)
      return true
    }
    return try resealQuarantined(live)
  }

  private func resealQueued(of old: UInt64, _ live: (id: UInt64, cipher: AESGCM)) throws {
    var unreadable: [RowHead] = []
    let rows = try rows(ofKey: old)
    try transaction {
      for (head, bytes) in rows {
        guard let fresh = try sealedAnew(bytes, eventPlace(head), live) else {
          unreadable.append(head)
          continue
        }
        statements.reseal.bind(1, live.id)
        statements.reseal.bind(2, fresh)
        statements.reseal.bind(3, head.sequence)
        try statements.reseal.run()
        counts.removeQueued(key: old, account: head.account)
        counts.addQueued(key: live.id, account: head.account)
      }
    }
    if !unreadable.isEmpty { try quarantine(unreadable, reason: .unreadable) }
  }

  func rows(ofKey id: UInt64) throws -> [(RowHead, [UInt8])] {
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

  /// One chunk of the quarantine, from where the last one ended. Rows that do not open stay as they
  /// are, and so does their key.
  private func resealQuarantined(_ live: (id: UInt64, cipher: AESGCM)) throws -> Bool {
    var bytes = 0
    let rows = try quarantineRows(after: resealedQuarantine, limit: StoreCore.chunkRows).prefix {
      row in
      defer { bytes += Int(row.bytes) }
      return bytes < StoreCore.chunkBytes
    }
    guard let last = rows.last else { return false }
    let old = rows.filter { $0.head.key != live.id || ($0.detailKey ?? live.id) != live.id }
    if !old.isEmpty {
      try transaction { for row in old { try reseal(row, live) } }
    }
    resealedQuarantine = last.head.sequence
    return true
  }

  /// Event and words are opened and sealed each for itself: one may be lost without the other.
  private func reseal(_ row: QuarantineRow, _ live: (id: UInt64, cipher: AESGCM)) throws {
    let event =
      row.head.key == live.id ? nil : try sealedAnew(row.sealed, eventPlace(row.head), live)
    let detail =
      row.detailKey == live.id
      ? nil : try detailPlace(row).flatMap { try sealedAnew(row.detail, $0, live) }
    guard event != nil || detail != nil else { return }
    let key = event == nil ? row.head.key : live.id
    let detailKey = detail == nil ? row.detailKey : live.id
    let update = statements.quarantineReseal
    update.bind(1, key)
    update.bind(2, event ?? row.sealed)
    if let detailKey { update.bind(3, detailKey) } else { update.bindNull(3) }
    update.bind(4, detailKey == nil ? nil : detail ?? row.detail)
    update.bind(5, row.head.sequence)
    try update.run()
    counts.removeQuarantined(key: row.head.key, detailKey: row.detailKey, bytes: row.bytes)
    counts.addQuarantined(key: key, detailKey: detailKey, bytes: row.bytes)
  }

  /// The record under the live key; nil where it does not open. Its length stays the same.
  private func sealedAnew(
    _ sealed: [UInt8], _ place: SealPlace, _ live: (id: UInt64, cipher: AESGCM)
  ) throws -> [UInt8]? {
    guard let old = keys.cipher(place.keyID),
      let plain = sealed.withUnsafeBytes({ RecordSealer.open($0, place: place, cipher: old) })
    else { return nil }
    var place = place
    place.keyID = live.id
    var fresh: [UInt8] = []
    guard RecordSealer.seal(head: [], body: plain, place: place, cipher: live.cipher, into: &fresh)
    else { throw StoreCore.noRandomness }
    keys.seals += 1
    return fresh
  }
}
