import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// What was recorded beside a queue of a newer schema, and the queue can be read again.
final class StrayTests: StrayTestCase {
  func testStrays_whenKilledAtAnyOperation_comeInOnceAndInOrder() throws {
    let recorded = try makeStrays(140)
    try keep()
    // Once the rows are in, their old key goes: but each trial begins anew.
    keys.change { $0.failsDestroy = true }
    let whole = try measure()
    XCTAssertEqual(whole.findings.queued, recorded.own.queued + recorded.stray.queued)
    XCTAssertEqual(whole.findings.held, recorded.own.held + recorded.stray.held)
    XCTAssertEqual(whole.findings.ledger.recorded, 160)
    XCTAssertEqual(whole.findings.ledger.delivered, 10)
    XCTAssertEqual(whole.findings.ledger.dropped, [:])
    XCTAssertTrue(whole.findings.ledger.balances)
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertGreaterThan(whole.operations, 60)
    for operation in 1...whole.operations {
      try dieOpening(at: operation)
      let store = queueStore()
      XCTAssertNil(store.open(), "operation \(operation)")
      XCTAssertEqual(findings(store), whole.findings, "operation \(operation)")
      XCTAssertFalse(store.maintain(), "operation \(operation)")
      XCTAssertNil(SystemFiles().status(beside), "operation \(operation)")
      store.close()
    }
  }

