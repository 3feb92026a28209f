import XCTest

@testable import Scenarios

/// Every checker about events: a run it must pass, one it must fail, one it cannot judge.
final class EventCheckerTests: XCTestCase {
  private let three = ["e1", "e2", "e3"]

  private func delivered() -> HistoryMaker {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(three, at: 1, stored: three)
    return maker
  }

  func testLost_whenEverythingIsStored_passes() {
    let verdict = delivered().verdict("lost", "0")
    XCTAssertEqual(verdict.outcome, .pass)
    XCTAssertEqual(verdict.explanation, "0 of 3 durable events lost")
  }

  func testLost_whenAnEventIsNowhere_failsWithItsStory() {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(["e1", "e3"], at: 1, stored: ["e1", "e3"])
    maker.books {
      $0.recorded = 3; $0.delivered = 2; $0.dropped = []
    }
    let verdict = maker.verdict("lost", "0")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e2"])
    XCTAssertEqual(maker.verdict("lost", "1").outcome, .pass)
    XCTAssertEqual(maker.verdict("lost", "{\"max\":2}").outcome, .pass)
  }

  func testLost_whenEventIsQueuedDroppedOrQuarantinedByTheBooks_isNotLost() {
    for change in [
      { (books: inout DeviceBooks) in books.queued = 1 }, { $0.quarantined = 1 },
      { $0.dropped = [DeviceBooks.Drop(reason: "queueFull", count: 1)] },
    ] {
      var maker = HistoryMaker()
      maker.record(three)
      maker.send(["e1", "e3"], at: 1, stored: ["e1", "e3"])
      maker.books(change)
      XCTAssertEqual(maker.verdict("lost", "0").outcome, .pass)
    }
  }

  func testLost_whenNamedDropsExplainOneEvent_doNotExplainAnother() {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(["e1"], at: 1, stored: ["e1"])
    maker.add(.dropped(count: 1, reason: "queueFull", ids: ["e2"]))
    maker.books { $0.dropped = [DeviceBooks.Drop(reason: "queueFull", count: 1)] }
    let verdict = maker.verdict("lost", "0")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e3"])
  }

