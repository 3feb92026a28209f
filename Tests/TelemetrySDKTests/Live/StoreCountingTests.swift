import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// What the status counts on the real store while its file is closed, repaired or rearranged.
final class StoreCountingTests: StoreTestCase {
  func testStatus_whenTheStoreWasSuspendedAfterAnEvent_stillCountsIt() {
    let store = makeStore()
    let world = DeviceWorld(store: store)
    world.record(3)
    store.suspend()
    XCTAssertEqual(world.telemetry.status().queued, 3)
    XCTAssertNil(store.resume())
    XCTAssertEqual(world.telemetry.status().queued, 3)
    world.advance(ms: 600)
    XCTAssertEqual(world.telemetry.status().queued, 3)
  }

  func testStatus_whenACallerHearsOfItsCommitAfterARepair_countsTheEventNoLonger() throws {
    let store = makeStore()
    let world = DeviceWorld(store: store)
    world.record(300)
    store.suspend()
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: database))
    let size = try handle.seekToEnd()
    try handle.seek(toOffset: size / 4096 / 2 * 4096)
    try handle.write(contentsOf: Data(repeating: 0xa5, count: 4096))
    try handle.close()
    XCTAssertNil(store.resume())
    XCTAssertGreaterThan(store.snapshot().ledger.dropped["corruptFile"] ?? 0, 0)
    // The last of the numbers that the damaged file gave.
    world.telemetry.shell.recorder.committed(sequence: 300, bytes: 100)
    world.telemetry.enterBackground()
    world.telemetry.enterForeground()
    world.advance(ms: 600)
    let status = world.telemetry.status()
    XCTAssertEqual(status.ledger, store.snapshot().ledger)
    XCTAssertTrue(status.ledger.balances)
  }

  func testStatus_whileEventsComeBackFromQuarantine_countsNoneTwice() {
    let store = makeStore()
    let world = DeviceWorld(store: store)
    world.record(5)
    let rows = store.readBatch(account: nil, bounds: .make(maxEvents: 3)).events.map(\.row)
    XCTAssertNil(store.quarantine(rows, reason: .tooLarge))
    world.telemetry.shell.refreshSnapshot()
    XCTAssertEqual(world.telemetry.status().quarantined, 3)
    // In the midst of putting them back, before the store is counted anew.
    XCTAssertEqual(store.requeueQuarantined(), 3)
    world.record(1)
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 6)
    XCTAssertEqual(world.telemetry.status().queued, 3)
    world.telemetry.shell.refreshSnapshot()
    XCTAssertEqual(world.telemetry.status().ledger, store.snapshot().ledger)
    XCTAssertEqual(world.telemetry.status().queued, 6)
  }
}
