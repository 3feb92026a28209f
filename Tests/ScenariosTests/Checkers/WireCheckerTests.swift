import XCTest

@testable import Scenarios

final class WireCheckerTests: XCTestCase {
  private let body = ["e1", "e2"]
  private let date = "Mon, 05 Jan 2026 08:00:00 GMT"

  private func answered(
    _ retryAfter: String?, date: String? = nil, status: Int = 429, thenAt seconds: Double
  ) -> Verdict {
    var maker = HistoryMaker()
    maker.record(body)
    maker.send(body, at: 10, status: status, retryAfter: retryAfter, date: date)
    maker.send(body, at: seconds, stored: body, attempt: 2)
    return maker.verdict("retryAfterObeyed")
  }

  func testRetryAfter_whenSecondsPassed_isObeyed() {
    XCTAssertEqual(answered("20", thenAt: 30).outcome, .pass)
    XCTAssertEqual(answered("20", thenAt: 29.9).outcome, .fail)
    XCTAssertEqual(answered("20", status: 503, thenAt: 11).outcome, .fail)
    XCTAssertEqual(
      answered("20", thenAt: 12).explanation,
      "request 2 came at 12s, but request 1 was told to wait until 30s")
  }

  func testRetryAfter_whenADateInAnyForm_isMeasuredAgainstTheDateHeader() {
    for text in [
      "Mon, 05 Jan 2026 08:00:20 GMT", "Monday, 05-Jan-26 08:00:20 GMT", "Mon Jan  5 08:00:20 2026",
    ] {
      XCTAssertEqual(answered(text, date: date, thenAt: 30).outcome, .pass, text)
      XCTAssertEqual(answered(text, date: date, thenAt: 28).outcome, .fail, text)
      XCTAssertEqual(answered(text, date: nil, thenAt: 28).outcome, .unknown, text)
    }
  }

  func testRetryAfter_whenUnusable_isNoEvidence() {
    for text in [
      "0", "-5", "soon", "", "1.5", "Mon, 05 Jan 2026 07:59:59 GMT",
      "Mon, 99 Jan 2026 08:00:20 GMT",
    ] {
      XCTAssertEqual(answered(text, date: date, thenAt: 11).outcome, .unknown, text)
    }
    XCTAssertEqual(answered(nil, thenAt: 11).outcome, .unknown)
    XCTAssertEqual(answered("20", status: 200, thenAt: 11).outcome, .unknown, "not on a 200")
  }

  func testRetryAfter_whenBeyondTheCap_bindsUpToTheCap() {
    XCTAssertEqual(answered("99999999999999999999", thenAt: 10 + 86_400).outcome, .pass)
    XCTAssertEqual(answered("999999999", thenAt: 10 + 86_399).outcome, .fail)
  }

  func testHTTPDate_whenRead_countsSecondsOfTheGregorianCalendar() {
    let cases: [(String, Int64?)] = [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
      ("Mon, 05 Jan 2026 08:00:00 GMT", 1_767_600_000),
      ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
      ("06 Nov 1994", nil),
    ]
    for (text, seconds) in cases {
      XCTAssertEqual(RetryAfterText.seconds(ofDate: text), seconds, text)
    }
  }

  func testFinalRefusal_whenSameBodyComesAgain_fails() {
    for status in [400, 403, 404, 408, 410, 422] {
      var maker = HistoryMaker()
      maker.record(body + ["e3"])
      maker.send(body, at: 1, status: status)
      maker.send(["e3"], at: 2, stored: ["e3"])
      XCTAssertEqual(maker.verdict("finalNotRetried").outcome, .pass, "\(status)")
      maker.send(body.reversed(), at: 3, stored: body, attempt: 2)
      XCTAssertEqual(maker.verdict("finalNotRetried").outcome, .fail, "\(status)")
    }
    for status in [401, 413, 429, 500, 200] {
      var maker = HistoryMaker()
      maker.send(body, at: 1, status: status)
      XCTAssertEqual(maker.verdict("finalNotRetried").outcome, .unknown, "\(status) is not final")
    }
  }

  func testFinalRefusal_whenTheAppRequeues_mayComeAgain() {
    var maker = HistoryMaker()
    maker.send(body, at: 1, status: 400)
    maker.add(.condition(name: "quarantine", value: "requeue"), at: 2)
    maker.send(body, at: 3, stored: body, attempt: 2)
    XCTAssertEqual(maker.verdict("finalNotRetried").outcome, .pass)
  }

