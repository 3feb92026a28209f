import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Damaged queues to repair again and again, and what is found in them afterwards.
class RepairTestCase: ShimTestCase {
  override var skipsSyncs: Bool { true }

  var queue: String { path("queue") }

  /// A store in a folder that can be put aside and copied back.
  func queueStore(_ change: (inout StoreConfiguration) -> Void = { _ in }) -> SQLiteEventStore {
    shimmed {
      $0.directory = queue
      change(&$0)
    }
  }

  func damagePage(_ page: Int? = nil) throws {
    let size = try XCTUnwrap(SystemFiles().status(queue + "/queue.sqlite")).bytes
    let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: queue + "/queue.sqlite"))
    try handle.seek(toOffset: UInt64(page ?? Int(size) / 4096 / 2) * 4096)
    try handle.write(contentsOf: Data(repeating: 0xa5, count: 4096))
    try handle.close()
  }

  /// A queue of rows and quarantined ones that lost some once before, with one garbage page and its
  /// log still beside it. Kept apart, to begin from again and again.
  func makeDamaged(rows: Int, bytes: Int) throws {
    let store = queueStore()
    XCTAssertNil(store.open())
    for number in 0..<rows {
      XCTAssertNotNil(store.append(.make(number, bytes: bytes)).sequence)
    }
    let oldest = store.readBatch(account: nil, bounds: .make(maxEvents: 30)).events.map(\.row)
    XCTAssertNil(store.quarantine(Array(oldest[..<20]), reason: .tooLarge))
    XCTAssertNil(store.deleteDelivered(Array(oldest[20...])))
    store.close()
    try damagePage()
    let again = queueStore()
    XCTAssertNil(again.open())
    XCTAssertGreaterThan(again.snapshot().ledger.dropped["corruptFile"] ?? 0, 0)
    for number in 0..<5 { XCTAssertNotNil(again.append(.make(number, bytes: bytes)).sequence) }
    XCTAssertNil(again.sync())
    again.abandon()
    try damagePage()
    try keep()
  }

  /// Puts the queue aside as what each trial begins with.
  func keep() throws {
    try FileManager.default.moveItem(atPath: queue, toPath: path("kept"))
  }

  /// The queue as it was kept, and nothing told yet.
  func begin() throws {
    heal()
    if FileManager.default.fileExists(atPath: queue) {
      try FileManager.default.removeItem(atPath: queue)
    }
    try FileManager.default.copyItem(atPath: path("kept"), toPath: queue)
    told.withLock { $0 = [] }
  }

  /// Begins a trial whose process dies at this operation of opening, some with a torn write.
  func dieOpening(at operation: Int) throws {
    try begin()
    shim_tear(operation % 3 == 0 ? 100 : 0)
    shim_plan(shim_operations() + operation, Int.max, Int32(SHIM_DIE))
    let dying = queueStore()
    _ = dying.open()
    XCTAssertEqual(shim_is_dead(), 1, "operation \(operation)")
    dying.abandon()
    heal()
  }

  struct Findings: Equatable {
    var queued: [EventID] = []
    var held: [EventID] = []
    var ledger = ConservationLedger()
  }

  func findings(_ store: SQLiteEventStore) -> Findings {
    Findings(
      queued: store.allEvents().map(\.row.id),
      held: store.quarantinedEvents(limit: 999).map(\.row.id), ledger: store.snapshot().ledger)
  }

  /// What was told of losses.
  var losses: [StoreEvent] {
    events.filter {
      switch $0 {
      case .movedCorruptFileAside, .dropped(_, .corruptFile): true
      default: false
      }
    }
  }

  /// How many operations opening takes, and what it leads to.
  func measure(
    _ change: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> (operations: Int, findings: Findings, losses: [StoreEvent]) {
    try begin()
    let whole = queueStore(change)
    let before = shim_operations()
    XCTAssertNil(whole.open())
    let operations = shim_operations() - before
    let expected = findings(whole)
    whole.close()
    return (operations, expected, losses)
  }
}
