import TelemetrySDK
import XCTest

@testable import Scenarios

final class DiagnosticWordsTests: XCTestCase {
  func testText_whenSpelledOut_isWhatSwiftWrites() {
    let events: [DiagnosticEvent] = [
      .opened(queued: 0), .requestStarted(events: 60, bytes: 1_779), .delivered(count: 120),
      .requestEnded(.answered(status: 503), decision: "retryLater"),
      .requestEnded(.failed(code: -1_004), decision: "retryConnection"),
      .requestEnded(.failed(code: 0), decision: "with \"quotes\" and \\ and\n a line's end"),
      .backingOff(milliseconds: 3_143), .sessionStarted("e1d10891"), .keyRotated,
      .quarantined(count: 2, reason: "refused 400"),
    ]
    for event in events { XCTAssertEqual(DiagnosticWords.text(event), "\(event)") }
  }
}
