import Foundation
import XCTest

@testable import TelemetrySDK

/// Delays, as tables.
final class RetryTests: XCTestCase {
  // MARK: Own backoff

  func testDelay_whenTheCountIsAbsurd_staysWithinTheBounds() {
    let schedule = RetrySchedule(baseMs: 2_000, capMs: 300_000)
    for failures in [Int.min, -1, 0, 1, 10, 62, 63, 64, 1_000, Int.max] {
      for draw in [0, 1, UInt64.max / 2, .max] {
        let delay = schedule.delayMs(failures: failures, draw: draw)
        XCTAssert((2_000...300_000).contains(delay), "\(failures) \(draw): \(delay)")
      }
    }
    XCTAssertEqual(
      (0...9).map { schedule.ceilingMs(failures: $0) },
      [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000])
  }

  func testDelay_whenTheBoundsAreAbsurd_neverTraps() {
    for (base, cap) in [
      (0, 0), (-5, -9), (Int64.max, Int64.max), (1, .max), (.min, .max), (.max, 1),
    ] as [(Int64, Int64)] {
      let schedule = RetrySchedule(baseMs: base, capMs: cap)
      for failures in [0, 1, 62, 63, Int.max] {
        for draw in [0, UInt64.max] {
          XCTAssertGreaterThanOrEqual(schedule.delayMs(failures: failures, draw: draw), 1)
        }
      }
    }
  }

  func testDelay_whenDrawnOften_isSpreadOverTheWholeRange() {
    let schedule = RetrySchedule(baseMs: 2_000, capMs: 300_000)
    var random = SplitMix(seed: SplitMix.seed("RETRY_SEED"))
    var tenths = [Int](repeating: 0, count: 10)
    for _ in 0..<20_000 {
      let delay = schedule.delayMs(failures: 20, draw: random.next())
      tenths[Int((delay - 2_000) * 10 / 298_001)] += 1
    }
    for count in tenths { XCTAssert((1_700...2_300).contains(count), "\(tenths)") }
  }

  // MARK: Retry-After

  private let dateMs: Int64 = 1_777_908_787_000  // Mon, 04 May 2026 15:33:07 GMT

  private func wait(_ values: String...) -> Int64? {
    RetryAfter.waitMs(values, answerDateMs: dateMs, capMs: 86_400_000)
  }

  func testRetryAfter_whenInSeconds_isReadOrLeft() {
    XCTAssertEqual(wait("20"), 20_000)
    XCTAssertEqual(wait(" 5 "), 5_000)
    XCTAssertEqual(wait("\t007\t"), 7_000)
    XCTAssertEqual(wait("3", "9"), 9_000)
    XCTAssertEqual(wait("3, 9"), 9_000)
    XCTAssertEqual(wait("86400"), 86_400_000)
    XCTAssertEqual(wait("86401"), 86_400_000)
    XCTAssertEqual(wait("99999999999999999999999999"), 86_400_000)
    for text in [
      "", " ", "0", "-7", "+5", "5.5", "abc", "5s", "0x10", "٣", "1e3", "NaN", "-0", "5 5", ",",
    ] {
      XCTAssertNil(wait(text), text)
    }
    XCTAssertEqual(wait("-7", "4"), 4_000)
  }

  func testRetryAfter_whenADate_isReadInAllThreeForms() {
    XCTAssertEqual(wait("Mon, 04 May 2026 15:33:27 GMT"), 20_000)
    XCTAssertEqual(wait("Monday, 04-May-26 15:33:27 GMT"), 20_000)
    XCTAssertEqual(wait("Mon May  4 15:33:27 2026"), 20_000)
    XCTAssertEqual(wait("mon, 04 may 2026 15:33:27 gmt"), 20_000)
    XCTAssertEqual(wait("3", "Mon, 04 May 2026 15:33:27 GMT"), 20_000)
    XCTAssertEqual(wait("Sun, 01 Jan 2040 00:00:00 GMT"), 86_400_000)
    for text in [
      "Mon, 04 May 2026 15:33:07 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
      "Mon, 04 Mai 2026 15:33:27 GMT", "lun., 04 mai 2026 15:33:27 GMT",
      "Mon, 31 Feb 2027 15:33:27 GMT", "Mon, 04 May 2026 25:33:27 GMT",
      "Mon, 04 May 2026 15:33:27 CET", "Mon, 4 May 2026 15:33:27 GMT", "2026-05-04T15:33:27Z",
    ] {
      XCTAssertNil(wait(text), text)
    }
  }

  func testRetryAfter_whenTheAnswersDateIsBetweenSeconds_roundsUp() {
    XCTAssertEqual(
      RetryAfter.waitMs(
        ["Mon, 04 May 2026 15:33:27 GMT"], answerDateMs: dateMs + 400, capMs: 86_400_000), 20_000)
  }

  func testRFC850_whenTheYearHasTwoDigits_isWithinFiftyYears() {
    let cases: [(String, Int, Int)] = [
      ("26", 2026, 2026), ("75", 2026, 2075), ("77", 2026, 1977), ("00", 2099, 2100),
      ("99", 2000, 1999), ("49", 2000, 2049),
    ]
    for (short, reference, year) in cases {
      let referenceMs = Timestamp.days(year: reference, month: 6, day: 1) * 86_400_000
      let read = HTTPDate.parse("Friday, 01-Jan-\(short) 00:00:00 GMT", referenceMs: referenceMs)
      XCTAssertEqual(
        read, Timestamp.days(year: year, month: 1, day: 1) * 86_400_000, "\(short) \(reference)")
    }
  }

  func testHeaders_whenSpelledInAnyCase_areFound() {
    for name in ["retry-after", "RETRY-AFTER", "Retry-after", "Retry-After"] {
      let answer = BatchAnswer(
        status: 429, headers: [(name, " 3 "), ("DATE", "Mon, 04 May 2026 15:33:07 GMT")], body: [])
      let facts = AnswerFacts(answer, receivedMs: 0)
      XCTAssertEqual(
        RetryAfter.waitMs(facts.retryAfter, answerDateMs: 0, capMs: 86_400_000), 3_000, name)
      XCTAssertEqual(facts.dateMs, dateMs)
    }
  }

  #if os(Linux)
    func testRetryAfter_whenTheLocaleIsFrench_isReadTheSame() throws {
      for name in [
        "testRetryAfter_whenADate_isReadInAllThreeForms",
        "testRetryAfter_whenInSeconds_isReadOrLeft",
      ] {
        try ChildTest.run(
          "TelemetrySDKTests.RetryTests/\(name)",
          environment: ["LANG": "fr_FR.UTF-8", "LC_ALL": "fr_FR.UTF-8", "TZ": "Europe/Paris"])
      }
    }
  #endif
}
