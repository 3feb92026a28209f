import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// A repair that dies at any of its operations loses nothing that could be read before it.
final class RepairKillTests: StoreTestCase {
  override func setUpWithError() throws {
    try super.setUpWithError()
    _ = shim_register()
    shim_reset()
    shim_skip_syncs(1)
  }

  override func tearDownWithError() throws {
    shim_reset()
    shim_skip_syncs(0)
    try super.tearDownWithError()
  }

  private var queue: String { path("queue") }

  private func shimmed(_ change: (inout StoreConfiguration) -> Void = { _ in }) -> SQLiteEventStore
  {
    makeStore(files: ShimFiles(skipsSyncs: true)) {
      $0.directory = queue
      $0.vfsName = "shim"
      change(&$0)
    }
  }

  /// A queue of rows and quarantined ones with one garbage page, its log still beside it. Kept
  /// apart, to begin from again and again.
  private func makeDamaged(rows: Int, bytes: Int) throws {
    let store = shimmed()
    XCTAssertNil(store.open())
    for number in 0..<rows {
      XCTAssertNotNil(store.append(.make(number, bytes: bytes)).sequence)
    }
    let oldest = store.readBatch(account: nil, bounds: .make(maxEvents: 30)).events.map(\.row)
    XCTAssertNil(store.quarantine(Array(oldest[..<20]), reason: .tooLarge))
    XCTAssertNil(store.deleteDelivered(Array(oldest[20...])))
    store.close()
    let again = shimmed()
    XCTAssertNil(again.open())
    for number in 0..<5 { XCTAssertNotNil(again.append(.make(number, bytes: bytes)).sequence) }
    XCTAssertNil(again.sync())
    again.abandon()
    let size = try XCTUnwrap(SystemFiles().status(queue + "/queue.sqlite")).bytes
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: queue + "/queue.sqlite"))
    try handle.seek(toOffset: UInt64(size / 4096 / 2) * 4096)
    try handle.write(contentsOf: Data(repeating: 0xa5, count: 4096))
    try handle.close()
    try FileManager.default.moveItem(atPath: queue, toPath: path("kept"))
  }

  private func begin() throws {
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    if FileManager.default.fileExists(atPath: queue) {
      try FileManager.default.removeItem(atPath: queue)
    }
    try FileManager.default.copyItem(atPath: path("kept"), toPath: queue)
  }

  private struct Findings: Equatable {
    var queued: [EventID] = []
    var held: [EventID] = []
    var ledger = ConservationLedger()
  }

  private func findings(_ store: SQLiteEventStore) -> Findings {
    Findings(
      queued: store.allEvents().map(\.row.id),
      held: store.quarantinedEvents(limit: 999).map(\.row.id), ledger: store.snapshot().ledger)
  }

  func testRepair_whenKilledAtAnyOperation_keepsAllThatCouldBeRead() throws {
    try makeDamaged(rows: 300, bytes: 200)
    try begin()
    let whole = shimmed()
    let before = shim_operations()
    XCTAssertNil(whole.open())
    let operations = shim_operations() - before
    let expected = findings(whole)
    whole.close()
    XCTAssertGreaterThan(expected.queued.count, 200)
    XCTAssertEqual(expected.held.count, 20)
    XCTAssertGreaterThan(expected.ledger.dropped["corruptFile"] ?? 0, 0)
    XCTAssertGreaterThan(operations, 60)
    for operation in 1...operations {
      try begin()
      shim_tear(operation % 3 == 0 ? 100 : 0)
      shim_plan(shim_operations() + operation, Int.max, Int32(SHIM_DIE))
      let dying = shimmed()
      _ = dying.open()
      XCTAssertEqual(shim_is_dead(), 1, "operation \(operation)")
      dying.abandon()
      shim_plan(0, 0, Int32(SHIM_GO_ON))
      let store = shimmed()
      XCTAssertNil(store.open(), "operation \(operation)")
      XCTAssertEqual(findings(store), expected, "operation \(operation)")
      XCTAssertNotNil(store.append(.make()).sequence)
      XCTAssertEqual(
        try FileManager.default.contentsOfDirectory(atPath: queue).filter {
          $0.contains("repair")
        }, [], "operation \(operation)")
      store.close()
    }
  }

  func testRepair_whenItIsKilledBeforeItSaysSo_tellsTheLossAtTheNextStart() throws {
    try makeDamaged(rows: 300, bytes: 200)
    try begin()
    let first = shimmed()
    XCTAssertNil(first.open())
    first.close()
    // As after a kill between the two renames.
    try FileManager.default.moveItem(
      atPath: queue + "/queue.sqlite", toPath: queue + "/queue-repaired.sqlite")
    told.withLock { $0 = [] }
    let store = shimmed()
    XCTAssertNil(store.open())
    let lost = store.snapshot().ledger.dropped["corruptFile"] ?? 0
    XCTAssertGreaterThan(lost, 0)
    XCTAssertTrue(events.contains(.movedCorruptFileAside(lost: lost)))
    store.close()
  }

  func testRepair_whileItRuns_keepsWithinTheCap() throws {
    for (rows, cap) in [(700, 1_000_000), (2_500, 1_000_000), (300, 1_000_000)] {
      try? FileManager.default.removeItem(atPath: path("kept"))
      try? FileManager.default.removeItem(atPath: queue)
      let configure: (inout StoreConfiguration) -> Void = { $0.maxBytesOnDisk = Int64(cap) }
      let filling = shimmed(configure)
      XCTAssertNil(filling.open())
      for number in 0..<rows {
        if filling.append(.make(number, bytes: 300)).sequence == nil { _ = filling.maintain() }
      }
      filling.close()
      let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: queue + "/queue.sqlite"))
      try handle.seek(toOffset: 20 * 4096)
      try handle.write(contentsOf: Data(repeating: 0xa5, count: 4096))
      try handle.close()
      let sizes = SizeWatch(folder: queue)
      let store = makeStore(files: sizes) {
        $0.directory = queue
        configure(&$0)
      }
      XCTAssertNil(store.open())
      XCTAssertNotNil(store.append(.make()).sequence)
      XCTAssertTrue(store.snapshot().ledger.balances)
      XCTAssertGreaterThan(sizes.largest, 0)
      XCTAssertLessThanOrEqual(sizes.largest, Int64(cap), "\(rows) rows")
      store.close()
    }
  }
}

