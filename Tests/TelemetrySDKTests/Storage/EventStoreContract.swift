import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// What every `EventStore` promises. Each check gets a fresh store, open and empty.
struct EventStoreContract {
  typealias Check = (any EventStore) throws -> Void

  static var checks: [(name: String, check: Check)] {
    [
      ("an event that was appended is read back byte for byte", readsBack),
      ("rows are read in the order of recording", readsInOrder),
      ("a batch keeps both bounds and says that more waits", keepsBounds),
      ("an event over the bound goes alone", sendsOversizeAlone),
      ("a batch never mixes accounts", separatesAccounts),
      ("rows in flight are read by nobody else", hidesRowsInFlight),
      ("a delete needs sequence and id", deletesByBoth),
      ("deleting twice counts once", countsDeletesOnce),
      ("a caller's id is stored once", storesCallerIDOnce),
      ("a caller's id is free again after its delivery", freesCallerID),
      ("quarantine keeps event and reason", keepsQuarantine),
      ("a server's words are cut between scalars", cutsWords),
      ("the quarantine can be put back", requeues),
      ("the quarantine can be cleared", clearsQuarantine),
      ("one account's rows can be dropped", dropsAccount),
      ("notes are kept, replaced and removed", keepsNotes),
      ("a purge leaves only the gate and recording goes on", purges),
      ("rotating the key loses nothing", rotates),
      ("a suspended store blocks and comes back", suspends),
      ("a batch of appends answers for each", appendsBatch),
      ("a sync calls back", syncs),
      ("an event that waits for the medium is told its place", appendsDurably),
      ("old rows go at a confirmed time, young ones stay", agesOut),
    ]
  }

  static func run(_ makeStore: () -> any EventStore) throws {
    for (name, check) in checks {
      let store = makeStore()
      XCTAssertNil(store.open(), name)
      try check(store)
      XCTAssertTrue(store.snapshot().ledger.balances || store.snapshot().blocked != nil, name)
      store.close()
    }
  }

  private static func append(_ events: [NewEvent], to store: any EventStore) {
    for event in events { XCTAssertNotNil(store.append(event).sequence) }
  }

  private static func readsBack(_ store: any EventStore) {
    let event = NewEvent.make(7, account: "a")
    append([event], to: store)
    let batch = store.readBatch(account: nil, bounds: .make())
    XCTAssertEqual(batch.account, "a")
    XCTAssertEqual(batch.events.map(\.json), [event.json])
    XCTAssertEqual(batch.events.map(\.row.id), [event.id])
    XCTAssertFalse(batch.hasMore)
    XCTAssertEqual(store.snapshot().ledger.recorded, 1)
    XCTAssertEqual(store.snapshot().oldestRecordedAtMs, event.recordedAtMs)
  }

  private static func readsInOrder(_ store: any EventStore) {
    let events = (0..<250).map { NewEvent.make($0, recordedAtMs: Int64(1_000 - $0)) }
    append(events, to: store)
    XCTAssertEqual(store.allEvents().map(\.row.id), events.map(\.id))
  }

  private static func keepsBounds(_ store: any EventStore) {
    let events = (0..<9).map { NewEvent.make($0) }
    append(events, to: store)
    let byCount = store.readBatch(account: nil, bounds: .make(maxEvents: 4))
    XCTAssertEqual(byCount.events.count, 4)
    XCTAssertTrue(byCount.hasMore)
    let size = events[0].content.jsonBytes
    for (maxBytes, expected) in [(13 + 3 * size + 2, 3), (13 + 3 * size + 1, 2)] {
      let batch = store.readBatch(account: nil, bounds: .make(maxBytes: maxBytes))
      XCTAssertEqual(batch.events.count, expected)
      XCTAssertTrue(batch.hasMore)
    }
  }

  private static func sendsOversizeAlone(_ store: any EventStore) {
    append([.make(bytes: 900), .make()], to: store)
    let batch = store.readBatch(account: nil, bounds: .make(maxBytes: 300))
    XCTAssertEqual(batch.events.count, 1)
    XCTAssertTrue(batch.hasMore)
  }

  private static func separatesAccounts(_ store: any EventStore) {
    append(
      (0..<6).map { NewEvent.make($0, account: $0 % 2 == 0 ? "a" : "b") }, to: store)
    XCTAssertEqual(store.accounts(), ["a", "b"])
    let first = store.readBatch(account: nil, bounds: .make())
    XCTAssertEqual(first.account, "a")
    XCTAssertEqual(first.events.count, 3)
    XCTAssertFalse(first.hasMore)
    XCTAssertEqual(store.readBatch(account: "b", bounds: .make()).events.count, 3)
    XCTAssertEqual(store.readBatch(account: "c", bounds: .make()).events.count, 0)
  }

