import CSQLite

/// The ledger's file: the only caller of SQLite in this module.
///
/// WAL with NORMAL: a killed server loses nothing that it answered; a power loss may take the last
/// moments, which a mock may. Used with the ledger's lock held. One process at a time has the file:
/// another would count and deduplicate by what it read at its own start.
///
/// Guard: the ledger's `state`.
final class SQLiteLedgerFile: @unchecked Sendable {
  private static let version: Int64 = 1
  /// "MBSL", so that a foreign database is not taken for a ledger.
  private static let applicationID: Int64 = 0x4d42_534c
  let path: String
  private var database: OpaquePointer?
  private var upsert: OpaquePointer?

  /// A server that is restarted may find its predecessor still ending.
  static let standardWaitMs = 5_000

  /// - Parameter waitMs: how long another process may take to give the file up.
  init(path: String, waitMs: Int = standardWaitMs) throws {
    self.path = path
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
    let status = sqlite3_open_v2(path, &database, flags, nil)
    guard status == SQLITE_OK else {
      let error = failure(status, "open")
      sqlite3_close_v2(database)
      database = nil
      throw error
    }
    do {
      try prepare(waitMs: waitMs)
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  private func close() {
    sqlite3_finalize(upsert)
    upsert = nil
    sqlite3_close_v2(database)
    database = nil
  }

  private func prepare(waitMs: Int) throws {
    try run("PRAGMA busy_timeout=\(waitMs)", "open")
    // Before the file is looked at: the lock then comes with the first write and stays.
    try run("PRAGMA locking_mode=EXCLUSIVE", "open")
    try checkOwner()
    try run("PRAGMA journal_mode=WAL", "open")
    try run("PRAGMA synchronous=NORMAL", "open")
    try run(SQLiteLedgerFile.schema, "open")
    try prepareUpsert()
  }

  /// Reads only: what is somebody else's stays as it is.
  private func checkOwner() throws {
    let foreign = LedgerError(code: 0, operation: "open", cause: "the file is not a ledger")
    let version = try integer("PRAGMA user_version", "open")
    let application = try integer("PRAGMA application_id", "open")
    guard version != 0 || application != 0 else {
      // A new file has no tables. One that has some belongs to a program that marks nothing.
      guard try integer("SELECT count(*) FROM sqlite_master", "open") == 0 else { throw foreign }
      return
    }
    guard application == SQLiteLedgerFile.applicationID else { throw foreign }
    guard version <= SQLiteLedgerFile.version else {
      throw LedgerError(
        code: 0, operation: "open", cause: "the file has the newer version \(version)")
    }
  }

  private static let schema = """
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS events(
      position INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, content INTEGER NOT NULL,
      first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, first_request INTEGER NOT NULL,
      last_request INTEGER NOT NULL, first_connection INTEGER NOT NULL, times INTEGER NOT NULL,
      times_stored INTEGER NOT NULL, conflicts INTEGER NOT NULL, incarnation TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS counts(name TEXT PRIMARY KEY, value INTEGER NOT NULL);
    PRAGMA application_id=\(applicationID);
    PRAGMA user_version=\(version);
    COMMIT;
    """

  private func prepareUpsert() throws {
    let text = """
      INSERT INTO events(id, content, first_ms, last_ms, first_request, last_request,
        first_connection, times, times_stored, conflicts, incarnation)
      VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)
      ON CONFLICT(id) DO UPDATE SET content=?2, first_ms=?3, last_ms=?4, last_request=?6,
        times=?8, times_stored=?9, conflicts=?10
      """
    try check(sqlite3_prepare_v2(database, text, -1, &upsert, nil), "prepare")
  }

  /// Writes events and all counters in one transaction.
  func write(_ slots: [LedgerTable.Slot], _ state: Ledger.State) throws {
    try run("BEGIN IMMEDIATE", "commit")
    do {
      for slot in slots {
        try write(slot, incarnation: state.incarnations[Int(slot.incarnation)])
      }
      for (name, value) in state.counts.named {
        try run("INSERT OR REPLACE INTO counts VALUES('\(name)', \(value))", "commit")
      }
      try run("COMMIT", "commit")
    } catch {
      // The first error is the one to tell; SQLite may have rolled back itself.
      try? run("ROLLBACK", "rollback")
      throw error
    }
  }

  private func write(_ slot: LedgerTable.Slot, incarnation: String) throws {
    let numbers = [
      Int64(bitPattern: slot.content), slot.firstSeenMs, slot.lastSeenMs, Int64(slot.firstRequest),
      Int64(slot.lastRequest), Int64(slot.firstConnection), Int64(slot.times),
      Int64(slot.timesStored), Int64(slot.conflicts),
    ]
    for (index, number) in numbers.enumerated() {
      try check(sqlite3_bind_int64(upsert, Int32(index + 2), number), "bind")
    }
    var id = (slot.key.high.bigEndian, slot.key.low.bigEndian)
    // The transient destructor (-1) makes SQLite copy before the call returns.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let bound = withUnsafeBytes(of: &id) {
      sqlite3_bind_blob(upsert, 1, $0.baseAddress, 16, transient)
    }
    try check(bound, "bind")
    try check(sqlite3_bind_text(upsert, 11, incarnation, -1, transient), "bind")
    let status = sqlite3_step(upsert)
    sqlite3_reset(upsert)
    guard status == SQLITE_DONE else { throw failure(status, "commit") }
  }

  /// Reads everything back.
  func load(into state: inout Ledger.State) throws {
    var statement: OpaquePointer?
    let text = """
      SELECT id, content, first_ms, last_ms, first_request, last_request, first_connection, times,
        times_stored, conflicts, incarnation FROM events ORDER BY position
      """
    try check(sqlite3_prepare_v2(database, text, -1, &statement, nil), "load")
    defer { sqlite3_finalize(statement) }
    while true {
      let status = sqlite3_step(statement)
      if status == SQLITE_DONE { break }
      guard status == SQLITE_ROW else { throw failure(status, "load") }
      try load(statement, into: &state)
    }
    for (name, _) in state.counts.named {
      let value = try integer("SELECT value FROM counts WHERE name='\(name)'", "load")
      state.counts.set(name, Int(clamping: value))
    }
  }

  private func load(_ row: OpaquePointer?, into state: inout Ledger.State) throws {
    guard sqlite3_column_bytes(row, 0) == 16, let bytes = sqlite3_column_blob(row, 0) else {
      throw LedgerError(code: 0, operation: "load", cause: "an id that is not 16 bytes")
    }
    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(row, column) }
    func short(_ column: Int32) -> UInt32 { UInt32(truncatingIfNeeded: number(column)) }
    let name = sqlite3_column_text(row, 10).map { String(cString: $0) } ?? ""
    let incarnation = state.incarnationIndex[name] ?? UInt32(state.incarnations.count)
    if state.incarnationIndex[name] == nil {
      state.incarnationIndex[name] = incarnation
      state.incarnations.append(name)
    }
    let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    state.table.append(
      LedgerTable.Slot(
        key: EventKey(high: high, low: low), content: UInt64(bitPattern: number(1)),
        firstSeenMs: number(2), lastSeenMs: number(3), firstRequest: short(4),
        lastRequest: 0, firstConnection: short(6), times: short(7), timesStored: short(8),
        conflicts: short(9), incarnation: incarnation))
  }

