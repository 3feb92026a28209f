import Foundation
import XCTest

@testable import Scenarios

final class StateCheckerTests: XCTestCase {
  private func booked(_ change: (inout DeviceBooks) -> Void) -> HistoryMaker {
    var maker = HistoryMaker()
    maker.books(at: 1, change)
    return maker
  }

  func testBooks_whenTheyBalance_pass() {
    let maker = booked {
      $0.recorded = 10
      $0.delivered = 6
      $0.queued = 1
      $0.quarantined = 1
      $0.dropped = [DeviceBooks.Drop(reason: "tooOld", count: 2)]
    }
    XCTAssertEqual(maker.verdict("ledgerBalances").outcome, .pass)
    XCTAssertEqual(HistoryMaker().verdict("ledgerBalances").outcome, .unknown)
  }

  func testBooks_whenAnyReadingDoesNotBalance_fail() {
    var maker = booked {
      $0.recorded = 3; $0.delivered = 2
    }
    maker.books(at: 2) {
      $0.recorded = 3; $0.delivered = 3
    }
    XCTAssertEqual(maker.verdict("ledgerBalances").outcome, .fail)
    let overflowing = booked {
      $0.delivered = .max; $0.queued = .max
    }
    XCTAssertEqual(overflowing.verdict("ledgerBalances").outcome, .fail)
  }

  func testBooks_whenTheyBalanceButForgetDurableEvents_fail() {
    var maker = HistoryMaker()
    maker.record(["e1", "e2"])
    maker.books {
      $0.recorded = 1; $0.queued = 1
    }
    XCTAssertEqual(maker.verdict("ledgerBalances").outcome, .fail)
    maker.add(.died(incarnation: 1, how: "reboot"))
    XCTAssertEqual(
      maker.verdict("ledgerBalances").outcome, .pass, "a power loss may take books back")
    maker.history.header.powerLossWindowNs = 0
    XCTAssertEqual(maker.verdict("ledgerBalances").outcome, .fail, "where everything was synced")
    var beside = HistoryMaker()
    beside.record(["e1", "e2"])
    beside.add(.condition(name: "database", value: "newerVersion"))
    beside.books { $0.recorded = 0 }
    XCTAssertEqual(beside.verdict("ledgerBalances").outcome, .pass, "the books of another file")
    beside.add(.condition(name: "database", value: "ownVersion"))
    XCTAssertEqual(beside.verdict("ledgerBalances").outcome, .fail, "its own file is back")
  }

  func testBooks_whenMoreIsDeliveredThanWasAcknowledged_fail() {
    var maker = HistoryMaker()
    maker.record(["e1", "e2"])
    maker.send(["e1"], at: 1, stored: ["e1"])
    maker.send(["e2"], at: 2, status: 200, contentType: "text/html; charset=utf-8")
    maker.books {
      $0.recorded = 2; $0.delivered = 2
    }
    XCTAssertEqual(
      maker.verdict("ledgerBalances").outcome, .fail, "a captive portal acknowledges nothing")
    maker.send(["e2"], at: 3, stored: ["e2"])
    XCTAssertEqual(maker.verdict("ledgerBalances").outcome, .pass)
  }

  func testFinalCounts_whenTheyDiffer_fail() {
    let maker = booked {
      $0.queued = 4
      $0.quarantined = 2
      $0.state = "idle"
      $0.dropped = [DeviceBooks.Drop(reason: "queueFull", count: 7)]
    }
    XCTAssertEqual(maker.verdict("queued", "4").outcome, .pass)
    XCTAssertEqual(maker.verdict("queued", "0").outcome, .fail)
    XCTAssertEqual(maker.verdict("quarantined", "{\"min\":1}").outcome, .pass)
    XCTAssertEqual(maker.verdict("quarantined", "1").outcome, .fail)
    XCTAssertEqual(maker.verdict("state", "\"idle\"").outcome, .pass)
    XCTAssertEqual(maker.verdict("state", "\"sending\"").outcome, .fail)
    XCTAssertEqual(maker.verdict("dropped", "{\"queueFull\":{\"min\":1}}").outcome, .pass)
    XCTAssertEqual(maker.verdict("dropped", "{\"queueFull\":6}").outcome, .fail)
    XCTAssertEqual(maker.verdict("dropped", "{}").outcome, .fail, "a reason nobody expected")
    XCTAssertEqual(maker.verdict("dropped", "{\"queueFull\":7,\"tooOld\":0}").outcome, .pass)
    for key in ["queued", "quarantined"] {
      XCTAssertEqual(HistoryMaker().verdict(key, "0").outcome, .unknown)
    }
    XCTAssertEqual(HistoryMaker().verdict("dropped", "{}").outcome, .unknown)
    XCTAssertEqual(HistoryMaker().verdict("state", "\"idle\"").outcome, .unknown)
  }

