import CSQLite

/// One connection to one database: the module's only caller of SQLite.
///
/// Not thread safe: opened without SQLite's own mutexes, its owner serialises calls.
package final class SQLiteConnection {
  /// Where a checkpoint came to.
  package struct CheckpointProgress {
    /// Frames in the log, and how many of them are in the database by now.
    package let logFrames: Int
    package let copiedFrames: Int
    package var isComplete: Bool { logFrames == copiedFrames }
  }

  private var handle: OpaquePointer?
  /// Written by the commit hook on the connection's own thread.
  private let walFrames = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  private var statements: [SQLiteStatement] = []

  /// Opens or creates the file.
  ///
  /// - Parameters:
  ///   - vfs: The name of a registered VFS, for tests; nil for the system's.
  ///   - busyMs: How long a statement waits for another connection's lock.
  package init(path: String, vfs: String?, busyMs: Int32) throws {
    walFrames.initialize(to: 0)
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &handle, flags, vfs)
    guard status == SQLITE_OK, let handle else {
      let error = makeError(status, "open")
      throw error  // The deinitializer closes what there is.
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, busyMs)
    // Takes the place of the automatic checkpoint, which would run on the caller. The pragma that
    // turns that off would take the hook away.
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        context?.assumingMemoryBound(to: Int32.self).pointee = frames
        return SQLITE_OK
      }, walFrames)
  }

  deinit {
    close()
    walFrames.deallocate()
  }

  /// Finalises the connection's statements and closes it.
  package func close() {
    for statement in statements { statement.finalize() }
    statements = []
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// Closes without a checkpoint and without deleting the log: the files stay as they are.
  package func closeUntouched() {
    skipCheckpointOnClose()
    close()
  }

  package func skipCheckpointOnClose() { _ = csqlite_no_checkpoint_on_close(handle) }

  /// Frames in the log after the last commit of this connection.
  package var framesAfterLastCommit: Int { Int(walFrames.pointee) }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  package var changes: Int { Int(sqlite3_changes(handle)) }
  /// True where no statement holds a read or write transaction open.
  package var isIdle: Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 { return false }
      statement = sqlite3_next_stmt(handle, current)
    }
    return !isInTransaction
  }

  package func setBusyMs(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  package func execute(_ sql: String) throws {
    let status = sqlite3_exec(handle, sql, nil, nil, nil)
    guard status == SQLITE_OK else { throw makeError(status, sql) }
  }

  /// A statement kept for the connection's life.
  package func prepare(_ sql: String) throws -> SQLiteStatement {
    let statement = later(sql)
    try statement.prepareIfNeeded()
    return statement
  }

  /// The same, prepared when it is first used.
  package func later(_ sql: String) -> SQLiteStatement {
    let statement = SQLiteStatement(sql: sql, connection: self)
    statements.append(statement)
    return statement
  }

  fileprivate func makePointer(_ sql: String) throws -> OpaquePointer {
    var pointer: OpaquePointer?
    let status = sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard status == SQLITE_OK, let pointer else { throw makeError(status, sql) }
    return pointer
  }

  /// The first column of the first row; nil where there is no row or the column is null.
  package func integer(_ sql: String) throws -> Int64? {
    var pointer: OpaquePointer?
    let status = sqlite3_prepare_v2(handle, sql, -1, &pointer, nil)
    guard status == SQLITE_OK else { throw makeError(status, sql) }
    defer { sqlite3_finalize(pointer) }
    switch sqlite3_step(pointer) {
    case SQLITE_ROW:
      return sqlite3_column_type(pointer, 0) == SQLITE_NULL
        ? nil : sqlite3_column_int64(pointer, 0)
    case SQLITE_DONE: return nil
    case let status: throw makeError(status, sql)
    }
  }

  /// Copies as much of the log into the database as no reader hinders; waits for nobody.
  package func checkpointPassive() throws -> CheckpointProgress {
    try checkpoint(SQLITE_CHECKPOINT_PASSIVE)
  }

  /// Copies all of the log and empties it.
  package func checkpointTruncate() throws -> CheckpointProgress {
    try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
  }

  private func checkpoint(_ mode: Int32) throws -> CheckpointProgress {
    var log: Int32 = 0
    var copied: Int32 = 0
    let status = sqlite3_wal_checkpoint_v2(handle, "main", mode, &log, &copied)
    guard status == SQLITE_OK else { throw makeError(status, "checkpoint") }
    return CheckpointProgress(logFrames: Int(log), copiedFrames: Int(copied))
  }

  fileprivate func makeError(_ status: Int32, _ operation: String) -> SQLiteError {
    SQLiteError(
      code: handle == nil ? status : max(status, sqlite3_extended_errcode(handle)),
      operation: operation,
      message: handle == nil ? "" : String(cString: sqlite3_errmsg(handle)))
  }
}