  func testImmediateResend_whenThereIsNoDelay_fails() {
    func run(
      _ status: Int?, again: Double, _ between: HistoryEvent? = nil, reused: Bool = false,
      token: Int = 1
    ) -> Verdict {
      var maker = HistoryMaker()
      if reused { maker.send(["e0"], at: 0, stored: ["e0"], connection: 4) }
      maker.send(body, at: 1, status: status, connection: 4)
      if let between { maker.add(between, at: 1) }
      maker.send(body, at: again, stored: body, attempt: 2, connection: 5, token: token)
      return maker.verdict("noImmediateResend")
    }
    XCTAssertEqual(run(503, again: 2).outcome, .pass)
    XCTAssertEqual(run(503, again: 1).outcome, .fail)
    XCTAssertEqual(run(nil, again: 1).outcome, .fail)
    XCTAssertEqual(run(nil, again: 1, reused: true).outcome, .pass, "one quick retry")
    XCTAssertEqual(run(503, again: 1, reused: true).outcome, .fail, "an answer came")
    XCTAssertEqual(run(401, again: 1).outcome, .fail)
    XCTAssertEqual(
      run(401, again: 1, .condition(name: "token", value: "T2")).outcome, .fail,
      "the script's new token is not the one that was sent")
    XCTAssertEqual(run(401, again: 1, token: 2).outcome, .pass, "asked for and sent at once")
    XCTAssertEqual(run(503, again: 1, .condition(name: "flush", value: "asked")).outcome, .pass)
    XCTAssertEqual(run(503, again: 1, .condition(name: "network", value: "wifi")).outcome, .fail)
    XCTAssertEqual(run(200, again: 1).outcome, .unknown)
  }

  func testImmediateResend_whenTheServerNoticesLateThatTheClientGaveUp_countsTheDevicesTimes() {
    func run(again: Double) -> Verdict {
      var maker = HistoryMaker()
      maker.add(.sending(incarnation: 1, number: 1), at: 1)
      maker.add(
        .arrived(request: 1, Arrival(connection: 1, incarnation: 1, number: 1)), at: 1)
      maker.add(.identified(request: 1, attempt: 1, ids: body), at: 1)
      maker.add(.sent(incarnation: 1, number: 1, outcome: "timeout"), at: 31)
      maker.add(.sending(incarnation: 1, number: 2), at: again)
      maker.add(
        .arrived(request: 2, Arrival(connection: 2, incarnation: 1, number: 2)), at: again)
      maker.add(.identified(request: 2, attempt: 2, ids: body), at: again)
      // Only now does the server see that its first client is gone.
      maker.add(.ended(request: 1, how: "clientWentAway"), at: 40)
      return maker.verdict("noImmediateResend")
    }
    XCTAssertEqual(run(again: 33).outcome, .pass)
    XCTAssertEqual(run(again: 31).outcome, .fail)
  }

