import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Rows whose request was under way when the process died or its files were closed: they are read
/// again, and one verdict settles them, whichever request it answers.
final class InFlightTests: RepairTestCase {
  private func read(_ store: SQLiteEventStore) -> [StoredEvent] {
    let events = store.readBatch(account: nil, bounds: .make()).events
    store.markInFlight(events.map(\.row))
    XCTAssertEqual(store.readBatch(account: nil, bounds: .make()).events.count, 0, "marked")
    return events
  }

  func testRows_whenTheProcessDiedBetweenReadingAndDeleting_areReadAgainAndSettledOnce() {
    for verdict in ["delivered", "refused"] {
      var store = queueStore { $0.directory += verdict }
      XCTAssertNil(store.open())
      let ids = record(store, 5)
      let first = read(store)
      store.abandon()
      store = queueStore { $0.directory += verdict }
      XCTAssertNil(store.open())
      let again = read(store)
      XCTAssertEqual(again.map(\.row), first.map(\.row))
      XCTAssertEqual(again.map(\.row.id), ids)
      XCTAssertEqual(again.map(\.json), first.map(\.json))
      settle(again, verdict, store)
      settle(first, verdict, store)
      let ledger = store.snapshot().ledger
      XCTAssertEqual(ledger.queued, 0)
      XCTAssertEqual(ledger.delivered, verdict == "delivered" ? 5 : 0)
      XCTAssertEqual(ledger.quarantined, verdict == "refused" ? 5 : 0)
      XCTAssertTrue(ledger.balances)
      store.close()
    }
  }

  private func settle(_ events: [StoredEvent], _ verdict: String, _ store: SQLiteEventStore) {
    let rows = events.map(\.row)
    if verdict == "delivered" {
      XCTAssertNil(store.deleteDelivered(rows))
    } else {
      XCTAssertNil(store.quarantine(rows, reason: .refused(status: 422, detail: "no")))
    }
  }

  func testRows_whenTheFileWasClosedMeanwhile_areSettledByTheAnswerThatCameLate() {
    let store = queueStore()
    XCTAssertNil(store.open())
    let ids = record(store, 5)
    let sent = read(store)
    store.suspend()
    XCTAssertEqual(store.deleteDelivered(sent.map(\.row)), .suspended, "owed until it is open")
    XCTAssertNil(store.resume())
    let again = read(store)
    XCTAssertEqual(again.map(\.row.id), ids)
    XCTAssertNil(store.deleteDelivered(sent.map(\.row)))
    XCTAssertNil(store.deleteDelivered(again.map(\.row)))
    XCTAssertEqual(store.snapshot().ledger.delivered, 5)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    store.close()
  }

  /// A repair numbers the rows anew: an answer to the old numbers must not take another's row.
  func testRows_whenTheFileWasRepairedMeanwhile_areReadAgainAndNoOtherRowGoes() throws {
    let store = queueStore()
    XCTAssertNil(store.open())
    _ = record(store, 300)
    XCTAssertNil(
      store.deleteDelivered(
        store.readBatch(account: nil, bounds: .make(maxEvents: 40)).events.map(\.row)))
    let sent = store.readBatch(account: nil, bounds: .make(maxEvents: 100)).events.map(\.row)
    store.markInFlight(sent)
    store.suspend()
    try damagePage()
    XCTAssertNil(store.resume())
    XCTAssertGreaterThan(store.snapshot().ledger.dropped["corruptFile"] ?? 0, 0)
    let before = store.allEvents().map(\.row.id)
    XCTAssertNil(store.deleteDelivered(sent))
    let left = store.allEvents().map(\.row)
    XCTAssertTrue(Set(before).subtracting(left.map(\.id)).isSubset(of: sent.map(\.id)))
    XCTAssertTrue(store.snapshot().ledger.balances)
    XCTAssertNil(store.deleteDelivered(left))
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertEqual(store.snapshot().ledger.delivered, Int64(40 + before.count))
    store.close()
  }
}
