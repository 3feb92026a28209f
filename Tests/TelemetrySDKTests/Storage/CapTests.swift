import Foundation
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// The bounds: bytes on disk at every moment, age on a confirmed clock.
final class CapTests: StoreTestCase {
  private let capBytes: Int64 = 1_000_000

  private func sizeOfFolder() throws -> Int64 {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .reduce(0) { $0 + (SystemFiles().status(path($1))?.bytes ?? 0) }
  }

  func testAppend_whenOverTheCap_dropsTheOldestAndStaysBelow() throws {
    let store = openStore { $0.maxBytesOnDisk = self.capBytes }
    let events = (0..<3_000).map { NewEvent.make($0, bytes: 900) }
    for (number, event) in events.enumerated() {
      XCTAssertNotNil(store.append(event).sequence, "event \(number)")
      if number % 50 == 0 { XCTAssertLessThanOrEqual(try sizeOfFolder(), capBytes) }
      if number % 200 == 0 { _ = store.maintain() }
    }
    let kept = store.allEvents().map(\.row.id)
    XCTAssertEqual(kept, Array(events.suffix(kept.count)).map(\.id))
    XCTAssertGreaterThan(kept.count, 350)
    let ledger = store.snapshot().ledger
    XCTAssertEqual(ledger.dropped["queueFull"], 3_000 - Int64(kept.count))
    XCTAssertTrue(ledger.balances)
    store.close()
  }

  func testAppend_whenTheOldestAreInFlight_dropsTheNext() {
    let store = openStore { $0.maxBytesOnDisk = self.capBytes }
    for number in 0..<50 { _ = store.append(.make(number, bytes: 900)) }
    let flying = store.allEvents().map(\.row)
    store.markInFlight(flying)
    for number in 50..<2_000 {
      XCTAssertNotNil(store.append(.make(number, bytes: 900)).sequence)
    }
    XCTAssertNil(store.deleteDelivered(flying))
    XCTAssertEqual(store.snapshot().ledger.delivered, 50)
    store.close()
  }

  func testAppend_whenEventsAreLarge_evictsNoMoreThanTheNewOneNeeds() {
    let store = openStore { $0.maxBytesOnDisk = 4_000_000 }
    var most: Int64 = 0
    var before: Int64 = 0
    for number in 0..<60 {
      XCTAssertNotNil(store.append(.make(number, bytes: 100_000)).sequence)
      let dropped = store.snapshot().ledger.dropped["queueFull"] ?? 0
      most = max(most, dropped - before)
      before = dropped
    }
    XCTAssertGreaterThan(before, 0)
    XCTAssertLessThanOrEqual(most, 3, "evicted for one event")
    store.close()
  }

  func testQuarantine_whenAtTheCap_doesNotEvictTheRowsThatMove() {
    let store = openStore { $0.maxBytesOnDisk = self.capBytes }
    for number in 0..<900 { _ = store.append(.make(number, bytes: 900)) }
    for _ in 0..<10 {
      let rows = Array(store.allEvents().map(\.row).prefix(40))
      let before = store.snapshot().ledger
      // Nothing marks them as in flight: so it is where a seal turns out to be broken.
      if store.quarantine(rows, reason: .refused(status: 422, detail: "no")) == nil {
        let gone = store.snapshot().ledger.dropped["quarantineFull"] ?? 0
        XCTAssertEqual(
          store.snapshot().ledger.quarantined + gone,
          before.quarantined + (before.dropped["quarantineFull"] ?? 0) + Int64(rows.count))
      }
      XCTAssertTrue(store.snapshot().ledger.balances, "\(store.snapshot().ledger)")
      for number in 0..<30 { _ = store.append(.make(number, bytes: 900)) }
    }
    XCTAssertGreaterThan(store.snapshot().ledger.dropped["queueFull"] ?? 0, 0)
    XCTAssertGreaterThan(store.snapshot().ledger.quarantined, 0)
    store.close()
  }

  func testAppend_whenManyPagesAreFree_dropsNothing() {
    let store = openStore { $0.maxBytesOnDisk = self.capBytes }
    for round in 0..<6 {
      for number in 0..<350 { _ = store.append(.make(round * 1_000 + number, bytes: 900)) }
      XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    }
    XCTAssertEqual(store.snapshot().ledger.dropped, [:])
    XCTAssertEqual(store.snapshot().ledger.delivered, 2_100)
    store.close()
  }

  func testMaintain_whenDrained_shrinksTheFileInSteps() throws {
    let store = openStore { $0.maxBytesOnDisk = 4_000_000 }
    for number in 0..<2_000 { _ = store.append(.make(number, bytes: 900)) }
    XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    var steps = 0
    while store.maintain() { steps += 1 }
    XCTAssertGreaterThan(steps, 3)
    store.close()
    XCTAssertLessThan(SystemFiles().status(database)?.bytes ?? .max, 600_000)
  }

