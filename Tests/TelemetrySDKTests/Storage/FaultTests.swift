import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// Disks that are full, files that are locked or forbidden, writes that fail: wait, buffer, never
/// delete.
final class FaultTests: ShimTestCase {
  func testAppend_whenWritesFail_blocksAtOnceAndResumesByItself() {
    for (action, block) in [
      (Int(SHIM_ENOSPC), StoreBlock.diskFull), (Int(SHIM_EIO), .ioError), (Int(SHIM_BUSY), .locked),
    ] {
      let store = shimmed { $0.directory += "/s\(action)" }
      XCTAssertNil(store.open())
      let first = NewEvent.make(1)
      XCTAssertNotNil(store.append(first).sequence)
      fail(action)
      let late = (0..<10).map { NewEvent.make($0) }
      for event in late { XCTAssertEqual(store.append(event), .blocked(block)) }
      XCTAssertEqual(store.snapshot().blocked, block)
      heal()
      // Later appends do not try by themselves: the buffer's drain and maintenance do.
      XCTAssertEqual(store.append(batch: late).compactMap(\.sequence).count, 10)
      XCTAssertNotNil(store.append(.make(99)).sequence)
      XCTAssertEqual(store.allEvents().prefix(11).map(\.row.id), ([first] + late).map(\.id))
      XCTAssertEqual(events.filter { $0 == .blocked(block) }.count, 1)
      XCTAssertTrue(events.contains(.unblocked))
      store.close()
    }
  }

  func testMaintain_whenTheDiskHasRoomAgain_endsTheBlock() {
    let store = shimmed()
    XCTAssertNil(store.open())
    fail(Int(SHIM_ENOSPC))
    XCTAssertEqual(store.append(.make()), .blocked(.diskFull))
    _ = store.maintain()
    XCTAssertEqual(store.append(.make()), .blocked(.diskFull))
    heal()
    _ = store.maintain()
    XCTAssertNotNil(store.append(.make()).sequence)
    store.close()
  }

