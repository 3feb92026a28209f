import XCTest

@testable import Scenarios

/// What the phone and its user do to the app: background time, consent.
final class PhoneStateTests: XCTestCase {
  private let leaving = """
    {"name":"t","about":"a","device":{"backgroundTime":"25s"%@},
     "server":{"rules":[{"id":"hang","when":{"times":1},"responses":[{"fault":"STALL"}]}]},
     "timeline":[{"at":"0s","record":{"as":"work","count":20}},{"at":"1s","app":"background"},
      {"at":"1h","app":"foreground"}],
     "expect":[{"lost":0},{"delivered":"work"}]}
    """

  func testBackgroundTime_whenTheServerHangs_isGivenBackOnceAndTheRowsStay() throws {
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(
        leaving.replacingOccurrences(of: "%@", with: ""), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      let verdict = checks.first { $0.checker == "timeGivenBack" }?.verdict
      XCTAssertEqual(
        verdict, .pass("1 pieces of background time given back, 1 taken back before"), "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
    }
  }

  func testPlantedDevice_whenItKeepsBackgroundTime_isCaught() throws {
    let text = leaving.replacingOccurrences(of: "%@", with: #","planted":"keepsBackgroundTime""#)
    for lane in [LaneName.virtual, .urlprotocol] {
      let (_, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertEqual(Fixture.failed(checks), ["timeGivenBack"], "\(lane)")
    }
  }

  func testExpectation_whenItDoesNotHoldInTheMiddle_failsThoughItHoldsAtTheEnd() throws {
    let text = """
      {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
        {"at":"0s","record":{"as":"a","count":3}},{"at":"1m","expect":[{"delivered":"a"}]},
        {"at":"2m","network":"wifi"}],"expect":[{"lost":0},{"delivered":"a"}]}
      """
    let (_, checks) = try Fixture.run(text, lane: .virtual, in: self)
    XCTAssertEqual(Fixture.failed(checks), ["delivered"])
    XCTAssertEqual(checks.filter { $0.checker == "delivered" }.count, 2)
  }

  func testHealing_whenEverythingStaysBroken_makesItWell() throws {
    let broken = [
      (#"{"rules":[{"id":"down","responses":[{"status":503}],"onExhausted":"repeat"}]}"#, "wifi"),
      ("{}", "captive"), ("{}", "lying"), ("{}", "offline"),
    ]
    for (server, network) in broken {
      let text = """
        {"name":"t","about":"a","server":\(server),
         "timeline":[{"at":"0s","network":"\(network)"},{"at":"0s","record":{"as":"a","count":3}},
          {"at":"10m","lowPower":true},{"at":"10m","expect":[{"undelivered":"a"}]}],
         "drain":{"within":"6h"},"expect":[{"lost":0},{"delivered":"a"}]}
        """
      let (outcome, checks) = try Fixture.run(text, lane: .virtual, in: self)
      XCTAssertNil(outcome.failure, network)
      XCTAssertEqual(Fixture.failed(checks), [], "\(server) \(network)")
    }
  }

  func testConsent_whenWithdrawnWhileTheAppIsDead_isKnownToTheNextStart() throws {
    let text = """
      {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
        {"at":"0s","record":{"as":"before","count":3}},{"at":"1m","kill":"SIGKILL"},
        {"at":"2m","consent":false},{"at":"3m","network":"wifi"},{"at":"4m","restart":"app"},
        {"at":"5m","record":{"as":"without","count":4}},{"at":"1h","expect":[{"requests":0}]},
        {"at":"2h","consent":true}],
       "expect":[{"lost":0},{"stored":3},{"undelivered":"without"}]}
      """
    for lane in [LaneName.virtual, .urlprotocol] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [],
        "\(lane)")
      let receipts = LifeStories(outcome.history).all.filter { $0.label == "without" }
        .compactMap(\.receipt)
      XCTAssertEqual(receipts, Array(repeating: .rejected(reason: "noConsent"), count: 4))
    }
  }
}