  private static func hidesRowsInFlight(_ store: any EventStore) {
    append((0..<4).map { NewEvent.make($0) }, to: store)
    let first = store.readBatch(account: nil, bounds: .make(maxEvents: 2)).events.map(\.row)
    store.markInFlight(first)
    let second = store.readBatch(account: nil, bounds: .make(maxEvents: 2)).events.map(\.row)
    XCTAssertTrue(Set(first).isDisjoint(with: second))
    store.clearInFlight(first)
    let again = store.readBatch(account: nil, bounds: .make(maxEvents: 2)).events.map(\.row)
    XCTAssertEqual(again, first)
  }

  private static func deletesByBoth(_ store: any EventStore) {
    append((0..<2).map { NewEvent.make($0) }, to: store)
    let rows = store.allEvents().map(\.row)
    let swapped = [
      RowReference(sequence: rows[0].sequence, id: rows[1].id),
      RowReference(sequence: rows[1].sequence + 5, id: rows[1].id),
    ]
    XCTAssertNil(store.deleteDelivered(swapped))
    XCTAssertEqual(store.allEvents().count, 2)
    XCTAssertNil(store.deleteDelivered([rows[1]]))
    XCTAssertEqual(store.allEvents().map(\.row), [rows[0]])
  }

  private static func countsDeletesOnce(_ store: any EventStore) {
    append((0..<230).map { NewEvent.make($0) }, to: store)
    let rows = store.allEvents().map(\.row)
    for _ in 0..<2 { XCTAssertNil(store.deleteDelivered(rows)) }
    XCTAssertEqual(store.snapshot().ledger.delivered, 230)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
  }

