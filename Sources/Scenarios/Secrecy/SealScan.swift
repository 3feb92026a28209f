import Foundation
import TelemetrySDK

/// Reads the sealed records in a device's database: evidence that no nonce was used twice.
///
/// Works on a copy, so that nothing is recovered or checkpointed in the device's own files. Only
/// while no database in this process has the folder open.
package enum SealScan {
  /// Version, nonce and tag around the ciphertext.
  private static let versionBytes = 1
  private static let nonceBytes = 12
  /// More records than a full queue holds.
  private static let maxRecords = 500_000
  /// Tables with sealed records: key, sealed bytes.
  private static let queries = [
    "SELECT key, sealed FROM events", "SELECT key, sealed FROM quarantine",
    "SELECT detail_key, detail FROM quarantine WHERE detail IS NOT NULL",
    "SELECT key, sealed FROM notes",
  ]

  /// What was found in a folder.
  package struct Findings: Sendable, Equatable {
    package var sightings: [SealSighting] = []
    /// Databases whose records could not be read, with the reason.
    package var unreadable: [String] = []
  }

  /// Sightings in every `.sqlite` file of the folder. A file without any table (the device died
  /// before it made them) holds none; every other error is said.
  package static func run(folder: String) -> Findings {
    var findings = Findings()
    let databases = FolderFiles(below: folder).files.map(\.path)
      .filter { $0.hasSuffix(".sqlite") }.sorted()
    for database in databases {
      do {
        findings.sightings += try read(
          folder + "/" + database, room: maxRecords - findings.sightings.count)
      } catch { findings.unreadable.append("\(database): \(error)") }
    }
    return findings
  }

  private static func read(_ path: String, room: Int) throws -> [SealSighting] {
    let copy = NSTemporaryDirectory() + "seals-\(UUID().uuidString)"
    defer {
      // The copy lies in the temporary folder; what cannot be removed is the system's to clear.
      try? FileManager.default.removeItem(atPath: copy)
    }
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try SystemCalls.copyFile(path + suffix, to: copy + "/db" + suffix)
    }
    let connection = try SQLiteConnection(path: copy + "/db", vfs: nil, busyMs: 0)
    // A checkpoint of the copy would wait for the medium, for nobody's good.
    defer { connection.closeUntouched() }
    let tables = try connection.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table'")
    let isEmpty = try !tables.step()
    tables.reset()
    return isEmpty ? [] : try queries.flatMap { try sightings(connection, $0, room: room) }
  }

  private static func sightings(
    _ connection: SQLiteConnection, _ query: String, room: Int
  ) throws -> [SealSighting] {
    var found: [SealSighting] = []
    let statement = try connection.prepare(query)
    while found.count < room, try statement.step() {
      if let seal = sighting(key: statement.unsigned(0), sealed: statement.bytes(1)) {
        found.append(seal)
      }
    }
    statement.reset()
    return found
  }

  /// Nil where the bytes are too few for a sealed record.
  static func sighting(key: UInt64, sealed: [UInt8]) -> SealSighting? {
    guard sealed.count > versionBytes + nonceBytes else { return nil }
    let nonce = sealed[versionBytes..<versionBytes + nonceBytes]
    return SealSighting(
      key: String(key, radix: 16), nonce: hex(nonce), digest: digest(sealed))
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// FNV-1a of the sealed bytes: the authentication tag at their end makes chance collisions the
  /// only ones that matter.
  private static func digest(_ bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
