import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Keys that rotate, hide, get lost and are destroyed.
final class KeyLifeTests: StoreTestCase {
  func testOpen_whenTheKeyIsUnavailable_waitsAndMakesNone() {
    let first = openStore()
    let ids = record(first, 5)
    first.close()
    keys.change {
      $0.nextErrors = Array(repeating: .unavailable(status: -25_308), count: 5)
    }
    let store = makeStore()
    for _ in 0..<5 {
      XCTAssertEqual(store.open(), .keyUnavailable)
      XCTAssertEqual(store.append(.make()), .blocked(.keyUnavailable))
    }
    XCTAssertNil(store.open())
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    XCTAssertEqual(keys.current.saved.count, 1)
    XCTAssertNotNil(store.append(.make()).sequence)
    store.close()
  }

  func testOpen_whenNotFoundIsFalse_waitsUntilProtectedDataIsThere() {
    let first = openStore()
    let ids = record(first, 5)
    first.close()
    keys.change {
      $0.nextErrors = []
      $0.isProtectedDataAvailable = false
    }
    let hidden = keys.current.keys
    keys.change { $0.keys = [:] }
    let store = makeStore()
    XCTAssertEqual(store.open(), .keyUnavailable)
    XCTAssertEqual(keys.current.saved.count, 1)
    keys.change {
      $0.keys = hidden
      $0.isProtectedDataAvailable = true
    }
    XCTAssertFalse(store.maintain())
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    XCTAssertEqual(keys.current.saved.count, 1)
    store.close()
  }

  func testOpen_whenTheKeyIsLost_addsOneBesideAndKeepsTheRows() {
    let first = openStore()
    _ = record(first, 5)
    first.close()
    let lost = keys.current.keys
    keys.change { $0.keys = [:] }
    let store = openStore()
    XCTAssertEqual(store.snapshot().unknownKeyRows, 5)
    XCTAssertEqual(store.snapshot().ledger.queued, 5)
    let fresh = record(store, 3)
    XCTAssertEqual(store.allEvents().map(\.row.id), fresh)
    XCTAssertTrue(store.quarantinedEvents(limit: 9).isEmpty)
    store.close()
    // The second start has nothing new to say about them.
    told.withLock { $0 = [] }
    let second = openStore()
    XCTAssertEqual(events, [.opened(recoveredRows: 8)])
    XCTAssertEqual(second.snapshot().unknownKeyRows, 5)
    XCTAssertEqual(second.allEvents().map(\.row.id), fresh)
    second.close()
    // A backup brings the key back: the rows were kept for that.
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    let again = openStore()
    XCTAssertEqual(again.snapshot().unknownKeyRows, 0)
    XCTAssertEqual(again.allEvents().count, 8)
    again.close()
  }

