import TelemetrySDK

/// Changes a device's database behind its back: a cell of the flash that lost a bit, or the file of
/// another version of the app.
///
/// Belongs to the runner's thread.
struct DatabaseEditor {
  /// A version that no app of ours has written yet.
  private static let newer: Int64 = 99
  /// Real milliseconds to wait for a statement of the device.
  private static let busyMs: Int32 = 10_000

  /// The file's version before it was made newer.
  private var ownVersion: Int64?

  /// Returns the record in which a bit was flipped, as it was before.
  @discardableResult
  mutating func change(
    _ change: DatabaseChange, in database: String, vfs: String? = nil
  ) throws -> SealSighting? {
    do {
      let connection = try SQLiteConnection(
        path: database, vfs: vfs, busyMs: DatabaseEditor.busyMs)
      // Nothing is checkpointed: the log stays the device's.
      defer { connection.closeUntouched() }
      switch change {
      case .bitFlip: return try flipOldestRow(connection)
      case .olderVersion:
        try connection.execute(
          "BEGIN IMMEDIATE; ALTER TABLE quarantine DROP COLUMN detail_key;"
            + "ALTER TABLE quarantine DROP COLUMN detail; PRAGMA user_version = 1; COMMIT")
      case .newerVersion:
        let version = try connection.integer("PRAGMA user_version")
        if version != DatabaseEditor.newer { ownVersion = version }
        try connection.execute("PRAGMA user_version = \(DatabaseEditor.newer)")
      case .ownVersion:
        guard let ownVersion else { throw RunnerFailure("it was never of a newer version") }
        try connection.execute("PRAGMA user_version = \(ownVersion)")
        self.ownVersion = nil
      }
      return nil
    } catch { throw RunnerFailure("the database cannot be changed: \(error)") }
  }

  /// One bit in the middle of what is sealed.
  private func flipOldestRow(_ connection: SQLiteConnection) throws -> SealSighting? {
    let oldest = try connection.prepare("SELECT seq, sealed, key FROM events ORDER BY seq LIMIT 1")
    guard try oldest.step() else { throw RunnerFailure("no event is stored") }
    let sequence = oldest.integer(0)
    var sealed = oldest.bytes(1)
    let before = SealScan.sighting(key: oldest.unsigned(2), sealed: sealed)
    oldest.reset()
    guard !sealed.isEmpty else { throw RunnerFailure("the oldest event is empty") }
    sealed[sealed.count / 2] ^= 1
    let digits = sealed.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try connection.execute("UPDATE events SET sealed = x'\(digits)' WHERE seq = \(sequence)")
    return before
  }
}
