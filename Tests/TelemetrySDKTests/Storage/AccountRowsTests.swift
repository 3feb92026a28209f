import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Rows of several accounts in one table: each batch reads its own, and walks over the others'
/// once at most.
final class AccountRowsTests: StoreTestCase {
  private func read(_ store: SQLiteEventStore, _ account: String, _ count: Int = 10) -> [EventID] {
    store.readBatch(account: account, bounds: .make(maxEvents: count)).events.map(\.row.id)
  }

  private func append(_ store: SQLiteEventStore, _ count: Int, _ account: String) -> [EventID] {
    (0..<count).map { number in
      let event = NewEvent.make(number, account: account)
      XCTAssertNotNil(store.append(event).sequence)
      return event.id
    }
  }

  /// Rows that the next batch of the account steps over or takes.
  private func steps(_ store: SQLiteEventStore, _ account: String) throws -> Int {
    try store.onCore { core in
      var reading = BatchReading(account: account, bounds: .make(maxEvents: 10))
      var chunks = 0
      while !reading.isComplete {
        try core.readChunk(into: &reading)
        chunks += 1
      }
      return chunks * StoreCore.chunkRows
    }.get()
  }

  func testReadBatch_whenNobodysRowsAreAskedForAndThereAreNone_walksOverNothing() throws {
    let store = openStore()
    _ = append(store, 3_000, "anna")
    XCTAssertEqual(read(store, ""), [])
    XCTAssertLessThanOrEqual(try steps(store, ""), StoreCore.chunkRows)
    store.close()
  }

  func testReadBatch_whenAColleaguesRowsLieBefore_walksOverThemOnce() throws {
    let store = openStore()
    let annas = append(store, 3_000, "anna")
    let berts = append(store, 30, "bert")
    XCTAssertEqual(read(store, "bert"), Array(berts[..<10]))
    XCTAssertLessThanOrEqual(try steps(store, "bert"), 2 * StoreCore.chunkRows)
    XCTAssertEqual(read(store, "anna"), Array(annas[..<10]))
    XCTAssertEqual(read(store, "bert", 100), berts)
    store.close()
  }

  func testReadBatch_whenRowsComeBackBehind_findsThem() {
    let store = openStore()
    let berts = append(store, 2, "bert")
    _ = append(store, 300, "anna")
    let rows = store.readBatch(account: "bert", bounds: .make()).events.map(\.row)
    XCTAssertNil(store.quarantine(rows, reason: .tooLarge))
    XCTAssertEqual(read(store, "bert"), [])
    XCTAssertEqual(store.requeueQuarantined(), 2)
    XCTAssertEqual(read(store, "bert"), berts)
    store.close()
  }

  func testReadBatch_whenMarksAreTakenBack_readsTheRowsAgain() {
    let store = openStore()
    _ = append(store, 200, "anna")
    let berts = append(store, 2, "bert")
    let rows = store.readBatch(account: "bert", bounds: .make()).events.map(\.row)
    store.markInFlight(rows)
    XCTAssertEqual(read(store, "bert"), [])
    store.clearInFlight(rows)
    XCTAssertEqual(read(store, "bert"), berts)
    store.close()
  }

  func testReadBatch_whenAKeyComesBack_readsItsRows() {
    let first = openStore()
    let berts = append(first, 2, "bert")
    first.close()
    let lost = keys.current.keys
    keys.change { $0.keys = [:] }
    let store = openStore()
    _ = append(store, 2, "anna")
    XCTAssertEqual(read(store, "bert"), [])
    XCTAssertEqual(store.accounts(), ["anna"])
    store.close()
    keys.change { $0.keys.merge(lost) { old, _ in old } }
    XCTAssertNil(store.open())
    XCTAssertEqual(read(store, "bert"), berts)
    XCTAssertEqual(store.accounts(), ["anna", "bert"])
    store.close()
  }

  func testDropAll_whenTheAccountHasQuarantinedEvents_deletesThemToo() {
    let store = openStore()
    _ = append(store, 250, "anna")
    let berts = append(store, 250, "bert")
    let rows = store.readBatch(account: "bert", bounds: .make()).events.map(\.row)
    XCTAssertNil(store.quarantine(rows, reason: .tooLarge))
    XCTAssertEqual(store.accounts(), ["anna", "bert"])
    XCTAssertNil(store.dropAll(account: "bert"))
    XCTAssertEqual(store.snapshot().ledger.quarantined, 0)
    XCTAssertEqual(store.snapshot().ledger.queued, 250)
    XCTAssertEqual(store.snapshot().ledger.dropped, ["purged": Int64(berts.count)])
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testCallerID_whenQuarantined_isKnownAlsoAfterAStart() throws {
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    let store = openStore()
    XCTAssertNotNil(store.append(.make(1, id: id)).sequence)
    XCTAssertNil(store.quarantine(store.allEvents().map(\.row), reason: .tooLarge))
    XCTAssertEqual(store.append(.make(1, id: id)), .duplicate)
    store.close()
    XCTAssertNil(store.open())
    XCTAssertEqual(store.append(.make(1, id: id)), .duplicate)
    XCTAssertEqual(store.clearQuarantine(), 1)
    XCTAssertNotNil(store.append(.make(1, id: id)).sequence)
    store.close()
  }
}
