import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// Stores behind the storage shim, which is set up and forgotten for each test.
class ShimTestCase: StoreTestCase {
  /// True where syncs are counted and not carried out: nothing is at stake there, and the time is.
  var skipsSyncs: Bool { false }

  override func setUpWithError() throws {
    try super.setUpWithError()
    _ = shim_register()
    shim_reset()
    shim_skip_syncs(skipsSyncs ? 1 : 0)
  }

  override func tearDownWithError() throws {
    shim_reset()
    shim_skip_syncs(0)
    try super.tearDownWithError()
  }

  /// A store that is not open yet.
  func shimmed(_ change: (inout StoreConfiguration) -> Void = { _ in }) -> SQLiteEventStore {
    makeStore(files: ShimFiles(skipsSyncs: skipsSyncs)) {
      $0.vfsName = "shim"
      change(&$0)
    }
  }

  /// Operations from now on fail in this way.
  func fail(_ action: Int) { shim_plan(1, Int.max, Int32(action)) }

  func heal() { shim_plan(0, 0, Int32(SHIM_GO_ON)) }
}
