import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Damaged, foreign, old and new files: the host goes on, what can be read is kept, what is lost
/// is counted.
final class DamageTests: StoreTestCase {
  /// A store with so many rows, closed as a kill would.
  private func fill(_ count: Int, bytes: Int = 200, synced: Bool = true) -> [EventID] {
    let store = openStore()
    let events = (0..<count).map { NewEvent.make($0, bytes: bytes) }
    for event in events { XCTAssertNotNil(store.append(event).sequence) }
    XCTAssertNil(store.sync())
    if synced { store.close() } else { store.abandon() }
    return events.map(\.id)
  }

  private func damage(_ path: String, at offset: UInt64, _ bytes: [UInt8]) throws {
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: path))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }

  /// Opens three times; new events must be taken each time, and what was lost stays counted.
  private func surviveThreeStarts(
    _ count: Int, line: UInt = #line
  ) -> (kept: Int, lost: Int64) {
    var kept = 0
    var lost: Int64 = 0
    for start in 0..<3 {
      let store = openStore()
      XCTAssertNotNil(store.append(.make(10_000 + start)).sequence, line: line)
      let ledger = store.snapshot().ledger
      XCTAssertTrue(ledger.balances, "\(ledger)", line: line)
      if start == 0 {
        lost = ledger.dropped["corruptFile"] ?? 0
        kept = store.allEvents().count - 1
        XCTAssertEqual(ledger.recorded, Int64(count + 1), "\(ledger)", line: line)
      }
      XCTAssertEqual(ledger.dropped["corruptFile"] ?? 0, lost, line: line)
      XCTAssertEqual(store.allEvents().count, kept + start + 1, line: line)
      store.close()
    }
    XCTAssertEqual(Int64(kept) + lost, Int64(count), line: line)
    return (kept, lost)
  }

  func testOpen_whenTheHeaderIsGarbage_countsAllAsLost() throws {
    _ = fill(100)
    try damage(database, at: 0, [UInt8](repeating: 0xa5, count: 16))
    XCTAssertEqual(surviveThreeStarts(100).lost, 100)
    XCTAssertTrue(events.contains(.movedCorruptFileAside(lost: 100)))
    XCTAssertTrue(FileManager.default.fileExists(atPath: path("queue.damaged")))
  }

  func testOpen_whenAMiddlePageIsGarbage_keepsTheRowsAround() throws {
    _ = fill(400)
    let size = try XCTUnwrap(SystemFiles().status(database)).bytes
    let middle = UInt64(size / 4096 / 2) * 4096
    try damage(database, at: middle, [UInt8](repeating: 0xa5, count: 4096))
    let result = surviveThreeStarts(400)
    XCTAssertGreaterThan(result.kept, 300)
    XCTAssertGreaterThan(result.lost, 0)
  }

  func testOpen_whenAPageOfTheQueueIsGarbage_keepsTheQuarantine() throws {
    let ids = fill(400)
    let first = openStore()
    let reason = QuarantineReason.refused(status: 422, detail: "words")
    let oldest = first.readBatch(account: nil, bounds: .make(maxEvents: 150)).events.map(\.row)
    XCTAssertNil(first.quarantine(oldest, reason: reason))
    XCTAssertNil(
      first.quarantine(
        first.readBatch(account: nil, bounds: .make(maxEvents: 5)).events.map(\.row),
        reason: .tooLarge))
    first.close()
    // A page of the rows that are left: found by what lies in it.
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    let page = try XCTUnwrap(
      try connection.integer(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'events'"))
    connection.close()
    try damage(database, at: UInt64(page - 1) * 4096, [UInt8](repeating: 0xa5, count: 4096))

    let store = openStore()
    let held = store.quarantinedEvents(limit: 999)
    XCTAssertEqual(held.map(\.row.id), Array(ids[..<155]))
    XCTAssertEqual(held.filter { $0.reason == reason && $0.json != nil }.count, 150)
    let ledger = store.snapshot().ledger
    XCTAssertTrue(ledger.balances, "\(ledger)")
    XCTAssertEqual(ledger.recorded, 400)
    XCTAssertEqual(ledger.quarantined, 155)
    XCTAssertEqual(ledger.queued + (ledger.dropped["corruptFile"] ?? 0), 245)
    XCTAssertNotNil(store.append(.make()).sequence)
    XCTAssertEqual(store.requeueQuarantined(), 155)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testOpen_whenNumbersAreImpossible_repairsInsteadOfTrapping() throws {
    for damage in [
      "UPDATE meta SET high_water = 9223372036854775807",
      "UPDATE meta SET base = -9223372036854775808",
      "UPDATE meta SET delivered = 9223372036854775807, purged = 9223372036854775807",
      "UPDATE events SET seq = 9223372036854775807 WHERE seq = 100",
      "UPDATE events SET seq = -9223372036854775808 WHERE seq = 1",
    ] {
      try setUpWithError()
      let ids = fill(100)
      let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
      try connection.execute(damage)
      connection.close()
      let store = openStore()
      let kept = store.allEvents().map(\.row.id)
      XCTAssertGreaterThanOrEqual(kept.count, 99, damage)
      XCTAssertTrue(Set(ids).isSuperset(of: kept), damage)
      XCTAssertNotNil(store.append(.make()).sequence, damage)
      XCTAssertTrue(store.snapshot().ledger.balances, damage)
      store.close()
    }
  }

  func testHint_whenItsNumbersAreImpossible_isNone() {
    var counts = StoreCounts()
    counts.delivered = .max
    XCTAssertNil(StoreHint(StoreHint(storeID: SIMD16(), counts: counts).encoded))
    counts.delivered = 5
    XCTAssertEqual(StoreHint(StoreHint(storeID: SIMD16(), counts: counts).encoded)?.delivered, 5)
  }

  func testOpen_whenTheFileIsTruncated_countsTheLoss() throws {
    for bytes: Int64 in [0, 100, 5_000] {
      try setUpWithError()
      _ = fill(100)
      try SystemFiles().truncate(database, bytes: bytes)
      XCTAssertGreaterThan(surviveThreeStarts(100).lost, 0, "\(bytes) bytes")
    }
  }

  func testOpen_whenTheFileIsGone_countsTheLoss() throws {
    _ = fill(100)
    try SystemFiles().remove(database)
    XCTAssertEqual(surviveThreeStarts(100).lost, 100)
  }

  func testOpen_whenTheLogIsGarbage_countsTheLoss() throws {
    _ = fill(100, synced: false)
    try damage(path("queue.sqlite-wal"), at: 0, [UInt8](repeating: 0xa5, count: 4096))
    XCTAssertGreaterThan(surviveThreeStarts(100).lost, 0)
  }

  func testOpen_whenSharedMemoryIsGarbage_losesNothing() throws {
    _ = fill(100, synced: false)
    try Data(repeating: 0xa5, count: 32_768).write(
      to: URL(fileURLWithPath: path("queue.sqlite-shm")))
    XCTAssertEqual(surviveThreeStarts(100).lost, 0)
  }

  func testOpen_whenFoldersLieInThePlaces_movesThemAway() throws {
    for name in ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm"] {
      try FileManager.default.createDirectory(
        atPath: path(name) + "/inside", withIntermediateDirectories: true)
    }
    let store = openStore()
    XCTAssertNotNil(store.append(.make()).sequence)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testOpen_whenTheTablesAreAnothers_movesThemAside() throws {
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute("CREATE TABLE events(x); INSERT INTO events VALUES('theirs')")
    connection.close()
    let store = openStore()
    XCTAssertNotNil(store.append(.make()).sequence)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testOpen_whenTheSchemaIsNewer_leavesItAloneAndRecordsBeside() throws {
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE future(x)")
    try connection.execute("PRAGMA user_version=99")
    connection.close()
    let before = FileManager.default.contents(atPath: database)
    for start in 1...3 {
      let store = openStore()
      XCTAssertNotNil(store.append(.make(start)).sequence)
      XCTAssertEqual(store.allEvents().count, start)
      store.close()
    }
    XCTAssertEqual(FileManager.default.contents(atPath: database), before)
    XCTAssertTrue(events.contains(.newerSchemaLeftAlone(version: 99)))
  }

  func testOpen_whenTheSchemaIsKnownAgain_stillHasItsKeys() throws {
    let ids = fill(5)
    func setVersion(_ version: Int64) throws -> Int64 {
      let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
      defer { connection.close() }
      let old = try XCTUnwrap(try connection.integer("PRAGMA user_version"))
      try connection.execute("PRAGMA user_version=\(version)")
      return old
    }
    let own = try setVersion(99)
    let other = openStore()
    let beside = NewEvent.make(77)
    XCTAssertNotNil(other.append(beside).sequence)
    while other.maintain() {}
    other.close()
    _ = try setVersion(own)
    let store = openStore()
    XCTAssertEqual(
      store.allEvents().map(\.row.id), ids + [beside.id], "their keys are still there")
    store.close()
  }

  func testOpen_whenTheSchemaIsOlder_keepsAllRows() throws {
    let ids = fill(50)
    let old = openStore()
    XCTAssertNil(old.quarantine([old.allEvents()[0].row], reason: .tooLarge))
    old.close()
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(
      """
      ALTER TABLE quarantine DROP COLUMN detail; ALTER TABLE quarantine DROP COLUMN detail_key;
      PRAGMA user_version=1
      """)
    connection.close()
    let store = openStore()
    XCTAssertEqual(store.allEvents().map(\.row.id), Array(ids[1...]))
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.reason), [.tooLarge])
    XCTAssertNil(
      store.quarantine(
        [store.allEvents()[0].row], reason: .refused(status: 400, detail: "words")))
    XCTAssertEqual(
      store.quarantinedEvents(limit: 9).last?.reason, .refused(status: 400, detail: "words"))
    store.close()
  }

  func testReadBatch_whenOneRowIsAltered_quarantinesItAlone() throws {
    _ = fill(100)
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(
      "UPDATE events SET sealed = zeroblob(length(sealed)) WHERE seq = 1")
    // Two rows change places; a third comes from a row that is still there.
    try connection.execute(
      "UPDATE events SET rid = (SELECT rid FROM events WHERE seq=9) WHERE seq=8")
    try connection.execute("UPDATE events SET account = account + 1 WHERE seq=5")
    connection.close()
    let store = openStore()
    XCTAssertEqual(store.allEvents().count, 97)
    XCTAssertEqual(
      store.quarantinedEvents(limit: 9).map(\.reason), [.unreadable, .unreadable, .unreadable])
    XCTAssertEqual(store.requeueQuarantined(), 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testReadBatch_whenARowComesFromAnotherStore_quarantinesIt() throws {
    _ = fill(2)
    let other = makeStore { $0.directory += "/other" }
    XCTAssertNil(other.open())
    XCTAssertNotNil(other.append(.make(7)).sequence)
    other.close()
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute("ATTACH '\(path("other/queue.sqlite"))' AS other")
    try connection.execute(
      """
      INSERT INTO main.events(seq,key,account,rid,tag,sealed)
      SELECT 77,key,account,rid,tag,sealed FROM other.events
      """)
    connection.close()
    let store = openStore()
    XCTAssertEqual(store.allEvents().count, 2)
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.reason), [.unreadable])
    store.close()
  }

  func testMaintain_whenTheFileIsDamagedWhileOpen_repairsIt() throws {
    let ids = fill(300)
    let store = openStore()
    for page in 2..<20 {
      try damage(database, at: UInt64(page) * 4096, [UInt8](repeating: 0xa5, count: 4096))
    }
    // The pages in memory hide it for a while; dropping all of them does not.
    _ = store.dropAll(account: "nobody")
    _ = store.deleteDelivered(store.allEvents().map(\.row))
    _ = store.maintain()
    XCTAssertNotNil(store.append(batch: [.make(1)]).first?.sequence)
    XCTAssertTrue(store.snapshot().ledger.balances)
    XCTAssertEqual(store.snapshot().ledger.recorded, Int64(ids.count + 1))
    store.close()
  }
}