/// The system's files, and how many bytes lay in the folder at any of their operations.
private final class SizeWatch: FileOperations {
  private let system = SystemFiles()
  private let folder: String
  private let seen = Guarded<Int64>(0)

  init(folder: String) { self.folder = folder }

  var largest: Int64 { seen.withLock { $0 } }

  private func look() {
    let names = (try? system.list(folder)) ?? []
    let bytes = names.reduce(Int64(0)) { $0 + (system.status(folder + "/" + $1)?.bytes ?? 0) }
    seen.withLock { $0 = max($0, bytes) }
  }

  func createDirectory(_ path: String) throws { try system.createDirectory(path) }
  func list(_ directory: String) throws -> [String] { try system.list(directory) }
  func read(_ path: String) throws -> [UInt8] { try system.read(path) }
  func write(_ path: String, _ bytes: [UInt8]) throws {
    try system.write(path, bytes)
    look()
  }
  func sync(_ path: String) throws {
    look()
    try system.sync(path)
  }
  func remove(_ path: String) throws {
    look()
    try system.remove(path)
  }
  func removeTree(_ path: String) throws {
    look()
    try system.removeTree(path)
  }
  func rename(_ from: String, to: String) throws {
    look()
    try system.rename(from, to: to)
  }
  func truncate(_ path: String, bytes: Int64) throws {
    look()
    try system.truncate(path, bytes: bytes)
  }
  func syncDirectory(_ path: String) throws {
    look()
    try system.syncDirectory(path)
  }
  func status(_ path: String) -> FileStatus? { system.status(path) }
  func lock(_ path: String) throws -> (any FileLock)? { try system.lock(path) }
  func openForSync(_ path: String) throws -> any SyncHandle { try system.openForSync(path) }
}