  func testTooLarge_whenTheSameBodyComesAgain_fails() {
    var maker = HistoryMaker()
    maker.send(body, at: 1, status: 413)
    maker.send(["e1"], at: 2, stored: ["e1"])
    XCTAssertEqual(maker.verdict("tooLargeNotRepeated").outcome, .pass)
    maker.send(body.reversed(), at: 3, stored: body)
    XCTAssertEqual(maker.verdict("tooLargeNotRepeated").outcome, .fail)
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["tooLargeNotRepeated"])
    XCTAssertEqual(HistoryMaker().verdict("tooLargeNotRepeated").outcome, .unknown)
  }

  func testToken_whenTheRefusedOneComesAgain_fails() {
    func run(_ ids: [String], token: Int, incarnation: Int = 1) -> HistoryMaker {
      var maker = HistoryMaker()
      maker.send(body, at: 1, status: 401, token: 1)
      maker.send(ids, at: 900, stored: ids, token: token, incarnation: incarnation)
      return maker
    }
    XCTAssertEqual(run(body, token: 2).verdict("tokenNotRepeated").outcome, .pass)
    XCTAssertEqual(run(body, token: 1).verdict("tokenNotRepeated").outcome, .fail)
    XCTAssertEqual(run(["e9"], token: 1).verdict("tokenNotRepeated").outcome, .fail)
    XCTAssertEqual(
      run(["e9"], token: 1, incarnation: 2).verdict("tokenNotRepeated").outcome, .pass,
      "a new life may ask once")
    XCTAssertEqual(
      run(body, token: 1, incarnation: 2).verdict("tokenNotRepeated").outcome, .fail)
    XCTAssertEqual(
      Checkers.judge(run(body, token: 1).history).map(\.checker), ["tokenNotRepeated"])
    XCTAssertEqual(HistoryMaker().verdict("tokenNotRepeated").outcome, .unknown)
  }

  func testAnswer_whenItNeverReachedTheDevice_bindsNobody() {
    func run(_ status: Int, outcome: String?) -> HistoryMaker {
      var maker = HistoryMaker()
      maker.record(body)
      maker.send(body, at: 1, status: status, retryAfter: "60", number: 1)
      if let outcome { maker.add(.sent(incarnation: 1, number: 1, outcome: outcome), at: 1) }
      maker.send(body, at: 5, stored: body, attempt: 2, number: 2)
      maker.add(.sent(incarnation: 1, number: 2, outcome: "200"), at: 5)
      return maker
    }
    let cut = "connectionLost"
    XCTAssertEqual(run(400, outcome: "400").verdict("finalNotRetried").outcome, .fail)
    XCTAssertEqual(run(400, outcome: cut).verdict("finalNotRetried").outcome, .unknown)
    XCTAssertEqual(run(400, outcome: nil).verdict("finalNotRetried").outcome, .unknown)
    XCTAssertEqual(run(503, outcome: "503").verdict("retryAfterObeyed").outcome, .fail)
    XCTAssertEqual(run(503, outcome: cut).verdict("retryAfterObeyed").outcome, .unknown)
    XCTAssertEqual(run(503, outcome: cut).verdict("noImmediateResend").outcome, .pass)
    var books = HistoryMaker()
    books.record(body)
    books.send(body, at: 1, stored: body, number: 1)
    books.add(.sent(incarnation: 1, number: 1, outcome: cut), at: 1)
    books.books(at: 2) {
      $0.recorded = 2; $0.delivered = 2
    }
    XCTAssertEqual(books.verdict("ledgerBalances").outcome, .fail, "cut off is no acknowledgement")
  }

  func testFaults_whenAResponseAToxicOrATurnOfTheListenerNeverActed_areUnknown() {
    let planned = ["busy#1", "busy#2", "toxic slow", "listener refuse at 3s"]
    var maker = HistoryMaker(rules: planned)
    XCTAssertEqual(
      maker.verdict("allFaultsFired").explanation,
      "never fired: \"busy#1\", \"busy#2\", \"toxic slow\", \"listener refuse at 3s\"")
    maker.send(body, at: 1, status: 503)
    maker.add(.faultApplied(rule: "busy", response: 0, what: "", request: 1), at: 1)
    maker.add(.faultApplied(rule: "toxic slow", response: 0, what: "", request: 1), at: 1)
    maker.add(.condition(name: "listener", value: "refuse"), at: 3)
    XCTAssertEqual(maker.verdict("allFaultsFired").explanation, "never fired: \"busy#2\"")
    maker.add(.faultApplied(rule: "busy", response: 1, what: "", request: 1), at: 4)
    XCTAssertEqual(maker.verdict("allFaultsFired").outcome, .pass)
    maker.add(.missed(step: 4, what: "purge"), at: 5)
    XCTAssertEqual(
      maker.verdict("allFaultsFired").explanation, "no living device for: step 4, purge")
  }

  func testFaults_whenOneNeverFired_isUnknownNotPass() {
    var maker = HistoryMaker(rules: ["busy", "gone"], triggers: [3])
    maker.send(body, at: 1, status: 429)
    maker.add(.faultApplied(rule: "busy", response: 0, what: "429", request: 1), at: 1)
    maker.add(.triggerFired(step: 3), at: 1)
    let verdict = maker.verdict("allFaultsFired")
    XCTAssertEqual(verdict.outcome, .unknown)
    XCTAssertEqual(verdict.explanation, "never fired: \"gone\"")
    maker.add(.faultApplied(rule: "gone", response: 0, what: "reset", request: 1), at: 1)
    XCTAssertEqual(maker.verdict("allFaultsFired").outcome, .pass)
    XCTAssertEqual(Checkers.judge(maker.history).map(\.checker), ["allFaultsFired"])
    XCTAssertEqual(HistoryMaker().verdict("allFaultsFired").outcome, .unknown)
  }

  func testHammering_whenAMinuteHasTooManyTriesInVain_fails() {
    func run(_ count: Int, everySeconds seconds: Double, _ outcome: String) -> HistoryMaker {
      var maker = HistoryMaker()
      for number in 1...count {
        maker.add(.sending(incarnation: 1, number: number), at: Double(number) * seconds)
        let sent = HistoryEvent.sent(incarnation: 1, number: number, outcome: outcome)
        maker.add(sent, at: Double(number) * seconds)
      }
      return maker
    }
    XCTAssertEqual(HistoryMaker().verdict("noHammering").outcome, .unknown)
    XCTAssertEqual(
      run(20, everySeconds: 1, "connectionRefused").verdict("noHammering").outcome, .pass)
    XCTAssertEqual(
      run(21, everySeconds: 1, "connectionRefused").verdict("noHammering").outcome, .fail)
    XCTAssertEqual(
      run(21, everySeconds: 4, "connectionRefused").verdict("noHammering").outcome, .pass)
    // Nobody but a portal can have said so: the server knows of none of them.
    let portal = run(21, everySeconds: 0.001, "200")
    XCTAssertEqual(portal.verdict("noHammering").outcome, .fail)
    XCTAssertEqual(
      Checkers.judge(run(21, everySeconds: 1, "302").history).map(\.checker), ["noHammering"])
  }

  func testHammering_whenTheServerAnswers_countsWhatAsksForPatience() {
    for (status, outcome) in [
      (200, Verdict.Outcome.unknown), (413, .unknown), (400, .unknown), (401, .fail),
      (429, .fail), (503, .fail), (302, .fail),
    ] {
      var maker = HistoryMaker()
      for number in 1...30 {
        maker.send(["e\(number)"], at: Double(number), status: status, number: number)
        let sent = HistoryEvent.sent(incarnation: 1, number: number, outcome: "\(status)")
        maker.add(sent, at: Double(number))
      }
      XCTAssertEqual(maker.verdict("noHammering").outcome, outcome, "\(status)")
    }
  }
}
