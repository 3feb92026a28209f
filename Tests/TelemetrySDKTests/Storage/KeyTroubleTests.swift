import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Operations that fail while keys and the secret are made or destroyed.
final class KeyTroubleTests: ShimTestCase {
  override var skipsSyncs: Bool { true }

  func testDestroy_whenTheFolderWasNotSynced_syncsItTheNextTime() throws {
    let folder = path("keys")
    let keys = FileKeyStore(directory: folder, files: ShimFiles(skipsSyncs: true))
    try keys.save(1, key: [UInt8](repeating: 1, count: 32))
    let before = shim_operations()
    shim_plan(before + 2, Int.max, Int32(SHIM_EIO))
    XCTAssertThrowsError(try keys.destroy(1), "removed, and the folder's sync fails")
    XCTAssertThrowsError(try keys.destroy(1), "gone by now, and still not on the medium")
    heal()
    XCTAssertNoThrow(try keys.destroy(1))
  }

  func testSecret_whenItCannotBeStored_hashesNothing() throws {
    let id = EventID(random: try XCTUnwrap(SystemRandom.shared.sixteen()))
    var failures = 0
    for operation in 1..<200 {
      let name = "queue\(operation)"
      let place: (inout StoreConfiguration) -> Void = { $0.directory = self.path(name) }
      let first = shimmed(place)
      XCTAssertNil(first.open())
      first.close()
      let connection = try SQLiteConnection(
        path: path(name) + "/queue.sqlite", vfs: nil, busyMs: 0)
      try connection.execute("DELETE FROM notes WHERE name = '\(StoreCore.secretNote)'")
      connection.close()
      let store = shimmed(place)
      let failing = shim_operations() + operation
      shim_plan(failing, failing + 1, Int32(SHIM_ENOSPC))
      let block = store.open()
      heal()
      if block != nil { failures += 1 }
      _ = store.maintain()
      XCTAssertNotNil(store.append(.make(1, id: id)).sequence, "operation \(operation)")
      store.close()
      let next = shimmed(place)
      XCTAssertNil(next.open())
      XCTAssertEqual(next.append(.make(1, id: id)), .duplicate, "operation \(operation)")
      next.close()
      if block == nil, failures > 0, operation > 60 { break }
    }
    XCTAssertGreaterThan(failures, 3)
  }
}
