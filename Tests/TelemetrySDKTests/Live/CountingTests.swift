import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// What status and flush report count, while others record.
final class CountingTests: XCTestCase {
  func testStatus_whenAnEventIsCommittedWhileTheStoreIsCounted_countsItOnce() {
    let store = InMemoryEventStore()
    let world = DeviceWorld(store: store)
    world.record(3)
    let telemetry = world.telemetry
    store.onSnapshot.withLock { [onSnapshot = store.onSnapshot] in
      $0 = Callback {
        onSnapshot.withLock { $0 = nil }
        telemetry.record("meanwhile", [:])
      }
    }
    // Upkeep counts the store.
    world.advance(ms: 600)
    XCTAssertEqual(world.telemetry.status().queued, 4)
    XCTAssertTrue(world.telemetry.status().ledger.balances)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0 }, FlushReport(ending: .drained, sent: 4))
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testStatus_whenTheStoreIsClosed_showsWhatWasKnown() {
    let world = DeviceWorld { $0.directoryIsShared = true }
    world.assertions.state.withLock { $0.grants = false }
    world.record(5)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.store.sync(), .suspended)
    XCTAssertEqual(world.telemetry.status().queued, 5)
    _ = world.flush()
    XCTAssertEqual(world.telemetry.status().queued, 5)
  }

  func testFlush_whenEventsWereDroppedBefore_doesNotCountThem() {
    let world = DeviceWorld(store: InMemoryEventStore(maxBytes: 2_000))
    world.record(50)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0?.dropped }, 0)
    XCTAssertGreaterThan(world.telemetry.status().ledger.dropped["queueFull"] ?? 0, 0)
  }
}
