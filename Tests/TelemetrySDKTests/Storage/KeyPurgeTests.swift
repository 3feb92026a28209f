import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Purges that the key store, or a kill, interrupts.
final class KeyPurgeTests: StoreTestCase {
  func testPurge_whenTheKeyStoreIsAway_isFinishedLater() {
    let store = openStore()
    _ = record(store, 5)
    _ = store.setNote("session", [1])
    let old = keys.current.saved
    keys.change { $0.nextErrors = [.unavailable(status: 5), .unavailable(status: 5)] }
    XCTAssertEqual(store.purge(), .keyUnavailable)
    XCTAssertEqual(store.append(.make()), .blocked(.keyUnavailable))
    store.abandon()
    keys.change { $0.nextErrors = [] }
    let again = openStore()
    XCTAssertEqual(again.allEvents().count, 0)
    XCTAssertNil(again.note("session"))
    XCTAssertEqual(again.snapshot().ledger.dropped, ["purged": 5])
    XCTAssertEqual(Array(keys.current.destroyed.prefix(1)), old)
    XCTAssertNotNil(again.append(.make()).sequence)
    again.close()
  }

  func testPurge_whenItCouldOnlyBegin_hidesTheRowsAtOnce() {
    let store = openStore()
    _ = record(store, 5)
    keys.change { $0.nextErrors = [.unavailable(status: 5)] }
    XCTAssertEqual(store.purge(), .keyUnavailable)
    XCTAssertEqual(store.allEvents().count, 0, "delivered after the purge")
    store.close()
  }

  func testPurge_whenInterrupted_keepsOnlyTheGateAndNoOldKey() {
    let store = openStore()
    _ = record(store, 5)
    XCTAssertNil(store.setNote("session", [1]))
    XCTAssertNil(store.setNote("gate", [7]))
    keys.change { $0.failsDestroy = true }
    XCTAssertEqual(store.purge(), .keyUnavailable)
    XCTAssertEqual(store.purge(), .keyUnavailable)
    store.abandon()
    keys.change { $0.failsDestroy = false }
    let again = openStore()
    XCTAssertEqual(again.note("gate"), [7])
    XCTAssertNil(again.note("session"))
    XCTAssertEqual(again.allEvents().count, 0)
    _ = again.maintain()
    XCTAssertEqual(keys.current.keys.count, 1, "only the live key is left")
    XCTAssertEqual(again.note("gate"), [7])
    again.close()
    let last = openStore()
    XCTAssertEqual(last.note("gate"), [7])
    last.close()
  }
}
