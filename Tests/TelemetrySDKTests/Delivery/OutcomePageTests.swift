import Foundation
import XCTest

@testable import TelemetrySDK

final class OutcomePageTests: XCTestCase {
  private var root: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
  }

  func testPage_whenCompared_saysWhatTheCodeDoes() throws {
    let file = root.appendingPathComponent(OutcomesPage.path)
    if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
      try OutcomesPage.text.write(to: file, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: file, encoding: .utf8)
    XCTAssertEqual(written, OutcomesPage.text, "rewrite with UPDATE_DOCS=1")
  }

  /// Written down once more, by hand: what the contract says about each status.
  func testStatuses_whenFrom0To999_followTheContract() {
    for status in 0...999 {
      for isHTML in [false, true] {
        let expected: DeliveryDecision
        if status >= 200, status < 300 {
          expected = isHTML ? .notOurServer : .delivered
        } else if (status >= 300 && status < 400) || status == 511 {
          expected = .notOurServer
        } else if status == 401 {
          expected = .refreshToken
        } else if status == 413 {
          expected = .split
        } else if status == 429 || (status >= 500 && status < 600) {
          expected = .retryLater
        } else if status >= 400, status < 500 {
          expected = .refuse
        } else {
          expected = .notUnderstood
        }
        XCTAssertEqual(
          DeliveryDecision.decide(status: status, isHTML: isHTML), expected, "\(status)")
      }
    }
  }

  func testTransportErrors_whenOfAnyCode_keepTheRows() {
    for code in [-1, -995, -999, -1022, -2000, -3007, 0, 1, Int.min, Int.max] {
      XCTAssertEqual(
        DeliveryDecision.decide(.failed(code: code, lostReusedConnection: false)),
        .retryConnection)
      XCTAssertEqual(
        DeliveryDecision.decide(.failed(code: code, lostReusedConnection: true)), .retryQuickly)
    }
  }

  func testTransportErrors_whenNamedByThisPlatform_areOnThePage() {
    let listed = Set(OutcomesPage.transportErrors.map(\.code))
    XCTAssertEqual(listed.count, OutcomesPage.transportErrors.count)
    for code in OutcomesPage.platformCodes { XCTAssert(listed.contains(code.rawValue), "\(code)") }
  }
}
