import Foundation
import TelemetrySDK

/// Somebody else who holds the device's database: a second connection in a transaction of its own.
///
/// Belongs to the runner's thread.
final class DatabaseLock {
  private let connection: SQLiteConnection
  /// Real milliseconds to wait for a statement of the device.
  private static let busyMs: Int32 = 10_000

  /// Takes the lock; a database that is not there yet is made, empty.
  init(database: String, vfs: String? = nil) throws {
    do {
      let folder = URL(fileURLWithPath: database).deletingLastPathComponent().path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      connection = try SQLiteConnection(path: database, vfs: vfs, busyMs: DatabaseLock.busyMs)
      try connection.execute("BEGIN EXCLUSIVE")
    } catch { throw RunnerFailure("the database cannot be locked: \(error)") }
  }

  /// Lets go; the files stay as they are.
  func release() { connection.closeUntouched() }
}