/// A prepared statement. Every use ends with `reset`, so that none holds a lock.
package final class SQLiteStatement {
  private var pointer: OpaquePointer?
  /// Why preparing failed in a bind: values are missing then, so that the use must fail.
  private var failure: (any Error)?
  private let sql: String
  private unowned let connection: SQLiteConnection

  fileprivate init(sql: String, connection: SQLiteConnection) {
    self.sql = sql
    self.connection = connection
  }

  fileprivate func prepareIfNeeded() throws {
    if let failure {
      self.failure = nil
      throw failure
    }
    if pointer == nil { pointer = try connection.makePointer(sql) }
  }

  /// For the binds: where preparing fails, `run` or `step` says so.
  private var ready: OpaquePointer? {
    guard pointer == nil, failure == nil else { return pointer }
    do { try prepareIfNeeded() } catch { failure = error }
    return pointer
  }

  fileprivate func finalize() {
    sqlite3_finalize(pointer)
    pointer = nil
  }

  package func bind(_ index: Int32, _ value: Int64) {
    sqlite3_bind_int64(ready, index, value)
  }

  package func bind(_ index: Int32, _ value: UInt64) {
    sqlite3_bind_int64(ready, index, Int64(bitPattern: value))
  }

  package func bindNull(_ index: Int32) { sqlite3_bind_null(ready, index) }

  package func bind(_ index: Int32, _ text: String) {
    sqlite3_bind_text(ready, index, text, -1, SQLiteStatement.transient)
  }

  /// Copies the bytes; nil binds null.
  package func bind(_ index: Int32, _ bytes: [UInt8]?) {
    guard let bytes else { return bindNull(index) }
    sqlite3_bind_blob(ready, index, bytes, Int32(bytes.count), SQLiteStatement.transient)
  }

  package func bind(_ index: Int32, _ id: SIMD16<UInt8>) {
    _ = withUnsafeBytes(of: id) {
      sqlite3_bind_blob(ready, index, $0.baseAddress, 16, SQLiteStatement.transient)
    }
  }

  /// Does not copy: the bytes must stay in place until `run` or `reset`.
  package func bindInPlace(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(ready, index, bytes.baseAddress, Int32(bytes.count), nil)
  }

  /// Runs to the end and resets.
  package func run() throws {
    try prepareIfNeeded()
    let status = sqlite3_step(pointer)
    guard status == SQLITE_DONE || status == SQLITE_ROW else {
      let error = connection.makeError(status, sql)
      sqlite3_reset(pointer)
      throw error
    }
    sqlite3_reset(pointer)
  }

  /// True where a row stands ready. After false or an error the statement is reset.
  package func step() throws -> Bool {
    try prepareIfNeeded()
    let status = sqlite3_step(pointer)
    if status == SQLITE_ROW { return true }
    defer { sqlite3_reset(pointer) }
    guard status == SQLITE_DONE else { throw connection.makeError(status, sql) }
    return false
  }

  package func reset() { sqlite3_reset(pointer) }

  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(pointer, column) == SQLITE_NULL
  }

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

  package func unsigned(_ column: Int32) -> UInt64 {
    UInt64(bitPattern: sqlite3_column_int64(pointer, column))
  }

  package func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(pointer, column) else { return "" }
    return String(cString: text)
  }

  package func bytes(_ column: Int32) -> [UInt8] { [UInt8](blob(column)) }

  /// Valid until the next step or reset.
  package func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(pointer, column)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, column)))
  }

  /// Sixteen bytes, or zeroes where the column holds something else.
  package func sixteen(_ column: Int32) -> SIMD16<UInt8> {
    let blob = blob(column)
    return blob.count == 16 ? blob.loadUnaligned(as: SIMD16<UInt8>.self) : SIMD16()
  }

  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