  /// Forgets everything.
  func clear() throws {
    try run("BEGIN IMMEDIATE; DELETE FROM events; DELETE FROM counts; COMMIT", "reset")
  }

  // MARK: - SQLite

  private func run(_ text: String, _ operation: String) throws {
    try check(sqlite3_exec(database, text, nil, nil, nil), operation)
  }

  private func integer(_ text: String, _ operation: String) throws -> Int64 {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(database, text, -1, &statement, nil), operation)
    defer { sqlite3_finalize(statement) }
    let status = sqlite3_step(statement)
    if status == SQLITE_DONE { return 0 }
    guard status == SQLITE_ROW else { throw failure(status, operation) }
    return sqlite3_column_int64(statement, 0)
  }

  private func check(_ status: Int32, _ operation: String) throws {
    guard status == SQLITE_OK else { throw failure(status, operation) }
  }

  private func failure(_ status: Int32, _ operation: String) -> LedgerError {
    let code = database.map { sqlite3_extended_errcode($0) } ?? status
    if code & 0xff == SQLITE_BUSY {
      return LedgerError(
        code: Int(code), operation: operation, cause: "another server has the file")
    }
    let cause = database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
    return LedgerError(
      code: Int(code), operation: operation,
      cause: cause.map { String(cString: $0) } ?? "unknown")
  }
}

extension LedgerCounts {
  /// Every counter with its name, for the file, the admin and the metrics.
  package var named: [(name: String, value: Int)] {
    [
      ("batches", batches), ("received", received), ("stored", stored), ("unique", unique),
      ("duplicatesWithin", duplicatesWithin), ("duplicatesAcross", duplicatesAcross),
      ("conflicting", conflicting), ("rejected", rejected), ("invalid", invalid),
    ]
  }

  mutating func set(_ name: String, _ value: Int) {
    switch name {
    case "batches": batches = value
    case "received": received = value
    case "stored": stored = value
    case "unique": unique = value
    case "duplicatesWithin": duplicatesWithin = value
    case "duplicatesAcross": duplicatesAcross = value
    case "conflicting": conflicting = value
    case "rejected": rejected = value
    case "invalid": invalid = value
    default: break
    }
  }
}