  func testDrain_whenTheQueueStaysFull_failsUnasked() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("drained").outcome, .unknown)
    maker.books { $0.queued = 50 }
    maker.add(.drained(false))
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["drained"])
    XCTAssertEqual(
      Checkers.judge(maker.history)[0].verdict.explanation,
      "the queue did not get empty in its time, the books hold recorded 0, delivered 0, queued 50,"
        + " quarantined 0, dropped 0")
    XCTAssertEqual(Checkers.judge(maker.history)[0].verdict.outcome, .fail)
    XCTAssertEqual(maker.verdict("drained", "false").outcome, .pass, "the script says so")
    maker.add(.drained(true))
    XCTAssertEqual(maker.verdict("drained").outcome, .pass)
  }

  func testCrash_whenTheDeviceTrapped_failsUnasked() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("noCrash").outcome, .unknown)
    maker.add(.started(incarnation: 1))
    maker.add(.died(incarnation: 1, how: "SIGKILL"))
    XCTAssertEqual(maker.verdict("noCrash").outcome, .pass)
    maker.add(.died(incarnation: 2, how: "crashed (signal 4)"), at: 2)
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["noCrash"])
    XCTAssertEqual(
      maker.verdict("noCrash").explanation, "the device crashed (signal 4) at 2s")
  }

  func testVerdicts_whenTheHistoryIsFull_areUnknown() {
    let recorder = HistoryRecorder(
      header: HistoryHeader(scenario: "full", lane: "virtual", acceptsNone: true), limit: 3,
      nowNs: { 0 })
    recorder.append(.started(incarnation: 1))
    for request in 1...3 {
      recorder.append(.arrived(request: request, Arrival(connection: 1, incarnation: 1)))
    }
    let line = ExpectedLine(key: "requests", value: "2")
    XCTAssertEqual(
      Checkers.judge(recorder.history, expecting: [line]).map(\.verdict.outcome), [.unknown])
    let unasked = Checkers.judge(recorder.history)
    XCTAssertEqual(unasked.map(\.checker), ["noCrash", "acceptsNone"])
    XCTAssertEqual(unasked.map(\.verdict.outcome), [.unknown, .unknown])
  }

  func testDisk_whenAnyMeasurementIsTooLarge_fails() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("diskWithin", "\"20MB\"").outcome, .unknown)
    maker.add(.measured(bytes: 20_000_000))
    maker.add(.measured(bytes: 10))
    XCTAssertEqual(maker.verdict("diskWithin", "\"20MB\"").outcome, .pass)
    XCTAssertEqual(maker.verdict("diskWithin", "\"19MiB\"").outcome, .fail)
    XCTAssertEqual(maker.verdict("diskWithin", "19999999").outcome, .fail)
    XCTAssertEqual(maker.verdict("diskWithin", "\"lots\"").outcome, .unknown)
    maker.books { $0.bytesOnDisk = 20_000_001 }
    XCTAssertEqual(maker.verdict("diskWithin", "\"20MB\"").outcome, .fail, "the books count too")
  }

  func testPlaintext_whenContentIsReadable_failsAndNamesThePlace() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("noPlaintext").outcome, .unknown)
    maker.add(.scanned(SecrecyFindings(files: 3, bytes: 9, needles: 0)))
    XCTAssertEqual(maker.verdict("noPlaintext").outcome, .unknown, "nothing was looked for")
    maker.add(.scanned(SecrecyFindings(files: 3, bytes: 9, needles: 5)))
    XCTAssertEqual(maker.verdict("noPlaintext").outcome, .pass)
    maker.add(.scanned(SecrecyFindings(files: 3, bytes: 9, needles: 5, unreadable: ["x"])))
    XCTAssertEqual(maker.verdict("noPlaintext").outcome, .unknown)
    maker = HistoryMaker()
    maker.add(.scanned(SecrecyFindings(files: 3, bytes: 9, needles: 5, leftOut: 1)))
    XCTAssertEqual(maker.verdict("noPlaintext").outcome, .unknown, "not all was looked for")
    let finding = SecrecyFindings.Finding(file: "queue.db-wal", offset: 40, what: "text \"Orders\"")
    maker.add(.scanned(SecrecyFindings(files: 3, bytes: 9, needles: 5, found: [finding])))
    let verdict = maker.verdict("noPlaintext")
    XCTAssertEqual(verdict.outcome, .fail)
    XCTAssertEqual(
      verdict.explanation,
      "1 recorded contents are readable, the first: text \"Orders\" at byte 40 of queue.db-wal")
  }

  func testNonces_whenOneSealsTwoRecords_fails() {
    var maker = HistoryMaker()
    XCTAssertEqual(maker.verdict("nonceReuse").outcome, .unknown)
    maker.add(.seals([SealSighting(key: "k1", nonce: "n", digest: "a")]))
    maker.add(
      .seals([
        SealSighting(key: "k1", nonce: "n", digest: "a"),
        SealSighting(key: "k2", nonce: "n", digest: "b"),
      ]))
    XCTAssertEqual(maker.verdict("nonceReuse").outcome, .pass, "the same record, and another key")
    var dark = maker
    dark.add(.seals([], unreadable: ["queue.sqlite: no such table"]))
    XCTAssertEqual(dark.verdict("nonceReuse").outcome, .unknown)
    dark.add(.condition(name: "disk", value: "corrupt"))
    XCTAssertEqual(dark.verdict("nonceReuse").outcome, .pass, "the script damaged it itself")
    var unseen = HistoryMaker()
    unseen.record(["e1"])
    XCTAssertEqual(Checkers.judge(unseen.history).map(\.checker), [], "nobody looked")
    unseen.add(.scanned(SecrecyFindings(files: 1, bytes: 1, needles: 1)))
    XCTAssertEqual(Checkers.judge(unseen.history).map(\.checker), ["nonceReuse"])
    XCTAssertEqual(Checkers.judge(unseen.history)[0].verdict.outcome, .unknown)
    maker.add(.seals([SealSighting(key: "k1", nonce: "n", digest: "c")]))
    XCTAssertEqual(maker.verdict("nonceReuse").outcome, .fail)
    var flipped = maker
    flipped.add(.condition(name: "database", value: "bitFlip"))
    flipped.add(.condition(name: "flipped", value: "k2.n"))
    XCTAssertEqual(flipped.verdict("nonceReuse").outcome, .fail, "a bit of another record")
    flipped.add(.condition(name: "flipped", value: "k1.n"))
    XCTAssertEqual(flipped.verdict("nonceReuse").outcome, .pass)
    flipped.add(.seals([SealSighting(key: "k1", nonce: "n", digest: "d")]))
    XCTAssertEqual(flipped.verdict("nonceReuse").outcome, .fail, "one bit, one other text")
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["nonceReuse"], "runs unasked")
  }

  private func backgroundTime(
    _ turns: [(Double, String)], died: Double? = nil, drained: Bool = true
  ) -> Verdict {
    var made = HistoryMaker()
    made.add(.started(incarnation: 1))
    for (at, what) in turns { made.add(.condition(name: "assertion", value: what), at: at) }
    if let died { made.add(.died(incarnation: 1, how: "SIGKILL"), at: died) }
    made.add(.drained(drained), at: 100)
    return made.verdict("timeGivenBack", "true")
  }

  func testBackgroundTime_whenItIsKeptOrEndedTwice_fails() {
    let begun = (1.0, "1.1 begun")
    let expiring = (20.0, "1.1 expiring")
    let ended = (22.0, "1.1 ended")
    XCTAssertEqual(backgroundTime([]).outcome, .unknown)
    XCTAssertEqual(backgroundTime([begun, ended]).outcome, .pass)
    XCTAssertEqual(backgroundTime([begun, expiring, ended]).outcome, .pass)
    XCTAssertEqual(
      backgroundTime([begun, expiring]),
      .fail("the assertion 1.1 was taken back at 20s and not ended"))
    XCTAssertEqual(backgroundTime([begun, expiring, (26, "1.1 ended")]).outcome, .fail)
    XCTAssertEqual(
      backgroundTime([begun, ended, ended]), .fail("the assertion 1.1 was ended 2 times"))
    XCTAssertEqual(backgroundTime([begun]), .fail("the assertion 1.1 was never ended"))
    XCTAssertEqual(backgroundTime([begun], drained: false).outcome, .pass, "still at work")
    XCTAssertEqual(
      backgroundTime([(2, "1.7 ended")]), .fail("the assertion 1.7 was ended and never begun"))
    for (seconds, outcome) in [(23.0, Verdict.Outcome.pass), (26, .fail)] {
      var soFar = HistoryMaker()
      for (at, what) in [begun, expiring] {
        soFar.add(.condition(name: "assertion", value: what), at: at)
      }
      soFar.add(.note("here the script asks"), at: seconds)
      XCTAssertEqual(soFar.verdict("timeGivenBack").outcome, outcome, "\(seconds)")
    }
    XCTAssertEqual(backgroundTime([begun], died: 30).outcome, .pass, "gone with the device")
    XCTAssertEqual(backgroundTime([begun, expiring], died: 21).outcome, .pass)
    XCTAssertEqual(backgroundTime([begun, expiring], died: 30).outcome, .fail)
  }

  func testCheckers_whenTheLanguageKnowsAnExpectation_judgeIt() {
    let known = Set(Checkers.all.map(\.name))
    for expectation in ScenarioShape.expectations {
      XCTAssertTrue(known.contains(expectation.key), "\(expectation.key) has no checker")
    }
    XCTAssertEqual(known.count, Checkers.all.count, "a name stands for one checker")
    XCTAssertEqual(HistoryMaker().verdict("dance").outcome, .unknown)
    XCTAssertEqual(HistoryMaker().verdict("lost", "{").outcome, .unknown)
  }

  func testReference_whenRead_describesEveryCheckerAndItsEvidence() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/reference/checkers.md"), encoding: .utf8)
    for checker in Checkers.all {
      let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(checker.name)` |") }
      XCTAssertEqual(row?.hasSuffix("| \(checker.needs) |"), true, checker.name)
    }
  }
}