  func testMaintain_whenTheDiskIsStillFull_doesNotSayThatTheBlockIsOver() {
    let store = shimmed()
    XCTAssertNil(store.open())
    XCTAssertNotNil(store.append(.make()).sequence)
    fail(Int(SHIM_ENOSPC))
    XCTAssertEqual(store.append(.make()), .blocked(.diskFull))
    for _ in 0..<3 { _ = store.maintain() }
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 86_400_000)
    XCTAssertEqual(store.snapshot().blocked, .diskFull)
    XCTAssertFalse(events.contains(.unblocked))
    heal()
    store.close()
  }

  func testMaintain_whenNothingCouldBeWritten_doesNotEndTheBlock() {
    let store = shimmed()
    XCTAssertNil(store.open())
    fail(Int(SHIM_ENOSPC))
    XCTAssertEqual(store.append(.make()), .blocked(.diskFull))
    for _ in 0..<3 { _ = store.maintain() }
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 1_000)
    XCTAssertFalse(events.contains(.unblocked))
    heal()
    _ = store.maintain()
    XCTAssertTrue(events.contains(.unblocked))
    store.close()
  }

  func testOpen_whenTheFileIsForbidden_waitsAndDeletesNothing() throws {
    var store = shimmed()
    XCTAssertNil(store.open())
    for number in 0..<20 { XCTAssertNotNil(store.append(.make(number)).sequence) }
    store.close()
    let inode = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber]
    store = shimmed()
    fail(Int(SHIM_CANTOPEN))
    for _ in 0..<3 {
      XCTAssertEqual(store.open(), .notOpen)
      XCTAssertEqual(store.append(.make()), .blocked(.notOpen))
    }
    heal()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.allEvents().count, 20)
    let after = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber]
    XCTAssertEqual(inode as? NSNumber, after as? NSNumber)
    store.close()
  }

  func testDelete_whenItFailsAfterTheAnswer_keepsTheMarksUntilItSucceeds() {
    let store = shimmed()
    XCTAssertNil(store.open())
    for number in 0..<250 { XCTAssertNotNil(store.append(.make(number)).sequence) }
    let rows = store.allEvents().map(\.row)
    store.markInFlight(rows)
    fail(Int(SHIM_EIO))
    XCTAssertEqual(store.deleteDelivered(rows), .ioError)
    XCTAssertEqual(store.readBatch(account: nil, bounds: .make()).events.count, 0)
    heal()
    XCTAssertNil(store.deleteDelivered(rows))
    XCTAssertEqual(store.snapshot().ledger.delivered, 250)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    store.close()
  }

  func testOpen_whenAnotherHolderHasTheStore_isLockedOut() {
    let first = openStore()
    let second = makeStore()
    XCTAssertEqual(second.open(), .locked)
    XCTAssertEqual(second.append(.make()), .blocked(.locked))
    first.close()
    XCTAssertNil(second.open())
    second.close()
  }

  func testAppend_whenAnotherConnectionHoldsTheDatabase_neverLoses() throws {
    let store = openStore()
    let other = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try other.execute("BEGIN EXCLUSIVE")
    let events = (0..<100).map { NewEvent.make($0) }
    for event in events { XCTAssertEqual(store.append(event), .blocked(.locked)) }
    try other.execute("ROLLBACK")
    other.close()
    XCTAssertEqual(store.append(batch: events).compactMap(\.sequence).count, 100)
    XCTAssertEqual(store.allEvents().map(\.row.id), events.map(\.id))
    store.close()
  }

  func testSuspend_whenDone_leavesNoLockBehind() throws {
    let store = openStore()
    XCTAssertNotNil(store.append(.make()).sequence)
    store.suspend()
    let other = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try other.execute("BEGIN EXCLUSIVE")
    try other.execute("ROLLBACK")
    other.close()
    let lock = try XCTUnwrap(try SystemFiles().lock(path("queue.lock")))
    lock.release()
    XCTAssertNil(store.resume())
    XCTAssertEqual(store.allEvents().count, 1)
    store.close()
  }

  func testSync_whenItFails_staysOwed() {
    let store = shimmed { $0.durability = .powerLoss }
    XCTAssertNil(store.open())
    XCTAssertEqual(store.append(.make()), .syncPending(sequence: 1))
    fail(Int(SHIM_EIO))
    XCTAssertEqual(store.sync(), .ioError)
    let told = Guarded<[StoreBlock?]>([])
    store.whenSynced { block in told.withLock { $0.append(block) } }
    heal()
    store.whenSynced { block in told.withLock { $0.append(block) } }
    XCTAssertEqual(told.withLock { $0 }, [.ioError, nil])
    store.close()
  }

  func testMaintain_whenTheLastUseOfAKeyCannotBeSynced_keepsTheKey() throws {
    let store = shimmed()
    XCTAssertNil(store.open())
    XCTAssertNotNil(store.append(.make()).sequence)
    let old = try XCTUnwrap(keys.current.saved.first)
    XCTAssertNil(store.rotateKey())
    XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    fail(Int(SHIM_EIO))
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [])
    heal()
    _ = store.maintain()
    XCTAssertEqual(keys.current.destroyed, [old])
    store.close()
  }

  func testAppend_whenAReaderKeepsTheLogFromStartingOver_stopsAtTheBudget() throws {
    let store = openStore { $0.walBudgetBytes = 200_000 }
    XCTAssertNotNil(store.append(.make()).sequence)
    let reader = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try reader.execute("BEGIN")
    XCTAssertEqual(try reader.integer("SELECT count(*) FROM events"), 1)
    let outcomes = (0..<300).map { store.append(.make($0)) }
    XCTAssertEqual(outcomes.last, .blocked(.walBudget))
    XCTAssertLessThanOrEqual(
      SystemFiles().status(path("queue.sqlite-wal"))?.bytes ?? .max, 200_000)
    try reader.execute("ROLLBACK")
    reader.close()
    XCTAssertNotNil(store.append(batch: [.make(1)]).first?.sequence)
    XCTAssertEqual(
      store.snapshot().ledger.queued, 2 + Int64(outcomes.compactMap(\.sequence).count))
    store.close()
  }

  func testAppend_whenTheLogIsAtItsBudget_blocksUntilItIsRestarted() {
    let store = shimmed { $0.walBudgetBytes = 200_000 }
    XCTAssertNil(store.open())
    var written = 0
    for number in 0..<500 where store.append(.make(number)).sequence != nil { written += 1 }
    XCTAssertEqual(written, 500)
    XCTAssertTrue(events.contains(.walRestarted))
    XCTAssertLessThanOrEqual(
      SystemFiles().status(path("queue.sqlite-wal"))?.bytes ?? .max, 200_000)
    store.close()
  }
}
