extension StoreCore {
  static let bootsNote = ownPrefix + "boots"

  /// Reads what is known of past boots and notes the running one.
  func loadBoots() throws {
    boots = try note(StoreCore.bootsNote).map(BootAnchors.init) ?? BootAnchors()
    hasBoots = true
    if boots.begin(boot) { try setNote(StoreCore.bootsNote, boots.encoded) }
  }

  /// Dates the running boot by a confirmed time.
  func confirm(nowMs: Int64) throws {
    let startMs = nowMs - clock.now().nanoseconds / 1_000_000
    if boots.confirm(boot, startMs: startMs) {
      try setNote(StoreCore.bootsNote, boots.encoded)
    }
  }

  /// Deletes one chunk of rows that were recorded before the limit. Returns how many.
  ///
  /// Rows come in the order of recording: the first young one ends the search, and rows of an
  /// unknown key are as old as the next row that can be dated.
  func dropAged(beforeMs limitMs: Int64) throws -> Int {
    guard let first = try firstReadableSequence(),
      let last = try lastAged(from: first, beforeMs: limitMs)
    else { return 0 }
    let rows = try oldestRows(limit: StoreCore.chunkRows).filter { $0.sequence <= last }
    try drop(rows, reason: .tooOld)
    return rows.count
  }

  private func firstReadableSequence() throws -> Int64? {
    var first: Int64?
    for id in counts.queuedByKey.keys where keys.cipher(id) != nil {
      statements.firstOfKey.bind(1, id)
      defer { statements.firstOfKey.reset() }
      guard try statements.firstOfKey.step() else { continue }
      let sequence = statements.firstOfKey.integer(0)
      first = min(first ?? sequence, sequence)
    }
    return first
  }

  /// The last row of the old ones at the head of the queue.
  private func lastAged(from sequence: Int64, beforeMs limitMs: Int64) throws -> Int64? {
    let statement = statements.readFrom
    statement.bind(1, sequence - 1)
    statement.bind(2, Int64.max)
    defer { statement.reset() }
    var last: Int64?
    var dated = 0
    // Rows that cannot be dated say nothing of those behind them: there may be any number.
    while dated < StoreCore.chunkRows, try statement.step() {
      guard let cipher = keys.cipher(statement.unsigned(1)),
        let record = open(statement, cipher: cipher)
      else { continue }
      dated += 1
      guard let latest = boots.latest(record.time), latest < limitMs else { break }
      last = statement.integer(0)
    }
    return last
  }
}
