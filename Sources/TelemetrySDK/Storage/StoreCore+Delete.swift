/// What of a row is outside its seal.
struct RowHead: Sendable, Equatable {
  private(set) var sequence: Int64
  let key: UInt64
  let account: Int64
  let rid: SIMD16<UInt8>
  let tag: [UInt8]?

  init(sequence: Int64, key: UInt64, account: Int64, rid: SIMD16<UInt8>, tag: [UInt8]?) {
    self.sequence = sequence
    self.key = key
    self.account = account
    self.rid = rid
    self.tag = tag
  }

  init(_ statement: SQLiteStatement) {
    sequence = statement.integer(0)
    key = statement.unsigned(1)
    account = statement.integer(2)
    rid = statement.sixteen(3)
    tag = statement.isNull(4) ? nil : statement.bytes(4)
  }

  /// The same under another number.
  func numbered(_ sequence: Int64) -> RowHead {
    var head = self
    head.sequence = sequence
    return head
  }
}

extension StoreCore {
  /// Deletes delivered rows, and returns how many of those asked for it has seen to: a chunk, and
  /// in the same transaction further ones, as long as they lie side by side and nobody waits for the
  /// lock. Pages that become free are not written, so that ten such chunks cost the log hardly more
  /// than one; but hashes of callers' ids lie scattered in their index, so rows that have one go by
  /// the chunk. Rows that are gone already are not counted again.
  func deleteDelivered(
    _ rows: ArraySlice<RowReference>, isUrgent: () -> Bool = { false }
  ) throws -> Int {
    var chunk = rows.prefix(StoreCore.chunkRows)
    var found = try matching(chunk)
    guard !found.isEmpty else { return chunk.count }
    return try transaction {
      var seen = 0
      while true {
        try delete(found)
        counts.delivered += Int64(found.count)
        seen += chunk.count
        guard seen < min(rows.count, StoreCore.maxRowsDeleted), !isUrgent(),
          found.allSatisfy({ $0.tag == nil })
        else { break }
        let next = rows.dropFirst(seen).prefix(StoreCore.chunkRows)
        guard rows.prefix(seen + next.count).isRun else { break }
        chunk = next
        found = try matching(chunk)
      }
      try saveCounts()
      return seen
    }
  }

  /// Rows that one transaction deletes, at most.
  private static let maxRowsDeleted = 1_000

  /// The rows that are there and carry the id they should. A keyed hash of a caller's id would not
  /// do: it changes with the secret, and a row that is never found is sent for ever.
  func matching(_ rows: ArraySlice<RowReference>) throws -> [RowHead] {
    guard let low = rows.map(\.sequence).min(), let high = rows.map(\.sequence).max() else {
      return []
    }
    var found: [RowHead] = []
    found.reserveCapacity(rows.count)
    if high - low < Int64(rows.count) * 2 {
      var wanted: [Int64: EventID] = [:]
      for row in rows { wanted[row.sequence] = row.rowID }
      for head in try heads(from: low, through: high)
      where wanted[head.sequence]?.bytes == head.rid { found.append(head) }
    } else {
      for row in rows {
        for head in try heads(from: row.sequence, through: row.sequence)
        where head.rid == row.rowID.bytes { found.append(head) }
      }
    }
    return found
  }

  private func heads(from low: Int64, through high: Int64) throws -> [RowHead] {
    let statement = statements.inspectRange
    statement.bind(1, low)
    statement.bind(2, high)
    defer { statement.reset() }
    var heads: [RowHead] = []
    while try statement.step() { heads.append(RowHead(statement)) }
    return heads
  }

  /// Deletes rows within a transaction and keeps the counts: contiguous ones in one statement.
  func delete(_ rows: [RowHead]) throws {
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end].sequence == rows[end - 1].sequence + 1 { end += 1 }
      if end - start == 1 {
        statements.deleteOne.bind(1, rows[start].sequence)
        try statements.deleteOne.run()
      } else {
        statements.deleteRange.bind(1, rows[start].sequence)
        statements.deleteRange.bind(2, rows[end - 1].sequence)
        try statements.deleteRange.run()
      }
      start = end
    }
    for row in rows { counts.removeQueued(key: row.key, account: row.account) }
    if !laterRows.isEmpty { laterRows.subtract(rows.map(\.sequence)) }
  }

  /// The oldest rows that are not in flight, no more than it takes to come to so many bytes.
  func oldestRows(limit: Int, bytes: Int = .max) throws -> [RowHead] {
    let statement = statements.readFrom
    defer { statement.reset() }
    statement.bind(1, Int64.min)
    statement.bind(2, Int64(-1))
    var rows: [RowHead] = []
    var found = 0
    while rows.count < limit, found < bytes, try statement.step() {
      if inFlight.contains(statement.integer(0)) { continue }
      rows.append(RowHead(statement))
      found += statement.blob(5).count
    }
    return rows
  }

  /// Rows that one step looks at, at most: more would hold the lock too long.
  private static let scanRows = 1_000

  /// Deletes an account's rows, or everybody's, among the next ones behind a place. Returns where
  /// to go on; nil at the end.
  func dropChunk(account: Int64?, after place: Int64, reason: DropReason) throws -> Int64? {
    let scan = try scan(account: account, after: place)
    try drop(scan.rows, reason: reason)
    return scan.next
  }

  /// Deletes rows of the queue for a reason that is not delivery: counted in the same transaction,
  /// and told. Nothing where there are none.
  func drop(_ rows: [RowHead], reason: DropReason) throws {
    guard !rows.isEmpty else { return }
    try transaction {
      try delete(rows)
      counts.dropped[reason, default: 0] += Int64(rows.count)
      try saveCounts()
    }
    events.append(.dropped(count: Int64(rows.count), reason: reason))
  }

  private func scan(
    account: Int64?, after place: Int64
  ) throws -> (rows: [RowHead], next: Int64?) {
    let statement = statements.readFrom
    defer { statement.reset() }
    statement.bind(1, place)
    statement.bind(2, Int64(StoreCore.scanRows))
    var rows: [RowHead] = []
    var next: Int64?
    while rows.count < StoreCore.chunkRows, try statement.step() {
      next = statement.integer(0)
      if inFlight.contains(statement.integer(0)) { continue }
      if let account, statement.integer(2) != account { continue }
      rows.append(RowHead(statement))
    }
    return (rows, next)
  }
}

extension ArraySlice<RowReference> {
  /// True where sorted rows have no gap between them.
  fileprivate var isRun: Bool {
    guard let first, let last else { return true }
    return last.sequence - first.sequence == Int64(count) - 1
  }
}
