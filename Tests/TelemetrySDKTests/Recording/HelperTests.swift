import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

final class HelperTests: XCTestCase {
  private struct Oops: LocalizedError {
    let errorDescription: String?
  }

  func testErrors_whenNSErrors_haveDomainCodeMessageAndWhatIsBehind() {
    let fixture = RecordingFixture()
    let root = NSError(domain: "disk", code: 28)
    let error = NSError(
      domain: "orders", code: -7,
      userInfo: [
        NSLocalizedDescriptionKey: "Could not save", NSUnderlyingErrorKey: root,
        "secret": "never recorded",
      ])
    fixture.telemetry.recordError(error, attributes: ["screen": "Orders", "code": 1])
    XCTAssertEqual(
      fixture.payloads,
      [
        #"{"screen":"Orders","code":-7,"domain":"orders","message":"Could not save","#
          + #""underlying":[{"domain":"disk","code":28}]}"#
      ])
    XCTAssert(fixture.stored[0].contains(#""type":"error""#))
  }

  func testErrors_whenTheMessageIsLong_cutItBetweenScalars() throws {
    let fixture = RecordingFixture()
    fixture.telemetry.recordError(Oops(errorDescription: String(repeating: "🍔é", count: 5_000)))
    let payload = try JSONValue.parse(fixture.payloads[0])
    let message = try XCTUnwrap(payload["message"]?.stringValue)
    XCTAssertEqual(message.utf8.count, 1_000)
    XCTAssertFalse(message.unicodeScalars.contains("\u{fffd}"))
  }

  func testErrors_whenTheirChainIsEndless_nameThree() throws {
    let fixture = RecordingFixture()
    var error = NSError(domain: "d", code: 0)
    for code in 1..<50 {
      error = NSError(domain: "d", code: code, userInfo: [NSUnderlyingErrorKey: error])
    }
    fixture.telemetry.recordError(error)
    let payload = try JSONValue.parse(fixture.payloads[0])
    XCTAssertEqual(
      payload["underlying"]?.arrayValue?.compactMap { $0["code"]?.intValue }, [48, 47, 46])
  }

  func testNavigation_whenRecorded_namesTheScreens() {
    let fixture = RecordingFixture()
    fixture.telemetry.recordNavigation(to: "Orders")
    fixture.telemetry.recordNavigation(to: "Order", from: "Orders", attributes: ["id": 7])
    XCTAssertEqual(
      fixture.payloads, [#"{"screen":"Orders"}"#, #"{"id":7,"screen":"Order","from":"Orders"}"#])
    XCTAssert(fixture.stored.allSatisfy { $0.contains(#""type":"navigation""#) })
  }

  func testTimings_whenRecorded_haveThreeDecimalsAtMost() {
    let fixture = RecordingFixture()
    for value in [128, 0.1234567, -3, 1e300, .nan, .infinity] {
      fixture.telemetry.recordTiming("load", milliseconds: value)
    }
    XCTAssertEqual(
      fixture.payloads,
      ["128.0", "0.123", "-3.0", "1e+300", "null", "null"].map {
        #"{"name":"load","ms":\#($0)}"#
      })
    XCTAssertEqual(
      fixture.diagnostics.withLock { $0 },
      [.valueReplaced(path: "ms"), .valueReplaced(path: "ms")])
  }

  func testTime_whenTheBodyReturnsOrThrows_recordsBoth() async throws {
    let fixture = RecordingFixture()
    let clock = fixture.clock
    let answer = fixture.telemetry.time("sum") { () -> Int in
      clock.advance(nanoseconds: 2_500_000)
      return 42
    }
    XCTAssertEqual(answer, 42)
    XCTAssertThrowsError(
      try fixture.telemetry.time("fail") {
        clock.advance(nanoseconds: 1_000_000)
        throw Oops(errorDescription: nil)
      })
    let later = await fixture.telemetry.time("wait") { () async -> Int in
      clock.advance(nanoseconds: 7_000_000)
      return 1
    }
    XCTAssertEqual(later, 1)
    XCTAssertEqual(
      fixture.payloads,
      [
        #"{"name":"sum","ms":2.5}"#, #"{"failed":true,"name":"fail","ms":1.0}"#,
        #"{"name":"wait","ms":7.0}"#,
      ])
  }

  func testStopwatch_whenPausedAndLapped_countsOnlyWhileRunning() {
    let fixture = RecordingFixture()
    let clock = fixture.clock
    var watch = fixture.telemetry.stopwatch()
    XCTAssertEqual(watch.elapsedMs, 0)
    clock.advance(nanoseconds: 1_500_000)
    XCTAssertEqual(watch.lap(), 1.5)
    watch.pause()
    watch.pause()
    XCTAssertFalse(watch.isRunning)
    clock.advance(nanoseconds: 9_000_000)
    watch.resume()
    watch.resume()
    clock.advance(nanoseconds: 500_000)
    XCTAssertEqual(watch.lap(), 0.5)
    XCTAssertEqual(watch.elapsedMs, 2)
    let copy = watch
    watch.pause()
    clock.advance(nanoseconds: 1_000_000)
    XCTAssertEqual(watch.elapsedMs, 2)
    XCTAssertEqual(copy.elapsedMs, 3)
    // The wall clock has no say, and a clock that runs backwards counts nothing.
    clock.setWall(0)
    clock.advance(nanoseconds: -50_000_000)
    XCTAssertEqual(copy.elapsedMs, 1.5)
  }

  func testDurably_whenEncodable_isDurableOrRefused() async {
    let fixture = RecordingFixture()
    let receipt = await fixture.telemetry.recordDurably("x", encoding: ["a": 1])
    guard case .durable = receipt else { return XCTFail("\(receipt)") }
    let refused = await fixture.telemetry.recordDurably("x", encoding: 1)
    XCTAssertEqual(refused, .rejected(.payloadNotObject))
    XCTAssertEqual(fixture.payloads, [#"{"a":1}"#])
  }
}
