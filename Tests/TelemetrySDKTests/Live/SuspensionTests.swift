import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Suspension in a folder that is shared with other processes, with the real store: no lock is
/// held, and nothing is lost.
final class SuspensionTests: StoreTestCase {
  private func world() -> DeviceWorld {
    let store = SQLiteEventStore(
      configuration: configuration, keyStore: keys, clock: clock)
    return DeviceWorld(store: store) { $0.directoryIsShared = true }
  }

  private func suspend(_ world: DeviceWorld) {
    world.assertions.state.withLock { $0.grants = false }
    world.telemetry.enterBackground()
    world.run()
  }

  /// What another process needs: the database without waiting, and the lock file.
  private func assertFree(line: UInt = #line) throws {
    let other = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    XCTAssertNoThrow(try other.execute("BEGIN EXCLUSIVE"), line: line)
    try other.execute("ROLLBACK")
    other.closeUntouched()
    let lock = try SystemFiles().lock(path("queue.lock"))
    XCTAssertNotNil(lock, "the lock file is held", line: line)
    lock?.release()
  }

  func testSuspension_whenTheAppSleeps_holdsNoLock() throws {
    let world = world()
    world.record(5)
    suspend(world)
    XCTAssertEqual(world.store.sync(), .suspended)
    try assertFree()
    world.telemetry.enterForeground()
    world.advance(ms: 1_000)
    XCTAssertEqual(world.deliveredIDs.count, 5)
  }

  func testRecord_whenSuspended_isBufferedThenWrittenAndTheFileClosedAgain() throws {
    let world = world()
    world.record(5)
    suspend(world)
    let receipt = world.telemetry.record("moved", [:])
    guard case .buffered(_, .suspended) = receipt else { return XCTFail("\(receipt)") }
    XCTAssertEqual(world.telemetry.status().buffered, 1)
    world.run()
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(world.telemetry.status().queued, 6)
    try assertFree()
    world.restart()
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 6)
  }

  func testRecord_whenSuspendedAndAnotherProcessHasTheFile_waitsInMemory() throws {
    let world = world()
    world.record(5)
    suspend(world)
    let lock = try XCTUnwrap(try SystemFiles().lock(path("queue.lock")))
    let ids = world.record(3)
    world.advance(ms: 60_000)
    XCTAssertEqual(world.telemetry.status().buffered, 3)
    lock.release()
    world.advance(ms: 10_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(world.telemetry.status().queued, 8)
    world.telemetry.enterForeground()
    world.advance(ms: 10_000)
    XCTAssertEqual(Array(world.deliveredIDs.suffix(3)), ids)
  }

  func testShutdown_whileSuspendedWithEventsInMemory_writesThem() throws {
    let world = world()
    world.record(5)
    suspend(world)
    world.record(2)
    world.telemetry.shutdown()
    world.run()
    try assertFree()
    world.restart()
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 7)
    XCTAssertEqual(world.deliveredIDs.count, 7)
  }

  func testKill_whileSuspended_losesOnlyWhatWasInMemory() throws {
    let world = world()
    let ids = world.record(5)
    suspend(world)
    world.telemetry.record("never written", [:])
    world.restart()
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssert(world.telemetry.status().ledger.balances)
  }

  func testPurge_whileSuspended_leavesNoRowAndNoLock() throws {
    let world = world()
    world.record(5)
    suspend(world)
    let done = Guarded(false)
    world.telemetry.purge { done.withLock { $0 = true } }
    world.run()
    XCTAssert(done.withLock { $0 })
    try assertFree()
    world.restart()
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testBackgroundTask_whenGrantedInSuspension_deliversAndClosesAgain() throws {
    let world = world()
    let ids = world.record(5)
    suspend(world)
    let answers = Guarded<[Bool]>([])
    _ = world.telemetry.shell.backgroundTaskGranted(deadline: nil) { success in
      answers.withLock { $0.append(success) }
    }
    world.run()
    XCTAssertEqual(answers.withLock { $0 }, [true])
    XCTAssertEqual(world.deliveredIDs, ids)
    try assertFree()
  }
}