  func testStrays_whenBroughtIn_areTheSameEventsOfTheSameAccount() throws {
    let recorded = try makeStrays(150)
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.accounts(), ["a", "b"])
    XCTAssertEqual(store.allEvents(account: "b").map(\.json), recorded.stray.json)
    XCTAssertEqual(
      store.quarantinedEvents(limit: 99).map(\.reason),
      Array(repeating: .refused(status: 422, detail: "no"), count: 10))
    // An id of the caller's is still known.
    let known = store.allEvents(account: "b").first { $0.row.rowID != $0.row.id }
    let again = NewEvent.make(account: "b", id: try XCTUnwrap(known?.row.id))
    XCTAssertEqual(store.append(again), .duplicate)
    XCTAssertEqual(store.requeueQuarantined(), 10)
    let rows = store.allEvents().map(\.row)
    XCTAssertNil(store.deleteDelivered(rows))
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  /// Who is logged in, in which session, and how long the server asked to wait.
  func testNotes_whenWrittenBesideTheQueue_areTheYoungerOnes() throws {
    func note(_ name: String, _ value: UInt8, version: Int64) throws {
      let store = queueStore()
      XCTAssertNil(store.open())
      XCTAssertNil(store.setNote(name, [value]))
      store.close()
      try setVersion(version)
    }
    try note("account", 1, version: Schema.version)
    try note("session", 2, version: newer)
    try note("account", 3, version: newer)
    try note("gate", 4, version: Schema.version)
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.note("account"), [3])
    XCTAssertEqual(store.note("session"), [2])
    XCTAssertEqual(store.note("gate"), [4])
    XCTAssertNil(SystemFiles().status(beside))
    // Once they are here, they are ours.
    XCTAssertNil(store.setNote("account", [5]))
    store.close()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.note("account"), [5])
    store.close()
  }

  func testNotes_whenWrittenHereBeforeTheOldOnesAreGone_areNotReplacedByThem() throws {
    _ = try makeStrays(20)
    try setVersion(newer)
    let other = queueStore()
    XCTAssertNil(other.open())
    XCTAssertNil(other.setNote("account", [3]))
    other.close()
    try setVersion(Schema.version)
    // They come over, and cannot be deleted where they came from.
    shim_full("queue-v")
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.note("account"), [3])
    XCTAssertNotNil(SystemFiles().status(beside))
    XCTAssertNil(store.setNote("account", [5]))
    shim_full(nil)
    while store.maintain() {}
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertEqual(store.note("account"), [5])
    XCTAssertEqual(store.snapshot().ledger.recorded, 40)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testStrays_whenTheDiskIsFullInBetween_comeInWithTheUpkeep() throws {
    let recorded = try makeStrays(150)
    try keep()
    keys.change { $0.failsDestroy = true }
    let whole = try measure()
    for operation in stride(from: 1, through: whole.operations, by: 7) {
      try begin()
      shim_plan(shim_operations() + operation, Int.max, Int32(SHIM_ENOSPC))
      let store = queueStore()
      _ = store.open()
      heal()
      XCTAssertNil(store.open())
      while store.maintain() {}
      XCTAssertEqual(store.allEvents(account: "b").map(\.json), recorded.stray.json)
      XCTAssertEqual(findings(store), whole.findings, "operation \(operation)")
      store.close()
    }
  }

  func testStrays_whenTheyFillTheCap_comeInWithinIt() throws {
    let cap: Int64 = 1_000_000
    let recorded = try makeStrays(420, bytes: 900) { $0.maxBytesOnDisk = cap }
    let sizes = SizeWatch(folder: queue)
    XCTAssertGreaterThan(sizes.bytes(), cap / 2)
    let largest = sizes.largest {
      let store = queueStore { $0.maxBytesOnDisk = cap }
      XCTAssertNil(store.open())
      while store.maintain() {}
      XCTAssertEqual(store.allEvents(account: "b").map(\.row.id), recorded.stray.queued)
      // Gone before, at the cap of the database that they were recorded into.
      let gone = Int64(410 - recorded.stray.queued.count)
      XCTAssertEqual(store.snapshot().ledger.dropped["queueFull"] ?? 0, gone)
      XCTAssertTrue(store.snapshot().ledger.balances)
      store.close()
    }
    XCTAssertLessThanOrEqual(largest, cap)
  }

  func testStrays_whenTheirKeyIsLost_stayUntilItIsBackAndAreCountedApart() throws {
    _ = try fill(20, account: "a")
    try setVersion(newer)
    let first = queueStore()
    XCTAssertNil(first.open())
    let made = keys.current.saved
    XCTAssertNil(first.rotateKey())
    let id = record(first, 3)
    first.close()
    try setVersion(Schema.version)
    let lost = keys.current.keys.filter { !made.contains($0.key) }
    XCTAssertEqual(lost.count, 1)
    keys.change { state in state.keys = state.keys.filter { made.contains($0.key) } }
    var store = queueStore()
    XCTAssertNil(store.open())
    while store.maintain() {}
    XCTAssertEqual(store.snapshot().unknownKeyRows, 3)
    XCTAssertEqual(store.allEvents(account: "").count, 0)
    store.close()
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.snapshot().unknownKeyRows, 0)
    XCTAssertEqual(store.allEvents(account: "").map(\.row.id), id)
    store.close()
  }

  func testStrays_whenTheirKeyIsLostAndEventsNeedTheirRoom_goCounted() throws {
    let configure: (inout StoreConfiguration) -> Void = { $0.maxBytesOnDisk = 1_000_000 }
    _ = try makeStrays(200, bytes: 900, configure)
    keys.change { $0.keys = [:] }
    let store = queueStore(configure)
    XCTAssertNil(store.open())
    for number in 0..<800 {
      XCTAssertNotNil(store.append(.make(number, bytes: 900)).sequence)
      if number % 50 == 0 { _ = store.maintain() }
    }
    _ = store.maintain()
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertTrue(store.snapshot().ledger.balances)
    XCTAssertGreaterThanOrEqual(store.snapshot().ledger.dropped["queueFull"] ?? 0, 195)
    XCTAssertGreaterThan(store.allEvents().count, 350, "their room")
    store.close()
  }

  func testPurge_whenStraysAreThere_takesThemToo() throws {
    _ = try makeStrays(50)
    keys.change { $0.keys = [:] }
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertNotNil(SystemFiles().status(beside))
    XCTAssertNil(store.purge())
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertEqual(store.snapshot().ledger.dropped["purged"], 15 + 45)
    XCTAssertEqual(store.snapshot().ledger.recorded, 70)
    XCTAssertEqual(store.snapshot().ledger.delivered, 10)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  /// Their boots are unknown to the queue, whose own are long past.
  func testStrays_whenTheQueueIsOlder_doNotGrowOldByIt() throws {
    let dayMs: Int64 = 86_400_000
    let first = queueStore()
    XCTAssertNil(first.open())
    first.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 30 * dayMs)
    first.close()
    try setVersion(newer)
    clock.set {
      $0.boot = "second"
      $0.wallMs += 90 * dayMs
      $0.sinceBootMs = 5_000
    }
    let other = queueStore()
    XCTAssertNil(other.open())
    let ids = record(other, 5)
    other.close()
    try setVersion(Schema.version)
    clock.set {
      $0.boot = "third"
      $0.sinceBootMs = 5_000
      $0.wallMs += dayMs
    }
    let store = queueStore()
    XCTAssertNil(store.open())
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testOpen_whenTheDatabaseBesideANewerOneIsDamaged_repairsThatAndNotTheNewer() throws {
    _ = try fill(20, account: "a")
    try setVersion(newer)
    _ = try fill(200, account: "b")
    let before = FileManager.default.contents(atPath: queue + "/queue.sqlite")
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: beside))
    try handle.write(contentsOf: Data(repeating: 0xa5, count: 64))
    try handle.close()
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertNotNil(store.append(.make()).sequence)
    XCTAssertEqual(FileManager.default.contents(atPath: queue + "/queue.sqlite"), before)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }
}
