import XCTest

@testable import MockBatchServer

final class JournalTests: XCTestCase {
  private func add(_ journal: Journal, body: Int = 0) -> JournalEntry {
    journal.open { id in
      JournalEntry(
        id: id, atNs: 0, wallMs: 0, context: RequestContext(connection: 1, indexOnConnection: 0),
        request: HTTPRequest(
          method: "POST", target: "/", body: [UInt8](repeating: 0, count: body)))
    }
  }

  func testJournal_whenEntriesExceedItsBound_dropsTheOldest() {
    let journal = Journal(limits: Journal.Limits(entries: 3, bytes: 1_000_000))
    for _ in 0..<10 { _ = add(journal) }
    XCTAssertEqual(journal.entries.map(\.id), [8, 9, 10])
    XCTAssertEqual(journal.dropped, 7)
    XCTAssertNil(journal.entry(7))
    XCTAssertEqual(journal.entry(8)?.id, 8)
    XCTAssertNil(journal.entry(11))
  }

  func testJournal_whenBytesExceedItsBound_keepsTheNewest() {
    let journal = Journal(limits: Journal.Limits(entries: 100, bytes: 10_000))
    for _ in 0..<5 { _ = add(journal, body: 3_000) }
    XCTAssertEqual(journal.entries.map(\.id), [4, 5].suffix(journal.entries.count).map { $0 })
    _ = add(journal, body: 1_000_000)
    XCTAssertEqual(journal.entries.map(\.id), [6])
    _ = add(journal)
    XCTAssertEqual(journal.entries.map(\.id), [7])
  }

  func testUpdate_whenBodyArrivesLater_countsItsBytes() {
    let journal = Journal(limits: Journal.Limits(entries: 100, bytes: 10_000))
    var first = add(journal)
    var second = add(journal)
    first.request.body = [UInt8](repeating: 1, count: 6_000)
    journal.update(first)
    XCTAssertEqual(journal.entries.count, 2)
    second.request.body = [UInt8](repeating: 1, count: 6_000)
    journal.update(second)
    XCTAssertEqual(journal.entries.map(\.id), [2])
    // A late word about an entry that made room changes nothing.
    journal.update(first)
    XCTAssertEqual(journal.entries.map(\.id), [2])
  }

  func testReset_whenAnAnswerIsStillOnItsWay_staysEmpty() {
    let journal = Journal()
    let entry = add(journal)
    XCTAssertEqual(journal.noteComplete(), 1)
    journal.reset()
    journal.update(entry)
    XCTAssertEqual(journal.entries.count, 0)
    XCTAssertEqual(journal.completeRequests, 0)
    XCTAssertEqual(add(journal).id, 2)
  }
}
