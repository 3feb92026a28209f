import StorageShim
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// A purge that meets a failing disk, at every operation of it in turn.
final class PurgeFaultTests: StoreTestCase {
  override func setUpWithError() throws {
    try super.setUpWithError()
    _ = shim_register()
    shim_reset()
    shim_skip_syncs(0)
  }

  override func tearDownWithError() throws {
    shim_reset()
    try super.tearDownWithError()
  }

  func testPurge_whenOneOperationFails_neverTakesEventsRecordedLater() {
    var failures = 0
    for operation in 1...40 {
      let store = makeStore(files: ShimFiles(skipsSyncs: false)) {
        $0.vfsName = "shim"
        $0.directory += "/purge\(operation)"
      }
      XCTAssertNil(store.open())
      for number in 0..<3 { XCTAssertNotNil(store.append(.make(number)).sequence) }
      let next = shim_operations() + operation
      shim_plan(next, next + 1, Int32(SHIM_EIO))
      if store.purge() != nil { failures += 1 }
      shim_plan(0, 0, Int32(SHIM_GO_ON))

      let later = (10..<15).map { NewEvent.make($0) }
      let durable = later.filter { store.append($0).sequence != nil }.map(\.id)
      store.close()
      XCTAssertNil(store.open())
      XCTAssertEqual(
        store.allEvents().map(\.row.id).filter(Set(later.map(\.id)).contains), durable,
        "operation \(operation) failed")
      XCTAssertTrue(store.snapshot().ledger.balances)
      store.close()
    }
    XCTAssertGreaterThan(failures, 3)
  }
}
