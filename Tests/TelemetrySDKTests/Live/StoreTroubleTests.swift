import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// A store that closes or breaks while the app runs on: delivery and recording come back without
/// a restart, and nothing is called delivered or done that lies in memory only.
final class StoreTroubleTests: StoreTestCase {
  /// A device with a real store, opened, everything delivered, all at rest.
  private func world() -> DeviceWorld {
    let world = DeviceWorld(store: makeStore())
    world.record(3)
    _ = world.flush()
    world.advance(ms: 60_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
    return world
  }

  func testRecord_whenTheStoreClosedItself_isWrittenWithoutARestart() {
    let world = world()
    // As after a purge whose intent could not be taken back.
    (world.store as? SQLiteEventStore)?.closeFiles(reason: .ioError)
    let ids = world.record(2)
    XCTAssertEqual(world.telemetry.status().buffered, 2)
    world.advance(ms: 1_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.last?.ids, ids)
  }

  func testRecord_whenTheFileIsDamagedWhileTheQueueIsEmpty_isWrittenWithoutARestart() throws {
    let world = world()
    let store = try XCTUnwrap(world.store as? SQLiteEventStore)
    _ = store.onCore { $0.isDamaged = true }
    let ids = world.record(2)
    world.advance(ms: 1_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.last?.ids, ids)
    XCTAssert(world.telemetry.status().ledger.balances)
  }

  func testRecord_whenThereIsNoLiveKey_seesToItAndWrites() throws {
    let world = world()
    let store = try XCTUnwrap(world.store as? SQLiteEventStore)
    // As after a purge that destroyed the keys and could not make the next.
    _ = store.onCore { $0.keys.removeAll() }
    world.record(2)
    XCTAssertEqual(world.telemetry.status().buffered, 2)
    world.advance(ms: 1_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
  }

  func testRotateKey_whenTheStoreIsClosedForSuspension_isDoneWhenItOpens() {
    let world = DeviceWorld(store: makeStore()) { $0.directoryIsShared = true }
    world.record(1)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.store.sync(), .suspended)
    world.telemetry.rotateKey()
    world.run()
    XCTAssertEqual(keys.current.saved.count, 1)
    world.telemetry.enterForeground()
    world.run()
    XCTAssertEqual(keys.current.saved.count, 2)
  }

  func testDelete_whenTheFileIsDamagedUnderIt_goesOnAfterTheRepair() throws {
    let world = DeviceWorld(store: makeStore())
    let store = try XCTUnwrap(world.store as? SQLiteEventStore)
    world.server.setDelay(ms: 100)
    let ids = world.record(3)
    _ = world.flush()
    _ = store.onCore { $0.isDamaged = true }
    world.advance(ms: 10_000)
    XCTAssertEqual(world.deliveredIDs, ids, "sent again")
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertEqual(world.telemetry.status().state, .idle)
  }
}
