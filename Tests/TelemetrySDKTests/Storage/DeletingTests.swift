import Dispatch
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Delivered rows leave in few transactions, but nobody waits long for one.
final class DeletingTests: ShimTestCase {
  private func commits(_ store: SQLiteEventStore) throws -> UInt64 {
    UInt64(try XCTUnwrap(store.state.withLock { $0.core?.commits }))
  }

  private func filled(_ count: Int) -> (SQLiteEventStore, [RowReference]) {
    let store = openStore()
    for start in stride(from: 0, to: count, by: 100) {
      _ = store.append(batch: (0..<100).map { NewEvent.make(start + $0) })
    }
    return (store, store.allEvents().map(\.row))
  }

  func testDelete_whenRowsLieSideBySide_takesAThousandAtOnce() throws {
    let (store, rows) = filled(2_500)
    XCTAssertEqual(rows.count, 2_500)
    let before = try commits(store)
    XCTAssertNil(store.deleteDelivered(rows.shuffled()))
    XCTAssertEqual(try commits(store) - before, 3)
    XCTAssertEqual(store.snapshot().ledger.delivered, 2_500)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertNil(store.deleteDelivered(rows))
    XCTAssertEqual(store.snapshot().ledger.delivered, 2_500)
  }

  func testDelete_whenRowsHaveGaps_takesAHundredAtOnce() throws {
    let (store, rows) = filled(500)
    let every = rows.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let before = try commits(store)
    XCTAssertNil(store.deleteDelivered(every))
    XCTAssertEqual(try commits(store) - before, 3)
    XCTAssertEqual(store.snapshot().ledger.queued, 250)
  }

  func testDelete_whenSomebodyWaits_letsTheLockGoAfterAHundred() throws {
    let (store, rows) = filled(1_000)
    let seen = try store.state.withLock { state in
      try XCTUnwrap(state.core).deleteDelivered(rows[...], isUrgent: { true })
    }
    XCTAssertEqual(seen, 100)
    XCTAssertEqual(store.snapshot().ledger.queued, 900)
    XCTAssertEqual(store.snapshot().ledger.delivered, 100)
  }

  /// The same from outside: a caller comes while the delete's first transaction begins.
  func testDelete_whenACallerComesInItsMidst_letsItGoBetween() throws {
    let store = shimmed { $0.appendWaitMs = 3_600_000 }
    XCTAssertNil(store.open())
    for start in stride(from: 0, to: 1_000, by: 100) {
      XCTAssertEqual(
        store.append(batch: (0..<100).map { NewEvent.make(start + $0) }).compactMap(\.sequence)
          .count, 100)
    }
    let rows = store.allEvents().map(\.row)
    let before = try commits(store)
    shim_hold(Int32(SHIM_LOCK))
    let group = DispatchGroup()
    DispatchQueue(label: "delivery").async(group: group) {
      XCTAssertNil(store.deleteDelivered(rows))
    }
    shim_wait_until_held()
    DispatchQueue(label: "caller").async(group: group) {
      XCTAssertNotNil(store.append(.make()).sequence)
    }
    while !store.state.isUrgent { sched_yield() }
    shim_let_go()
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(try commits(store) - before, 3, "a hundred rows, the caller's event, the rest")
    XCTAssertEqual(store.snapshot().ledger.delivered, 1_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 1)
    store.close()
  }

  /// Their hashes lie all over an index, each in a page that the log would have to hold.
  func testDelete_whenRowsHaveCallersIDs_takesAHundredAtOnce() throws {
    let store = openStore()
    for number in 0..<300 {
      let id = EventID(random: try XCTUnwrap(SystemRandom.shared.sixteen()))
      XCTAssertNotNil(store.append(.make(number, id: id)).sequence)
    }
    let before = try commits(store)
    XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    XCTAssertEqual(try commits(store) - before, 3)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
  }
}
