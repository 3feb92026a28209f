import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Events in both forms, in a real store: through kills, keys, quarantine and damage.
final class StoredContentTests: StoreTestCase {
  private func event(_ event: AnyEvent.Event, _ isFromCaller: Bool = false) throws -> NewEvent {
    NewEvent(
      id: event.id, idIsFromCaller: isFromCaller, account: "a",
      content: try XCTUnwrap(event.content),
      recordedAtMs: event.wallMs)
  }

  func testEvents_whenStoredKilledReadAndHeld_areTheEncodersJSON() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    var expected: [[UInt8]] = []
    var store = openStore { $0.resealsOldRows = true }
    for number in 0..<300 {
      let one = random.next()
      expected.append(one.json)
      XCTAssertNotNil(store.append(try event(one, number % 5 == 0)).sequence)
      if number % 60 == 59 {
        XCTAssertNil(store.rotateKey())
        store.abandon()
        store = openStore { $0.resealsOldRows = true }
      }
    }
    XCTAssertEqual(store.allEvents(account: "a").map(\.json), expected)
    while store.maintain() {}
    XCTAssertEqual(keys.current.keys.count, 1)
    let rows = store.allEvents(account: "a")
    XCTAssertEqual(rows.map(\.json), expected)
    XCTAssertNil(store.quarantine(rows.map(\.row), reason: .tooLarge))
    let held = store.quarantinedEvents(limit: 1_000)
    XCTAssertEqual(held.map(\.json), expected)
    XCTAssertEqual(held.map(\.row.id), rows.map(\.row.id))
    XCTAssertEqual(store.requeueQuarantined(), expected.count)
    XCTAssertEqual(store.allEvents(account: "a").map(\.json), expected)
    store.close()
  }

  func testEvents_whenStoredAsJSONByAnEarlierVersion_areReadBesideTheOthers() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    let store = openStore()
    var expected: [[UInt8]] = []
    for number in 0..<20 {
      let one = random.next()
      expected.append(one.json)
      var new = try event(one)
      if number % 2 == 0 {
        new = NewEvent(
          id: one.id, account: "a", json: one.json, recordedAtMs: one.wallMs)
      }
      XCTAssertNotNil(store.append(new).sequence)
    }
    XCTAssertEqual(store.allEvents(account: "a").map(\.json), expected)
    store.close()
  }

  func testRows_whenTheirContentIsDamagedUnderTheSeal_areHeldAndTheOthersRead() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    let store = openStore()
    let good = random.next()
    let content = try XCTUnwrap(good.content).bytes
    for count in [0, 1, 2, content.count / 2, content.count - 1] {
      let cut = NewEvent(
        id: random.next().id, account: "a", json: Array(content[..<count]), recordedAtMs: 0)
      XCTAssertNotNil(store.append(cut).sequence)
    }
    XCTAssertNotNil(store.append(try event(good)).sequence)
    XCTAssertEqual(store.allEvents(account: "a").map(\.json), [good.json])
    XCTAssertEqual(
      store.quarantinedEvents(limit: 9).map(\.reason), Array(repeating: .unreadable, count: 5))
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.json), Array(repeating: nil, count: 5))
    XCTAssertEqual(store.requeueQuarantined(), 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testRows_whenALaterVersionWroteThem_stayUntouchedBesideTheOthers() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    var store = openStore { $0.resealsOldRows = true }
    let good = (0..<3).map { _ in random.next() }
    XCTAssertNotNil(store.append(try event(good[0])).sequence)
    for form: UInt8 in [0x82, 0x83, 0xfe] {
      let later = NewEvent(
        id: random.next().id, account: "a", json: [form, 0x81, 0x74, 0xd0, 0], recordedAtMs: 0)
      XCTAssertNotNil(store.append(later).sequence)
    }
    XCTAssertNotNil(store.append(try event(good[1])).sequence)
    // A later layout, and a flag that is not known, each under a seal that opens.
    for flags: UInt8 in [0x20, 0x12] {
      let row = try XCTUnwrap(store.append(try event(random.next())).sequence)
      try store.state.withLock { state in try overwrite(row, flags, try XCTUnwrap(state.core)) }
    }
    XCTAssertNotNil(store.append(try event(good[2])).sequence)
    let rows = try sealed()
    for _ in 0..<2 {
      XCTAssertEqual(store.allEvents(account: "a").map(\.json), good.map(\.json))
      XCTAssertEqual(store.quarantinedEvents(limit: 9).count, 0)
      XCTAssertEqual(store.snapshot().ledger.queued, 8)
      XCTAssertEqual(store.snapshot().unknownKeyRows, 5)
      store.close()
      store = openStore { $0.resealsOldRows = true }
    }
    XCTAssertEqual(try sealed(), rows)
    // Sealing anew changes the key and nothing under the seal.
    XCTAssertNil(store.rotateKey())
    while store.maintain() {}
    XCTAssertNil(store.deleteDelivered(store.allEvents(account: "a").map(\.row)))
    XCTAssertEqual(store.snapshot().ledger.queued, 5)
    XCTAssertEqual(store.quarantinedEvents(limit: 9).count, 0)
    XCTAssertEqual(store.dropAll(account: "a"), nil)
    XCTAssertEqual(store.snapshot().unknownKeyRows, 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testAge_whenAHundredRowsOfALaterLayoutComeFirst_isStillEnforced() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    let store = openStore()
    for _ in 0..<110 {
      let row = try XCTUnwrap(store.append(try event(random.next())).sequence)
      try store.state.withLock { state in try overwrite(row, 0x20, try XCTUnwrap(state.core)) }
    }
    XCTAssertNotNil(store.append(try event(random.next())).sequence)
    let dayMs: Int64 = 86_400_000
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 111)
    clock.set {
      $0.wallMs += 40 * dayMs
      $0.sinceBootMs += 40 * dayMs
    }
    store.enforceAge(confirmedNowMs: clock.wallMs(), maxAgeMs: 30 * dayMs)
    XCTAssertEqual(store.snapshot().ledger.queued, 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  private func overwrite(_ row: Int64, _ flags: UInt8, _ core: StoreCore) throws {
    let head = try XCTUnwrap(try core.oldestRows(limit: 999).first { $0.sequence == row })
    let cipher = try XCTUnwrap(core.keys.cipher(head.key))
    var bytes: [UInt8] = []
    XCTAssertTrue(
      RecordSealer.seal(
        head: [flags], body: [UInt8](repeating: 1, count: 40), place: core.eventPlace(head),
        cipher: cipher, into: &bytes))
    let digits = bytes.map { String(format: "%02x", $0) }.joined()
    try core.connection.execute("UPDATE events SET sealed = x'\(digits)' WHERE seq = \(row)")
  }

  private func sealed() throws -> [[UInt8]] {
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    defer { connection.closeUntouched() }
    let statement = try connection.prepare("SELECT sealed FROM events ORDER BY seq")
    var rows: [[UInt8]] = []
    while try statement.step() { rows.append(statement.bytes(0)) }
    return rows
  }

  func testBatch_whenBoundedInBytes_countsTheBytesOfItsJSON() throws {
    var random = AnyEvent(seed: SplitMix.seed("STORED_SEED"))
    let store = openStore()
    for _ in 0..<200 { _ = store.append(try event(random.next())) }
    let all = store.allEvents(account: "a").map(\.json.count)
    for maxBytes in [2_000, 10_000, 50_000] {
      let batch = store.readBatch(account: "a", bounds: .make(maxBytes: maxBytes))
      let bytes = 13 + batch.events.map(\.json.count).reduce(0, +) + batch.events.count - 1
      XCTAssertLessThanOrEqual(bytes, maxBytes)
      XCTAssertGreaterThan(bytes + 1 + all[batch.events.count], maxBytes)
    }
    store.close()
  }
}