  func testLost_whenRequeuedFromQuarantineAndThenGone_countsIt() {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(three, at: 1, status: 400)
    maker.add(.quarantined(count: 3, reason: "refused 400", ids: three), at: 1)
    maker.books(at: 2) { $0.quarantined = 3 }
    maker.history.header.acceptsNone = true
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .pass)
    maker.add(.condition(name: "quarantine", value: "requeue"), at: 3)
    maker.books(at: 4) { $0.recorded = 3 }
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .fail)
    XCTAssertEqual(maker.verdict("lost", "3").outcome, .pass)
  }

  func testLost_whenTheServerStoredWhatItRefused_quarantineExcusesNobodyElse() {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(["e1"], at: 1, stored: ["e1"], status: 400)
    maker.add(.quarantined(count: 1, reason: "refused 400", ids: ["e1"]), at: 1)
    maker.send(["e2"], at: 2, stored: ["e2"])
    maker.books(at: 3) { $0.quarantined = 1 }
    let verdict = maker.verdict("lost", "0")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e3"])
  }

  func testLost_whenTheBooksAreOlderThanTheDeath_isUnknown() {
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(["e1"], at: 1, stored: ["e1"])
    maker.books(at: 2) { $0.queued = 2 }
    maker.add(.died(incarnation: 1, how: "closed"), at: 2)
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .pass, "the runner's own end is no death")
    maker.add(.died(incarnation: 1, how: "SIGKILL"), at: 3)
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .unknown)
    maker.books(at: 4) { $0.queued = 1 }
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .fail)
  }

  func testLost_whenEvidenceIsMissing_isUnknown() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .unknown, "nothing was recorded")
    maker.record(three)
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .unknown, "nothing was accepted")
    maker.send(["e1"], at: 1, stored: ["e1"])
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .unknown, "no books for the rest")
    var none = HistoryMaker(acceptsNone: true)
    none.record(three)
    none.books { $0.queued = 3 }
    XCTAssertEqual(none.verdict("lost", "0").outcome, .pass, "the script says none")
  }

  func testLost_whenPowerWentWithinTheSyncWindow_excusesOnlyTheLatest() {
    var maker = HistoryMaker()
    maker.record(["e1"], at: 0)
    maker.record(["e2"], at: 9)
    maker.record(["e3"], at: 9.8)
    maker.history.header.powerLossWindowNs = 500_000_000
    maker.add(.died(incarnation: 1, how: "reboot"), at: 10)
    maker.send(["e1"], at: 20, stored: ["e1"])
    maker.books { $0.recorded = 1 }
    let verdict = maker.verdict("lost", "0")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e2"])
    maker.history.header.powerLossWindowNs = 0
    XCTAssertEqual(maker.verdict("lost", "2").outcome, .pass, "nothing is excused then")
  }

  func testLost_whenReceiptWasBufferedOnly_doesNotCountIt() {
    var maker = delivered()
    maker.add(.offered(serial: 90, label: "shift", account: ""))
    maker.add(.receipt(serial: 90, .buffered(id: "b", reason: "diskFull")))
    maker.books { $0.queued = 0 }
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .pass)
    maker.add(.becameDurable(id: "b"))
    XCTAssertEqual(maker.verdict("lost", "0").outcome, .fail)
  }

  func testDelivered_whenOneIsMissing_fails() {
    XCTAssertEqual(delivered().verdict("delivered", "\"shift\"").outcome, .pass)
    XCTAssertEqual(delivered().verdict("delivered", "\"other\"").outcome, .unknown)
    var maker = delivered()
    maker.record(["e4"])
    XCTAssertEqual(maker.verdict("delivered", "\"shift\"").outcome, .fail)
    XCTAssertEqual(maker.verdict("delivered", "\"shift\"").subjects.map(\.id), ["e4"])
  }

  func testUndelivered_whenOneIsStored_fails() {
    XCTAssertEqual(delivered().verdict("undelivered", "\"shift\"").outcome, .fail)
    var maker = delivered()
    maker.record(["z"], label: "late")
    XCTAssertEqual(maker.verdict("undelivered", "\"late\"").outcome, .pass)
    XCTAssertEqual(maker.verdict("undelivered", "\"never\"").outcome, .unknown)
  }

  func testDuplicates_whenStoredTwice_fails() {
    XCTAssertEqual(delivered().verdict("duplicatesAfterDedup", "0").outcome, .pass)
    XCTAssertEqual(HistoryMaker().verdict("duplicatesAfterDedup", "0").outcome, .unknown)
    var maker = delivered()
    maker.send(["e2"], at: 2, duplicates: ["e2"])
    XCTAssertEqual(
      maker.verdict("duplicatesAfterDedup", "0").outcome, .pass, "answered, not stored")
    XCTAssertEqual(maker.verdict("duplicates", "{\"min\":1}").outcome, .pass)
    maker.send(["e2"], at: 3, stored: ["e2"])
    let verdict = maker.verdict("duplicatesAfterDedup", "0")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e2"])
  }

  func testStoredAndRequests_whenOutsideTheBounds_fail() {
    XCTAssertEqual(delivered().verdict("stored", "3").outcome, .pass)
    XCTAssertEqual(delivered().verdict("stored", "{\"min\":4}").outcome, .fail)
    var more = delivered()
    more.record(["never-sent"])
    XCTAssertEqual(more.verdict("stored", "3").outcome, .pass, "what was only offered")
    XCTAssertEqual(delivered().verdict("requests", "{\"min\":1,\"max\":2}").outcome, .pass)
    XCTAssertEqual(delivered().verdict("requests", "0").outcome, .fail)
    for key in ["stored", "requests", "duplicates"] {
      XCTAssertEqual(HistoryMaker().verdict(key, "0").outcome, .unknown, "no server was seen")
    }
    XCTAssertEqual(delivered().verdict("requests", "\"many\"").outcome, .unknown)
    XCTAssertEqual(delivered().verdict("requests", "{\"about\":1}").outcome, .unknown)
  }

  func testOrder_whenALaterEventIsStoredFirst_fails() {
    XCTAssertEqual(delivered().verdict("order", "\"shift\"").outcome, .pass)
    var maker = HistoryMaker()
    maker.record(three)
    maker.send(["e2"], at: 1, stored: ["e2"])
    XCTAssertEqual(maker.verdict("order", "\"shift\"").outcome, .unknown)
    maker.send(["e1", "e3"], at: 2, stored: ["e1", "e3"])
    XCTAssertEqual(maker.verdict("order", "\"shift\"").outcome, .fail)
  }

  func testAccounts_whenAnotherAccountsTokenCarriesAnEvent_fails() {
    var maker = HistoryMaker()
    maker.record(["e1"], account: "a")
    maker.send(["e1"], at: 1, stored: ["e1"], account: "a")
    XCTAssertEqual(maker.verdict("accountsKept").outcome, .unknown, "one account only")
    maker.record(["e2"], account: "b")
    XCTAssertEqual(maker.verdict("accountsKept").outcome, .pass)
    maker.send(["e2"], at: 2, stored: ["e2"], account: "a")
    XCTAssertEqual(maker.verdict("accountsKept").outcome, .fail)
    XCTAssertEqual(maker.verdict("accountsKept", "false").outcome, .pass, "the contrary expected")
  }

  func testDedupWindow_whenAnEventComesBackTooLate_fails() {
    var maker = delivered()
    maker.history.header.dedupWindowNs = HistoryMaker.ns(100)
    XCTAssertEqual(maker.verdict("withinDedupWindow").outcome, .unknown)
    maker.send(["e1"], at: 101, duplicates: ["e1"])
    XCTAssertEqual(maker.verdict("withinDedupWindow").outcome, .pass)
    maker.send(["e2"], at: 102, stored: ["e2"])
    let verdict = maker.verdict("withinDedupWindow")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e2"])
  }

  func testAcceptsNone_whenSomethingWasAccepted_fails() {
    XCTAssertEqual(delivered().verdict("acceptsNone").outcome, .fail)
    XCTAssertEqual(HistoryMaker().verdict("acceptsNone").outcome, .unknown)
    var maker = HistoryMaker(acceptsNone: true)
    maker.record(three)
    maker.send(three, at: 1, status: 503)
    XCTAssertEqual(maker.verdict("acceptsNone").outcome, .pass)
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["acceptsNone"])
  }

  func testContent_whenAnEventArrivesOtherwise_fails() {
    var maker = HistoryMaker()
    for (serial, id) in [(1, "e1"), (2, "e2")] {
      maker.add(.offered(serial: serial, label: "shift", account: "a", content: "\(serial)"))
      maker.add(.receipt(serial: serial, .durable(id: id)))
    }
    XCTAssertEqual(maker.verdict("contentKept").outcome, .unknown)
    func arrive(_ request: Int, _ ids: [String], _ contents: [String]) {
      maker.add(.arrived(request: request, Arrival(connection: 1, incarnation: 1)))
      maker.add(.identified(request: request, attempt: 1, ids: ids, contents: contents))
    }
    arrive(1, ["e1", "e2", "unknown"], ["1", "2", "x"])
    XCTAssertEqual(maker.verdict("contentKept").outcome, .pass)
    XCTAssert(Checkers.judge(maker.history).map(\.checker).contains("contentKept"), "unasked")
    arrive(2, ["e2"], ["1"])
    let verdict = maker.verdict("contentKept")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(verdict.subjects.map(\.id), ["e2"])
  }

  func testContent_whenTheServerSawAnotherBefore_fails() {
    var maker = HistoryMaker()
    maker.record(["e1"])
    maker.add(.arrived(request: 1, Arrival(connection: 1, incarnation: 1)))
    maker.add(.identified(request: 1, attempt: 1, ids: ["e1"]))
    maker.add(.committed(request: 1, Commit(stored: [], conflicting: ["e1"])))
    XCTAssertEqual(maker.verdict("contentKept").outcome, .fail)
    XCTAssert(Checkers.judge(maker.history).map(\.checker).contains("contentKept"), "unasked")
  }
}
