import Foundation
import TelemetrySDK
import XCTest

@testable import Scenarios

final class SealScanTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "sealscan-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder + "/queue", withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func database(_ rows: [(key: UInt64, nonce: UInt8, body: UInt8)]) throws {
    let path = folder + "/queue/queue.sqlite"
    let connection = try SQLiteConnection(path: path, vfs: nil, busyMs: 1000)
    try connection.execute("CREATE TABLE events(key INTEGER, sealed BLOB)")
    try connection.execute("CREATE TABLE quarantine(key INTEGER, sealed BLOB, detail_key, detail)")
    try connection.execute("CREATE TABLE notes(key INTEGER, sealed BLOB)")
    let insert = try connection.prepare("INSERT INTO events VALUES(?, ?)")
    for row in rows {
      insert.bind(1, row.key)
      insert.bind(
        2, [1] + Array(repeating: row.nonce, count: 12) + Array(repeating: row.body, count: 30))
      try insert.run()
    }
    connection.close()
  }

  func testScan_whenRecordsLieInADatabase_readsKeyNonceAndDigest() throws {
    try database([(7, 0xa1, 1), (UInt64.max, 0x02, 2)])
    let found = SealScan.run(folder: folder)
    XCTAssertEqual(found.unreadable, [])
    let seals = found.sightings
    XCTAssertEqual(seals.map(\.key), ["7", "ffffffffffffffff"])
    XCTAssertEqual(seals[0].nonce, String(repeating: "a1", count: 12))
    XCTAssertEqual(seals[1].nonce, String(repeating: "02", count: 12))
    XCTAssertNotEqual(seals[0].digest, seals[1].digest)
  }

  func testScan_whenTheRecordsAreOnlyInTheLog_readsThem() throws {
    try database([(7, 1, 1)])
    let connection = try SQLiteConnection(
      path: folder + "/queue/queue.sqlite", vfs: nil, busyMs: 1000)
    defer { connection.closeUntouched() }
    _ = try connection.integer("PRAGMA journal_mode=WAL")
    let sealed = "01" + String(repeating: "2a", count: 40)
    try connection.execute("INSERT INTO events VALUES(9, x'\(sealed)')")
    XCTAssertEqual(SealScan.run(folder: folder).sightings.map(\.key), ["7", "9"])
  }

  func testScan_whenANonceWasUsedTwice_givesTheCheckerItsEvidence() throws {
    try database([(7, 5, 1), (7, 5, 2)])
    var maker = HistoryMaker()
    maker.add(.seals(SealScan.run(folder: folder).sightings))
    XCTAssertEqual(maker.verdict("nonceReuse").outcome, .fail)
  }

  func testScan_whenADatabaseCannotBeRead_saysSo() throws {
    try Data("no database".utf8).write(to: URL(fileURLWithPath: folder + "/broken.sqlite"))
    let found = SealScan.run(folder: folder)
    XCTAssertEqual(found.sightings, [])
    XCTAssertEqual(found.unreadable.count, 1)
    XCTAssertEqual(found.unreadable.first?.hasPrefix("broken.sqlite: "), true)
    XCTAssertEqual(SealScan.run(folder: folder + "/missing"), SealScan.Findings())
  }

  func testScan_whenATableHasAnotherName_isNoAbsence() throws {
    try database([(7, 5, 1)])
    let path = folder + "/queue/queue.sqlite"
    let connection = try SQLiteConnection(path: path, vfs: nil, busyMs: 1000)
    try connection.execute("ALTER TABLE events RENAME TO rows")
    connection.close()
    let found = SealScan.run(folder: folder)
    XCTAssertEqual(found.unreadable.count, 1)
    var maker = HistoryMaker()
    maker.add(.seals(found.sightings, unreadable: found.unreadable))
    XCTAssertEqual(maker.verdict("nonceReuse").outcome, .unknown)
  }

  func testScan_whenTheDeviceDiedBeforeItMadeATable_findsNothing() throws {
    try Data().write(to: URL(fileURLWithPath: folder + "/young.sqlite"))
    XCTAssertEqual(SealScan.run(folder: folder), SealScan.Findings())
  }
}
