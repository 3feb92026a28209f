import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// What lies beside the queue is damaged, cannot be brought in just now, or was given up before.
final class StrayTroubleTests: StrayTestCase {
  /// Turns the pointer of a row's first overflow page: opening never follows it.
  private func breakARow() throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: beside)))
    let page = 4_096
    let broken = (3..<bytes.count / page).first { number in
      let next = bytes[(number * page)..<(number * page + 4)].reduce(0) { $0 << 8 | Int($1) }
      return next > 0 && next <= bytes.count / page
    }
    bytes[try XCTUnwrap(broken) * page + 1] = 0xff
    try Data(bytes).write(to: URL(fileURLWithPath: beside))
  }

  func testStrays_whenARowsEndIsDamaged_comeInWithoutItAndItIsCounted() throws {
    let recorded = try makeStrays(30, bytes: 20_000)
    try breakARow()
    let store = queueStore()
    XCTAssertNil(store.open())
    while store.maintain() {}
    _ = store.maintain()
    XCTAssertNil(SystemFiles().status(beside), "stuck")
    let ids = Set(store.allEvents(account: "b").map(\.row.id))
    XCTAssertTrue(ids.isSubset(of: recorded.stray.queued))
    let held = store.quarantinedEvents(limit: 99).count
    let there = recorded.stray.queued.count + recorded.stray.held.count + recorded.own.held.count
    XCTAssertEqual(ids.count + held, there - 1)
    let ledger = store.snapshot().ledger
    XCTAssertTrue(ledger.balances)
    XCTAssertEqual(ledger.dropped["corruptFile"], 1, "counted")
    XCTAssertFalse(losses.isEmpty, "nobody was told")
    store.close()
  }

  /// Open, and the strays have not come in yet.
  private func storeBeforeStrays() throws -> SQLiteEventStore {
    let away = path("away")
    try FileManager.default.moveItem(atPath: beside, toPath: away)
    let store = queueStore()
    XCTAssertNil(store.open())
    try FileManager.default.moveItem(atPath: away, toPath: beside)
    return store
  }

  func testStrays_whenTheirKeyIsOnceNotFound_comeInAllTheSame() throws {
    let recorded = try makeStrays(20)
    let store = try storeBeforeStrays()
    keys.change { $0.nextErrors = [.itemNotFound] }
    _ = store.maintain()
    XCTAssertEqual(store.allEvents(account: "b").map(\.row.id), recorded.stray.queued)
    XCTAssertEqual(store.snapshot().unknownKeyRows, 0)
    store.close()
  }

  func testDropAll_whenStraysCannotComeIn_saysSoAndLeavesNothingToBeSent() throws {
    _ = try makeStrays(20)
    let store = try storeBeforeStrays()
    keys.change { $0.nextErrors = [.unavailable(status: 1)] }
    XCTAssertNotNil(store.dropAll(account: "b"), "not everything was dropped")
    XCTAssertNil(store.dropAll(account: "b"))
    _ = store.maintain()
    XCTAssertEqual(store.allEvents(account: "b").count, 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testDropAll_whenAStrayIsDamaged_leavesNothingToBeSent() throws {
    let recorded = try makeStrays(30, bytes: 20_000)
    try breakARow()
    let store = try storeBeforeStrays()
    XCTAssertNil(store.dropAll(account: "b"))
    _ = store.maintain()
    XCTAssertEqual(store.allEvents(account: "b").count, 0)
    let held = store.quarantinedEvents(limit: 99).map(\.row.id)
    XCTAssertEqual(Set(held), Set(recorded.own.held), "of the other account alone")
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testPurge_whenAStrayIsDamaged_isNotHinderedByIt() throws {
    _ = try makeStrays(30, bytes: 20_000)
    try breakARow()
    let store = try storeBeforeStrays()
    XCTAssertNil(store.purge())
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertNotNil(store.append(.make()).sequence, "recording goes on")
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testPurge_whenAChunkWasHalfMoved_countsItOnce() throws {
    _ = try makeStrays(50)
    try keep()
    var deaths = 0
    for operation in 1..<10_000 {
      try begin()
      shim_plan(shim_operations() + operation, Int.max, Int32(SHIM_DIE))
      let dying = queueStore()
      _ = dying.open()
      guard shim_is_dead() == 1 else { break }
      deaths += 1
      dying.abandon()
      heal()
      let kept = keys.current.keys
      // Opening does not get so far as to look beside the queue.
      keys.change {
        $0.keys = [:]
        $0.isProtectedDataAvailable = false
      }
      let store = queueStore()
      _ = store.open()
      keys.change { $0.isProtectedDataAvailable = true }
      XCTAssertNil(store.purge())
      let ledger = store.snapshot().ledger
      XCTAssertEqual(ledger.recorded, 70, "killed at operation \(operation)")
      XCTAssertTrue(ledger.balances)
      store.close()
      keys.change { $0.keys = kept }
    }
    XCTAssertGreaterThan(deaths, 20)
  }

  func testStrays_whenGivenUpBeforeAKill_areNotShownAgain() throws {
    _ = try makeStrays(20)
    keys.change { $0.keys = [:] }
    let copy = path("copy")
    try FileManager.default.copyItem(atPath: beside, toPath: copy)
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertNil(store.purge())
    store.close()
    // As if the kill had come before the file was removed.
    try FileManager.default.moveItem(atPath: copy, toPath: beside)
    let next = queueStore()
    XCTAssertNil(next.open())
    XCTAssertNil(SystemFiles().status(beside))
    XCTAssertEqual(next.snapshot().unknownKeyRows, 0)
    XCTAssertEqual(next.snapshot().ledger.recorded, 40)
    next.close()
  }

  func testOpen_whenTheVersionIsImpossible_repairsAtOnce() throws {
    let recorded = try fill(30, account: "a")
    try setVersion(-2_147_483_646)
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.allEvents().map(\.row.id), recorded.queued)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }
}
