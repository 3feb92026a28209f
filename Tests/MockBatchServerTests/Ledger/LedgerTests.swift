import XCTest

@testable import MockBatchServer

final class LedgerTests: XCTestCase {
  private func event(_ number: Int, content: UInt64 = 1) -> DecodedBatch.Event {
    DecodedBatch.Event(key: EventKey(high: 9, low: UInt64(number)), content: content)
  }

  private func origin(
    _ request: Int, wallMs: Int64 = 1_000, windowNs: Int64 = .max, rejects: Bool = false
  ) -> CommitOrigin {
    CommitOrigin(
      request: request, connection: request * 10, incarnation: "i\(request)", wallMs: wallMs,
      dedupWindowNs: windowNs, rejectsConflicts: rejects)
  }

  func testCommit_whenIdsRepeat_tellsWithinFromAcross() throws {
    let ledger = Ledger()
    let first = try ledger.commit([event(1), event(2), event(1)], rejected: 0, from: origin(1))
    XCTAssertEqual(first.stored, 2)
    XCTAssertEqual(first.duplicatesWithin, 1)
    XCTAssertEqual(first.duplicatesAcross, 0)
    let second = try ledger.commit([event(2), event(3), event(2)], rejected: 1, from: origin(2))
    XCTAssertEqual(second.stored, 1)
    XCTAssertEqual(second.duplicatesWithin, 1)
    XCTAssertEqual(second.duplicatesAcross, 1)
    let counts = ledger.counts
    XCTAssertEqual(counts.received, 7)
    XCTAssertEqual(
      counts.received,
      counts.stored + counts.duplicatesWithin + counts.duplicatesAcross + counts.rejected)
    XCTAssertEqual(counts.unique, 3)
    let entry = try XCTUnwrap(ledger.entry(EventKey(high: 9, low: 2).text.uppercased()))
    XCTAssertEqual(entry.timesSeen, 3)
    XCTAssertEqual(entry.timesStored, 1)
    XCTAssertEqual(entry.firstRequest, 1)
    XCTAssertEqual(entry.firstConnection, 10)
    XCTAssertEqual(entry.incarnation, "i1")
  }

  func testCommit_whenContentDiffers_countsAConflict() throws {
    let ledger = Ledger()
    _ = try ledger.commit([event(1)], rejected: 0, from: origin(1))
    let second = try ledger.commit([event(1, content: 2)], rejected: 0, from: origin(2))
    XCTAssertEqual(second.conflicting, 1)
    XCTAssertEqual(second.duplicatesAcross, 1)
    let third = try ledger.commit(
      [event(1, content: 2)], rejected: 0, from: origin(3, rejects: true))
    XCTAssertEqual(third.rejectedConflicts, [EventKey(high: 9, low: 1)])
    XCTAssertEqual(third.duplicates, 0)
    // The content that came first stays the yardstick.
    let fourth = try ledger.commit([event(1)], rejected: 0, from: origin(4))
    XCTAssertEqual(fourth.conflicting, 0)
    XCTAssertEqual(ledger.counts.conflicting, 2)
    XCTAssertEqual(ledger.entry(EventKey(high: 9, low: 1).text)?.conflicts, 2)
  }

  func testCommit_whenWindowIsOver_storesAgain() throws {
    let ledger = Ledger()
    let hour: Int64 = 3_600_000_000_000
    _ = try ledger.commit([event(1)], rejected: 0, from: origin(1, wallMs: 0, windowNs: hour))
    let inside = try ledger.commit(
      [event(1)], rejected: 0, from: origin(2, wallMs: 3_599_999, windowNs: hour))
    XCTAssertEqual(inside.duplicatesAcross, 1)
    let outside = try ledger.commit(
      [event(1), event(1)], rejected: 0, from: origin(3, wallMs: 3_600_000, windowNs: hour))
    XCTAssertEqual(outside.stored, 1)
    XCTAssertEqual(outside.duplicatesWithin, 1)
    XCTAssertEqual(ledger.entry(EventKey(high: 9, low: 1).text)?.timesStored, 2)
    XCTAssertEqual(ledger.counts.unique, 1)
  }

  func testLedger_whenComparedWithADictionary_agrees() throws {
    var random = SeededGenerator("testLedger_whenComparedWithADictionary_agrees")
    let ledger = Ledger()
    var model: [EventKey: (content: UInt64, times: Int)] = [:]
    var expected = LedgerCounts()
    for request in 1...400 {
      let events = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        event(
          Int.random(in: 0...3_000, using: &random),
          content: UInt64.random(in: 0...1, using: &random))
      }
      var inBatch = Set<EventKey>()
      for event in events {
        if let known = model[event.key] {
          if inBatch.contains(event.key) {
            expected.duplicatesWithin += 1
          } else {
            expected.duplicatesAcross += 1
          }
          if known.content != event.content { expected.conflicting += 1 }
          model[event.key] = (known.content, known.times + 1)
        } else {
          expected.stored += 1
          model[event.key] = (event.content, 1)
        }
        inBatch.insert(event.key)
      }
      expected.received += events.count
      expected.batches += 1
      _ = try ledger.commit(events[...], rejected: 0, from: origin(request))
    }
    expected.unique = model.count
    XCTAssertEqual(ledger.counts, expected)
    XCTAssertEqual(ledger.entries().count, model.count)
    for (key, value) in model {
      XCTAssertEqual(ledger.entry(key.text)?.timesSeen, value.times)
    }
  }

  func testTable_whenSlotsAreTakenBack_findsTheRest() {
    var table = LedgerTable()
    func slot(_ number: Int) -> LedgerTable.Slot {
      LedgerTable.Slot(
        key: EventKey(high: 0, low: UInt64(number)), content: 0, firstSeenMs: 0, lastSeenMs: 0,
        firstRequest: 0, lastRequest: 0, firstConnection: 0, times: 1, timesStored: 1,
        conflicts: 0, incarnation: 0)
    }
    for number in 0..<5_000 { table.append(slot(number)) }
    table.removeLast(downTo: 1_000)
    for number in 0..<5_000 {
      XCTAssertEqual(table.find(slot(number).key), number < 1_000 ? number : nil)
    }
    for number in 1_000..<5_000 { table.append(slot(number)) }
    for number in 0..<5_000 { XCTAssertEqual(table.find(slot(number).key), number) }
  }
}