  func testAppend_whenAFileWasMovedAside_keepsTheCapAndGivesItsRoomToEvents() throws {
    var store = openStore { $0.maxBytesOnDisk = self.capBytes }
    for number in 0..<600 { _ = store.append(.make(number, bytes: 900)) }
    store.close()
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: database))
    try handle.write(contentsOf: Data(repeating: 0xa5, count: 64))
    try handle.close()
    store = openStore { $0.maxBytesOnDisk = self.capBytes }
    XCTAssertNotNil(SystemFiles().status(path("queue.damaged")))
    for number in 0..<1_500 {
      XCTAssertNotNil(store.append(.make(number, bytes: 900)).sequence)
      if number % 50 == 0 { XCTAssertLessThanOrEqual(try sizeOfFolder(), capBytes) }
      if number % 100 == 0 { _ = store.maintain() }
    }
    XCTAssertNil(SystemFiles().status(path("queue.damaged")))
    store.close()
  }

  func testQuarantine_whenOverItsBound_dropsItsOldest() {
    let store = openStore {
      $0.maxBytesOnDisk = 4_000_000
      $0.maxQuarantineBytes = 50_000
    }
    for number in 0..<200 { _ = store.append(.make(number, bytes: 900)) }
    let rows = store.allEvents().map(\.row)
    XCTAssertNil(store.quarantine(rows, reason: .tooLarge))
    let held = store.quarantinedEvents(limit: 1_000).map(\.row)
    XCTAssertEqual(held, Array(rows.suffix(held.count)))
    XCTAssertGreaterThan(held.count, 30)
    XCTAssertEqual(
      store.snapshot().ledger.dropped["quarantineFull"], 200 - Int64(held.count))
    store.close()
  }

  func testCap_whenANewerFileIsLeftAlone_countsItAndKeepsAQuarterForEvents() throws {
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(
      """
      PRAGMA journal_mode=WAL; CREATE TABLE future(x); INSERT INTO future VALUES(zeroblob(500000));
      PRAGMA user_version=99
      """)
    connection.close()
    let store = openStore { $0.maxBytesOnDisk = self.capBytes }
    for number in 0..<1_500 {
      XCTAssertNotNil(store.append(.make(number, bytes: 900)).sequence)
      if number % 50 == 0 { XCTAssertLessThanOrEqual(try sizeOfFolder(), capBytes) }
      if number % 200 == 0 { _ = store.maintain() }
    }
    XCTAssertGreaterThan(store.allEvents().count, 10)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  // MARK: - Age

  private let dayMs: Int64 = 86_400_000

  func testEnforceAge_whenTheClockWasWrongAndIsSetRight_keepsFreshEvents() {
    let trueMs = clock.wallMs()
    clock.set { $0.wallMs = 0 }
    let store = openStore()
    for number in 0..<10 { _ = store.append(.make(number, recordedAtMs: clock.wallMs())) }
    clock.set { $0.wallMs = trueMs + 900 * dayMs }
    for number in 0..<10 { _ = store.append(.make(number, recordedAtMs: clock.wallMs())) }
    clock.set { $0.wallMs = trueMs - 900 * dayMs }
    for number in 0..<10 { _ = store.append(.make(number, recordedAtMs: clock.wallMs())) }
    store.enforceAge(confirmedNowMs: trueMs, maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 30)
    store.close()
  }

  func testEnforceAge_whenEventsAreOldByEveryClock_dropsExactlyThem() {
    let store = openStore()
    for number in 0..<150 { _ = store.append(.make(number)) }
    clock.advance(ms: 20 * dayMs)
    let young = (0..<5).map { NewEvent.make($0) }
    for event in young { _ = store.append(event) }
    clock.advance(ms: 11 * dayMs)
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.allEvents().map(\.row.id), young.map(\.id))
    XCTAssertEqual(store.snapshot().ledger.dropped, ["tooOld": 150])
    store.close()
  }

  func testEnforceAge_whenABootWasNeverDated_usesTheNextThatWas() {
    let trueMs = clock.wallMs()
    var store = openStore()
    for number in 0..<10 { _ = store.append(.make(number)) }
    store.close()
    clock.set { $0 = .init(sinceBootMs: 10, wallMs: 5, boot: "second") }
    store = openStore()
    // The first boot ended before the second began, at an unknown time: nothing is old yet.
    store.enforceAge(confirmedNowMs: trueMs + 100 * dayMs, maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 10)
    clock.advance(ms: 31 * dayMs)
    store.enforceAge(confirmedNowMs: trueMs + 131 * dayMs, maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    store.close()
  }

  func testEnforceAge_whenTheBootWasDatedBeforeItEnded_datesItsEventsExactly() {
    let trueMs = clock.wallMs()
    var store = openStore()
    for number in 0..<10 { _ = store.append(.make(number)) }
    store.enforceAge(confirmedNowMs: trueMs, maxAgeMs: 30 * dayMs)
    store.close()
    clock.set { $0 = .init(sinceBootMs: 10, wallMs: 5, boot: "second") }
    store = openStore()
    store.enforceAge(confirmedNowMs: trueMs + 29 * dayMs, maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 10)
    store.enforceAge(confirmedNowMs: trueMs + 31 * dayMs, maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    store.close()
  }

  func testEnforceAge_whenTheTimesAreAbsurd_doesNotTrap() {
    let store = openStore()
    _ = store.append(.make(recordedAtMs: .min))
    _ = store.append(.make(recordedAtMs: .max))
    for now in [Int64.min, 0, .max] {
      store.enforceAge(confirmedNowMs: now, maxAgeMs: 30 * dayMs)
      store.enforceAge(confirmedNowMs: now, maxAgeMs: .max)
    }
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }
}
