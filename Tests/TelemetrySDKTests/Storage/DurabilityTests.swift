import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// What has to be on the medium, and in which order it gets there: looked up in the operations.
final class DurabilityTests: ShimTestCase {
  private func operations(from first: Int) -> [(kind: Int, path: String)] {
    (first..<Int(shim_recorded())).map { index in
      let operation = shim_recorded_at(index).pointee
      return (Int(operation.kind), String(cString: shim_path(operation.file)))
    }
  }

  override func tearDownWithError() throws {
    shim_record(0)
    try super.tearDownWithError()
  }

  func testWriteDurably_whenItReturns_hasSyncedTheFileBeforeTheRenameAndTheFolderAfterIt() throws {
    try SystemFiles().createDirectory(path("keys"))
    shim_record(1)
    let store = FileKeyStore(directory: path("keys"), files: ShimFiles(skipsSyncs: true))
    try store.save(7, key: [UInt8](repeating: 1, count: AESGCM.keyBytes))
    let done = operations(from: 0)
    XCTAssertEqual(
      done.map(\.kind),
      [SHIM_CREATE, SHIM_WRITE, SHIM_SYNC, SHIM_RENAME, SHIM_SYNC_FOLDER].map { Int($0) })
    let file = path("keys/0000000000000007.key.new")
    XCTAssertEqual(done.map(\.path), Array(repeating: file, count: 4) + [path("keys")])
  }

  func testWriteDurably_whenTheFolderCannotBeSynced_fails() {
    let files = ShimFiles(skipsSyncs: true)
    // Create, write, sync, rename; the fifth is the folder's sync.
    shim_plan(5, Int.max, Int32(SHIM_EIO))
    XCTAssertThrowsError(try files.writeDurably(path("intent"), [1]))
    XCTAssertNotNil(SystemFiles().status(path("intent")))
  }

  func testBackgroundSync_whenSomethingWasRecorded_syncsTheLogBehindIt() throws {
    let store = shimmed()
    let world = DeviceWorld(store: store)
    shim_record(1)
    world.record(1)
    let log = path("queue.sqlite-wal")
    let written = try XCTUnwrap(
      operations(from: 0).lastIndex { $0.kind == Int(SHIM_WRITE) && $0.path == log })
    XCTAssertFalse(operations(from: written).contains { $0.kind == Int(SHIM_SYNC) })
    world.advance(ms: 600)
    let after = operations(from: written + 1)
    XCTAssertTrue(after.contains { $0.kind == Int(SHIM_SYNC) && $0.path == log }, "\(after)")
    // Nothing new: nothing to sync.
    let quiet = Int(shim_recorded())
    world.advance(ms: 600)
    XCTAssertFalse(operations(from: quiet).contains { $0.kind == Int(SHIM_SYNC) })
    store.close()
  }

  func testDelete_whenTheProcessDiesAfterIt_isStillCountedAndItsNumbersAreNotGivenAgain() {
    var store = shimmed()
    XCTAssertNil(store.open())
    _ = record(store, 10)
    XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    let before = store.snapshot().ledger
    XCTAssertEqual(before.delivered, 10)
    store.abandon()
    store = shimmed()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.snapshot().ledger, before)
    XCTAssertEqual(store.append(.make()).sequence, 11)
    store.close()
  }

  /// SQLite says the same of a full disk as of the cap.
  func testAppend_whenOneWriteFindsTheDiskFull_evictsNothing() {
    let store = shimmed()
    XCTAssertNil(store.open())
    let ids = record(store, 50)
    let next = shim_operations() + 1
    // The very next write alone: an eviction would go through.
    shim_plan(next, next + 1, Int32(SHIM_ENOSPC))
    XCTAssertEqual(store.append(.make()), .blocked(.diskFull))
    heal()
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    XCTAssertEqual(store.snapshot().ledger.dropped, [:])
    store.close()
  }
}
