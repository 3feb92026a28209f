import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// `Retry-After` from the answer to the next request, through the whole SDK.
final class RetryAfterDeliveryTests: XCTestCase {
  private typealias Header = (name: String, value: String)

  /// 2026-05-04T15:33:07Z, by the server's clock; the phone's is elsewhere.
  private static let date: Header = ("Date", "Mon, 04 May 2026 15:33:07 GMT")

  /// Milliseconds from the answer to the next request, with the same random draws each time.
  private func wait(_ status: Int, _ headers: [Header], seed: UInt64 = 7) -> Int64? {
    let world = DeviceWorld(seed: seed)
    world.server.script { request in
      request.number == 0 ? .answer(status, headers: headers) : .answer(200)
    }
    world.record(3)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.count, 1)
    let answered = world.time.now()
    world.advance(ms: 2 * 86_400_000)
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 3, "\(headers)")
    return world.server.requests.dropFirst().first.map { $0.at.milliseconds(since: answered) }
  }

  func testValues_whenNegativeZeroOrGarbage_fallBackToTheOwnBackoff() throws {
    for status in [429, 503] {
      let own = try XCTUnwrap(wait(status, []))
      XCTAssert((2_000...4_000).contains(own), "\(own)")
      for value in ["-7", "0", "", "5.5", "abc"] {
        XCTAssertEqual(wait(status, [("Retry-After", value)]), own, "\(status) \(value)")
      }
    }
  }

  func testValues_whenUsable_areWaitedWithALittleSpreadAndTheLargestCounts() throws {
    for status in [429, 503] {
      for (values, seconds) in [([" 5 "], 5), (["3", "9"], 9), (["9", "3"], 9)] {
        let waited = try XCTUnwrap(wait(status, values.map { ("Retry-After", $0) }))
        let wanted = Int64(seconds) * 1_000
        XCTAssert((wanted...wanted * 5 / 4).contains(waited), "\(values): \(waited)")
      }
    }
  }

  func testDates_whenInAnyForm_areWaitedByTheServersClock() throws {
    let forms = [
      "Mon, 04 May 2026 15:33:27 GMT", "Monday, 04-May-26 15:33:27 GMT",
      "Mon May  4 15:33:27 2026",
    ]
    for status in [429, 503] {
      for form in forms {
        let headers = [RetryAfterDeliveryTests.date, ("Retry-After", form)]
        let waited = try XCTUnwrap(wait(status, headers))
        XCTAssert((20_000...25_000).contains(waited), "\(form): \(waited)")
      }
      let own = wait(status, [])
      let past = "Mon, 04 May 2026 15:33:06 GMT"
      XCTAssertEqual(wait(status, [RetryAfterDeliveryTests.date, ("Retry-After", past)]), own)
    }
  }

  func testNames_whenSpelledInAnyCaseWithBlanks_giveTheSameWait() throws {
    let spellings: [Header] = [
      ("retry-after", "30"), ("RETRY-AFTER", "30"), ("Retry-after", "30"),
      ("Retry-After", "   30  "), ("rETRY-aFTER", "\t30"),
    ]
    let waits = spellings.map { wait(429, [$0]) }
    XCTAssertEqual(Set(waits).count, 1, "\(waits)")
    XCTAssertGreaterThanOrEqual(try XCTUnwrap(waits[0]), 30_000)
  }

  #if os(Linux)
    func testDates_whenThePhoneSpeaksFrench_areWaitedTheSame() throws {
      try ChildTest.run(
        "TelemetrySDKTests.RetryAfterDeliveryTests/"
          + "testDates_whenInAnyForm_areWaitedByTheServersClock",
        environment: ["LANG": "fr_FR.UTF-8", "LC_ALL": "fr_FR.UTF-8", "TZ": "Europe/Paris"])
    }
  #endif
}