  private static func storesCallerIDOnce(_ store: any EventStore) throws {
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    append([.make(1, id: id)], to: store)
    XCTAssertEqual(store.append(.make(2, id: id)), .duplicate)
    let rows = store.allEvents().map(\.row)
    XCTAssertEqual(rows.map(\.id), [id])
    XCTAssertNil(store.quarantine(rows, reason: .tooLarge))
    XCTAssertEqual(store.append(.make(3, id: id)), .duplicate)
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.row.id), [id])
    XCTAssertEqual(store.snapshot().ledger.recorded, 1)
  }

  private static func freesCallerID(_ store: any EventStore) throws {
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    append([.make(1, id: id)], to: store)
    XCTAssertNil(store.deleteDelivered(store.allEvents().map(\.row)))
    XCTAssertEqual(store.snapshot().ledger.delivered, 1)
    append([.make(1, id: id)], to: store)
  }

  private static func keepsQuarantine(_ store: any EventStore) {
    let events = (0..<3).map { NewEvent.make($0) }
    append(events, to: store)
    let rows = store.allEvents().map(\.row)
    let reasons: [QuarantineReason] = [
      .refused(status: 422, detail: "needle-words"), .rejectedByServer(reason: "old"), .tooLarge,
    ]
    for (row, reason) in zip(rows, reasons) {
      XCTAssertNil(store.quarantine([row], reason: reason))
    }
    let held = store.quarantinedEvents(limit: 9)
    XCTAssertEqual(held.map(\.reason), reasons)
    XCTAssertEqual(held.map(\.json), events.map(\.json))
    XCTAssertEqual(store.quarantinedEvents(limit: 2).count, 2)
    XCTAssertEqual(store.snapshot().ledger.quarantined, 3)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
  }

  private static func cutsWords(_ store: any EventStore) {
    append([.make()], to: store)
    // 199 bytes, then a scalar of four: the words end before it.
    let words = String(repeating: "w", count: 199)
    let reason = QuarantineReason.refused(status: 400, detail: words + "\u{1F354} more")
    XCTAssertNil(store.quarantine(store.allEvents().map(\.row), reason: reason))
    XCTAssertEqual(
      store.quarantinedEvents(limit: 9).map(\.reason), [.refused(status: 400, detail: words)])
  }

  private static func requeues(_ store: any EventStore) {
    append((0..<3).map { NewEvent.make($0) }, to: store)
    let rows = store.allEvents().map(\.row)
    XCTAssertNil(store.quarantine(Array(rows[..<2]), reason: .tooLarge))
    XCTAssertEqual(store.requeueQuarantined(), 2)
    XCTAssertEqual(
      store.allEvents().map(\.row.id), [rows[2].id, rows[0].id, rows[1].id])
    XCTAssertEqual(store.snapshot().ledger.recorded, 3)
    XCTAssertTrue(store.snapshot().ledger.balances)
  }

  private static func clearsQuarantine(_ store: any EventStore) {
    append((0..<3).map { NewEvent.make($0) }, to: store)
    XCTAssertNil(store.quarantine(store.allEvents().map(\.row), reason: .tooLarge))
    XCTAssertEqual(store.clearQuarantine(), 3)
    XCTAssertEqual(store.clearQuarantine(), 0)
    XCTAssertEqual(store.snapshot().ledger.dropped, ["quarantineCleared": 3])
  }

  private static func dropsAccount(_ store: any EventStore) {
    append((0..<220).map { NewEvent.make($0, account: $0 % 2 == 0 ? "a" : "b") }, to: store)
    XCTAssertNil(store.dropAll(account: "a"))
    XCTAssertEqual(store.accounts(), ["b"])
    XCTAssertEqual(store.snapshot().ledger.dropped, ["purged": 110])
    XCTAssertNil(store.quarantine([store.allEvents()[0].row], reason: .tooLarge))
    XCTAssertNil(store.dropAll(account: nil))
    XCTAssertEqual(store.snapshot().ledger.quarantined, 0)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
  }

  private static func keepsNotes(_ store: any EventStore) {
    XCTAssertNil(store.note("gate"))
    XCTAssertNil(store.setNote("gate", [1, 2]))
    XCTAssertNil(store.setNote("session", [9]))
    XCTAssertNil(store.setNote("gate", [3]))
    XCTAssertEqual(store.note("gate"), [3])
    XCTAssertNil(store.setNote("gate", nil))
    XCTAssertNil(store.note("gate"))
    XCTAssertEqual(store.note("session"), [9])
  }

  private static func purges(_ store: any EventStore) {
    append((0..<5).map { NewEvent.make($0) }, to: store)
    XCTAssertNil(store.setNote("session", [9]))
    XCTAssertNil(store.setNote("gate", [7]))
    XCTAssertNil(store.quarantine([store.allEvents()[0].row], reason: .tooLarge))
    XCTAssertNil(store.purge())
    XCTAssertEqual(store.allEvents().count, 0)
    XCTAssertEqual(store.quarantinedEvents(limit: 9).count, 0)
    XCTAssertNil(store.note("session"))
    XCTAssertEqual(store.note("gate"), [7])
    XCTAssertEqual(store.snapshot().ledger.dropped, ["purged": 5])
    append([.make()], to: store)
    XCTAssertEqual(store.allEvents().count, 1)
  }

  private static func rotates(_ store: any EventStore) {
    XCTAssertNil(store.setNote("session", [9]))
    var ids: [EventID] = []
    for number in 0..<5 {
      let event = NewEvent.make(number, account: "a")
      append([event], to: store)
      ids.append(event.id)
      XCTAssertNil(store.rotateKey())
      _ = store.maintain()
    }
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    XCTAssertEqual(store.note("session"), [9])
    XCTAssertEqual(store.accounts(), ["a"])
  }

  private static func suspends(_ store: any EventStore) {
    append([.make(1)], to: store)
    store.suspend()
    XCTAssertEqual(store.append(.make(2)), .blocked(.suspended))
    XCTAssertEqual(store.readBatch(account: nil, bounds: .make()).blocked, .suspended)
    XCTAssertNil(store.resume())
    append([.make(3)], to: store)
    XCTAssertEqual(store.allEvents().count, 2)
  }

  private static func appendsBatch(_ store: any EventStore) throws {
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    let events = (0..<250).map { NewEvent.make($0, id: $0 % 100 == 0 ? id : nil) }
    let outcomes = store.append(batch: events)
    XCTAssertEqual(outcomes.count, 250)
    XCTAssertEqual(outcomes.filter { $0 == .duplicate }.count, 2)
    XCTAssertEqual(store.allEvents().count, 248)
    XCTAssertEqual(store.append(batch: []), [])
  }

  private static func syncs(_ store: any EventStore) {
    append([.make()], to: store)
    let done = XCTestExpectation(description: "synced")
    store.whenSynced { block in
      XCTAssertNil(block)
      done.fulfill()
    }
    XCTAssertEqual(XCTWaiter.wait(for: [done], timeout: 60), .completed)
  }

  private static func appendsDurably(_ store: any EventStore) {
    let done = XCTestExpectation(description: "told")
    store.appendDurably(.make(1)) { outcome in
      XCTAssertEqual(outcome, .durable(sequence: 1))
      done.fulfill()
    }
    XCTAssertEqual(XCTWaiter.wait(for: [done], timeout: 60), .completed)
    XCTAssertEqual(store.allEvents().count, 1)
  }

  private static func agesOut(_ store: any EventStore) {
    let now: Int64 = 1_767_600_000_000
    append([.make(1, recordedAtMs: now), .make(2, recordedAtMs: now)], to: store)
    store.enforceAge(confirmedNowMs: now + 1_000, maxAgeMs: 60_000)
    XCTAssertEqual(store.snapshot().ledger.queued, 2)
  }
}

final class InMemoryEventStoreTests: XCTestCase {
  func testContract_whenCheckedOnMemory_holds() throws {
    try EventStoreContract.run { InMemoryEventStore() }
  }
}
