import Foundation
import MockBatchServer
import XCTest

@testable import Scenarios

/// Faults of connections under scenario time: their waits are waits of requests, so that the clock
/// goes on.
final class ConnectionFaultScenarioTests: XCTestCase {
  private func script(_ server: String, _ more: String = "") -> String {
    """
    {"name":"t","about":"a","server":\(server),
     "timeline":[
      {"at":"0s","record":{"as":"a","count":20,"every":"1s","type":"navigation",
       "payload":{"screen":"OrdersOverview"}}}\(more),
      {"at":"20m","lowPower":true}],
     "expect":[{"lost":0},{"delivered":"a"},{"duplicatesAfterDedup":0}]}
    """
  }

  private func check(_ text: String, _ lanes: [LaneName], _ what: String) throws {
    for lane in lanes {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(what) \(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(what) \(lane)")
    }
  }

  func testToxics_whenConnectionsHang_letTimeGoOn() throws {
    for type in ["timeout", "reset_peer"] {
      let toxic = #"{"toxics":[{"type":"\#(type)","attributes":{"timeout":5000}}]}"#
      try check(script(toxic), LaneName.standard, type)
    }
  }

  func testSlowUpload_whenScripted_takesItsTime() throws {
    let toxic =
      #"{"toxics":[{"type":"bandwidth","stream":"upstream","attributes":{"rate":1}}]}"#
    try check(script(toxic), [.socket], "bandwidth")
  }

  func testUpstreamLimit_whenItClosesTheConnection_hasTakenEffect() throws {
    let toxic = #"""
      {"toxics":[{"name":"cut","type":"limit_data","stream":"upstream",
       "attributes":{"bytes":100}}]}
      """#
    let (outcome, checks) = try Fixture.run(script(toxic), lane: .socket, in: self)
    XCTAssertNil(outcome.failure)
    XCTAssertEqual(
      checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [])
    XCTAssert(checks.contains { $0.checker == "allFaultsFired" })
  }

  func testAcceptEffects_whenScripted_letTimeGoOnAndFireTriggers() throws {
    let rules = #"""
      {"rules":[{"id":"door","responses":[
       {"status":503,"effects":[{"at":"accept","type":"delay","delay":"3s"},
        {"at":"accept","type":"gate","name":"g","timeout":"9s"}]},
       {"effects":[{"at":"accept","type":"reset"}]}]}]}
      """#
    let trigger =
      #",{"when":{"request":2,"phase":"accept"},"kill":"SIGKILL","restartAfter":"30s"}"#
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(script(rules, trigger), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      let events = outcome.history.entries.map(\.event)
      XCTAssert(events.contains(.triggerFired(step: 1)), "\(lane)")
      XCTAssert(events.contains(.started(incarnation: 2)), "\(lane)")
    }
  }
}