  func testDelete_whenTheSecretWasLostAndTheKeyCameBack_findsRowsWithACallersID() throws {
    let ids = try ["b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11", "7c9e6679-7425-40de-944b-e07fc1f90ae7"]
      .map { try XCTUnwrap(EventID($0)) }
    let first = openStore()
    for (number, id) in ids.enumerated() {
      XCTAssertNotNil(first.append(.make(number, id: id)).sequence)
    }
    first.close()
    let lost = keys.current.keys
    keys.change { $0.keys = [:] }
    openStore().close()
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    let store = openStore()
    let rows = store.allEvents().map(\.row)
    XCTAssertEqual(rows.map(\.id), ids)
    XCTAssertNil(store.deleteDelivered([rows[0]]))
    XCTAssertEqual(store.snapshot().ledger.delivered, 1)
    XCTAssertNil(store.quarantine([rows[1]], reason: .tooLarge))
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.row.id), [ids[1]])
    XCTAssertEqual(store.allEvents().count, 0)
    store.close()
  }

  func testAge_whenOnlyRowsOfALostKeyAreLeft_dropsThemAnAgeLimitAfterItWasMissed() {
    let first = openStore()
    _ = record(first, 150)
    first.close()
    keys.change { $0.keys = [:] }
    var store = openStore()
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 150)
    clock.advance(ms: 59_000)
    store.close()
    store = openStore()
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 150)
    clock.advance(ms: 1_000)
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertEqual(store.snapshot().ledger.dropped, ["tooOld": 150])
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testAge_whenALostKeyComesBack_forgetsThatItWasMissed() {
    let first = openStore()
    let ids = record(first, 2)
    first.close()
    let lost = keys.current.keys
    keys.change { $0.keys = [:] }
    var store = openStore()
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    store.close()
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    store = openStore()
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    store.close()
    for id in lost.keys { keys.change { $0.keys[id] = nil } }
    clock.advance(ms: 100_000)
    store = openStore()
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 60_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 2)
    store.close()
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    store = openStore()
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testMaintain_whenRowsOfALostKeyAreOld_dropsThemWithTheAgeLimit() {
    let first = openStore()
    _ = record(first, 3)
    first.close()
    keys.change { $0.keys = [:] }
    let store = openStore()
    _ = record(store, 1)
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 1_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 4)
    clock.advance(ms: 10_000)
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 1_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertEqual(store.snapshot().ledger.dropped["tooOld"], 4)
    store.close()
  }

  func testRotate_whenRowsOfTheOldKeyRemain_destroysItOnlyAfterTheLast() throws {
    let store = openStore()
    let old = record(store, 150)
    let oldKey = try XCTUnwrap(keys.current.saved.first)
    XCTAssertNil(store.rotateKey())
    let fresh = record(store, 10)
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [])
    let rows = store.allEvents().map(\.row)
    XCTAssertEqual(rows.map(\.id), old + fresh)
    XCTAssertNil(store.deleteDelivered(Array(rows[..<149])))
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [])
    XCTAssertNil(store.deleteDelivered([rows[149]]))
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [oldKey])
    XCTAssertEqual(store.allEvents().map(\.row.id), fresh)
    store.close()
  }

  func testRotate_whenAFileWasMovedAside_keepsItsKeysUntilItGoes() throws {
    let first = openStore()
    _ = record(first, 10)
    XCTAssertNil(first.sync())
    first.close()
    try Data(repeating: 0xa5, count: 16_384).write(to: URL(fileURLWithPath: database))
    let store = openStore()
    XCTAssertNil(store.rotateKey())
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [])
    try SystemFiles().removeTree(path("queue.damaged"))
    _ = store.maintain()
    XCTAssertGreaterThan(keys.current.destroyed.count, 0)
    store.close()
  }

  func testMaintain_whenTheKeyHasSealedEnough_rotates() {
    let store = openStore { $0.sealsPerKey = 50 }
    _ = record(store, 60)
    _ = store.maintain()
    XCTAssertEqual(keys.current.saved.count, 2)
    XCTAssertTrue(events.contains(.keyRotated))
    _ = store.maintain()
    XCTAssertEqual(keys.current.saved.count, 2)
    XCTAssertEqual(store.allEvents().count, 60)
    store.close()
  }

  func testMaintain_whenTheKeyIsOld_rotatesAlsoAcrossAStart() {
    openStore().close()
    clock.advance(ms: 89 * 86_400_000)
    let store = openStore()
    _ = store.maintain()
    XCTAssertEqual(keys.current.saved.count, 1)
    clock.advance(ms: 2 * 86_400_000)
    _ = store.maintain()
    XCTAssertEqual(keys.current.saved.count, 2)
    store.close()
  }

  func testReseal_whenOldRowsWait_movesThemToTheLiveKeyAndResumes() throws {
    var store = openStore { $0.resealsOldRows = true }
    let ids = record(store, 350)
    XCTAssertNil(store.rotateKey())
    XCTAssertTrue(store.maintain())
    store.abandon()
    store = openStore { $0.resealsOldRows = true }
    var steps = 0
    while store.maintain(), steps < 20 { steps += 1 }
    XCTAssertEqual(keys.current.destroyed, [try XCTUnwrap(keys.current.saved.first)])
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testReseal_whenQuarantinedRowsWait_movesEventAndWordsAndFreesTheKey() throws {
    let store = openStore { $0.resealsOldRows = true }
    let ids = record(store, 260)
    let rows = store.allEvents().map(\.row)
    let reason = QuarantineReason.refused(status: 422, detail: "words")
    XCTAssertNil(store.quarantine(Array(rows[..<250]), reason: reason))
    XCTAssertNil(store.rotateKey())
    // Quarantined only now, with the old key still on the row.
    XCTAssertNil(store.quarantine([rows[255]], reason: .tooLarge))
    var steps = 0
    while store.maintain(), steps < 20 { steps += 1 }
    XCTAssertEqual(keys.current.destroyed, [try XCTUnwrap(keys.current.saved.first)])
    let held = store.quarantinedEvents(limit: 999)
    XCTAssertEqual(held.map(\.row.id), Array(ids[..<250]) + [ids[255]])
    XCTAssertEqual(held.prefix(250).filter { $0.reason != reason || $0.json == nil }.count, 0)
    XCTAssertEqual(store.requeueQuarantined(), 251)
    XCTAssertEqual(Set(store.allEvents().map(\.row.id)), Set(ids))
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testReseal_whenAQuarantinedRowDoesNotOpen_leavesItWithItsKey() throws {
    var store = openStore { $0.resealsOldRows = true }
    let ids = record(store, 3)
    XCTAssertNil(store.quarantine(store.allEvents().map(\.row), reason: .tooLarge))
    store.close()
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(
      "UPDATE quarantine SET sealed = zeroblob(length(sealed)) WHERE seq = 2")
    connection.close()
    store = openStore { $0.resealsOldRows = true }
    XCTAssertNil(store.rotateKey())
    var steps = 0
    while store.maintain(), steps < 20 { steps += 1 }
    XCTAssertLessThan(steps, 20)
    XCTAssertEqual(keys.current.destroyed, [])
    XCTAssertEqual(
      store.quarantinedEvents(limit: 9).filter { $0.json != nil }.map(\.row.id), [ids[0], ids[2]])
    XCTAssertEqual(store.clearQuarantine(), 3)
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed.count, 1)
    store.close()
  }

  func testMaintain_whenOnlyQuarantinedRowsUseAKey_keepsIt() {
    let store = openStore()
    let ids = record(store, 3)
    XCTAssertNil(
      store.quarantine(
        store.allEvents().map(\.row), reason: .refused(status: 400, detail: "words")))
    XCTAssertNil(store.rotateKey())
    for _ in 0..<3 { _ = store.maintain() }
    XCTAssertEqual(keys.current.destroyed, [])
    XCTAssertEqual(store.requeueQuarantined(), 3)
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testRotate_whenTheNewKeyCannotBeSaved_goesOnWithTheOld() {
    let store = openStore()
    _ = record(store, 3)
    keys.change { $0.nextErrors = [.unavailable(status: 5)] }
    XCTAssertEqual(store.rotateKey(), .keyUnavailable)
    _ = record(store, 3)
    XCTAssertEqual(store.allEvents().count, 6)
    store.close()
    // No row may need a key that only the last process knew.
    let again = openStore()
    XCTAssertEqual(again.allEvents().count, 6)
    again.close()
  }

  func testOpen_whenTheDatabaseCannotTakeTheKey_savesItOnce() {
    let store = makeStore { $0.walBudgetBytes = 100_000 }
    for _ in 0..<5 { XCTAssertEqual(store.open(), .walBudget) }
    XCTAssertEqual(keys.current.saved.count, 1)
    store.close()
  }

  func testRotate_whenTheDatabaseCannotTakeTheKey_goesOnWithTheSavedOne() throws {
    let store = openStore()
    let ids = record(store, 3)
    let before = keys.current.saved
    _ = try store.onCore { try $0.connection.execute("PRAGMA query_only=ON") }.get()
    for _ in 0..<5 { XCTAssertNotNil(store.rotateKey()) }
    _ = try store.onCore { try $0.connection.execute("PRAGMA query_only=OFF") }.get()
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [], "the saved key is still to be used")
    XCTAssertNil(store.rotateKey())
    XCTAssertEqual(keys.current.saved.count, before.count + 1)
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testCallerID_whenTheKeyWasRotated_isStillKnown() throws {
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    var store = openStore()
    XCTAssertNotNil(store.append(.make(1, id: id)).sequence)
    XCTAssertNil(store.rotateKey())
    XCTAssertEqual(store.append(.make(1, id: id)), .duplicate)
    store.close()
    store = openStore()
    XCTAssertEqual(store.append(.make(1, id: id)), .duplicate)
    let bytes = try XCTUnwrap(FileManager.default.contents(atPath: path("queue.sqlite-wal")))
    let database = try XCTUnwrap(FileManager.default.contents(atPath: database))
    let raw = Data((0..<16).map { id.bytes[$0] })
    XCTAssertNil((bytes + database).range(of: raw))
    store.close()
  }
}
