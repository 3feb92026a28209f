import XCTest

@testable import TelemetrySDK

/// The header in every form that servers send.
final class RetryAfterTests: XCTestCase {
  /// 1994-11-06T08:49:37Z.
  private let answered: Int64 = 784_111_777_000

  private func wait(_ values: String..., dateMs: Int64? = nil) -> Int64? {
    RetryAfter.waitMs(values, answerDateMs: dateMs ?? answered, capMs: 86_400_000)
  }

  func testSeconds_whenWellFormed_areObeyed() {
    XCTAssertEqual(wait("20"), 20_000)
    XCTAssertEqual(wait(" 5 "), 5_000)
    XCTAssertEqual(wait("\t5"), 5_000)
    XCTAssertEqual(wait("007"), 7_000)
  }

  func testSeconds_whenNotUsable_giveNothing() {
    for value in ["-7", "0", "", " ", "5.5", "abc", "+5", "5s", "0x10", "５", "1e3"] {
      XCTAssertNil(wait(value), value)
    }
    XCTAssertNil(RetryAfter.waitMs([], answerDateMs: answered, capMs: 1))
  }

  func testSeconds_whenHuge_areClampedToTheCap() {
    XCTAssertEqual(wait("86401"), 86_400_000)
    XCTAssertEqual(wait("9223372036854775807"), 86_400_000)
    XCTAssertEqual(wait(String(repeating: "9", count: 400)), 86_400_000)
  }

  func testValues_whenSeveral_theLargestUsableCounts() {
    XCTAssertEqual(wait("3", "9"), 9_000)
    XCTAssertEqual(wait("9", "garbage", "3"), 9_000)
    XCTAssertEqual(wait("3, 9"), 9_000)
    XCTAssertEqual(wait("-7, 4"), 4_000)
    XCTAssertEqual(
      wait("Sun, 06 Nov 1994 08:49:57 GMT, Sun, 06 Nov 1994 08:49:47 GMT"), 20_000)
  }

  func testDates_whenInAnyOfTheThreeForms_countAgainstTheAnswersDate() {
    XCTAssertEqual(wait("Sun, 06 Nov 1994 08:49:57 GMT"), 20_000)
    XCTAssertEqual(wait("Sunday, 06-Nov-94 08:49:57 GMT"), 20_000)
    XCTAssertEqual(wait("Sun Nov  6 08:49:57 1994"), 20_000)
  }

  func testDates_whenTheAnswerCameWithinASecond_areRoundedUp() {
    XCTAssertEqual(wait("Sun, 06 Nov 1994 08:49:57 GMT", dateMs: answered + 999), 20_000)
  }

  func testDates_whenPastOrMalformed_giveNothing() {
    for value in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT",
      "Sun, 31 Feb 1995 08:49:37 GMT", "Sun, 06 Nov 1995 24:00:00 GMT",
      "Sun, 06 Nov 1995 08:60:00 GMT", "Sun, 06 Nov 1995 08:49:37 CET",
      "Sun, 06 Nov 1995 08:49:37", "dim., 06 nov. 1995 08:49:37 GMT",
      "Sun, 6 Nov 1995 08:49:37 GMT", "1995-11-06T08:49:37Z",
    ] {
      XCTAssertNil(wait(value), value)
    }
  }

  func testShortYears_whenMoreThanFiftyYearsAhead_belongToTheCenturyBefore() throws {
    // 2026-01-01.
    let reference: Int64 = 1_767_225_600_000
    let near = try XCTUnwrap(
      HTTPDate.parse("Wednesday, 06-Nov-30 08:49:37 GMT", referenceMs: reference))
    XCTAssertEqual(Timestamp.text(near), "2030-11-06T08:49:37.000Z")
    let far = try XCTUnwrap(
      HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", referenceMs: reference))
    XCTAssertEqual(Timestamp.text(far), "1994-11-06T08:49:37.000Z")
  }
}
