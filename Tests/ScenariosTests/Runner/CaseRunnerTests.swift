import XCTest

@testable import Scenarios

final class CaseRunnerTests: XCTestCase {
  private func script(_ middle: String, device: String = "{}") -> String {
    """
    {"name":"t","about":"a","device":\(device),
     "server":{"rules":[{"id":"busy","when":{"times":1},"responses":[{"status":503}]}]},
     "timeline":[
      {"at":"0s","record":{"as":"a","count":20,"every":"1s","type":"navigation",
       "payload":{"screen":"OrdersOverview"}}},
      \(middle)
      {"at":"20m","expect":[{"ledgerBalances":true}]}],
     "expect":[{"lost":0},{"delivered":"a"},{"duplicatesAfterDedup":0},{"noPlaintext":true},
      {"allFaultsFired":true}]}
    """
  }
  private let kill = #"{"at":"10s","kill":"SIGKILL","restartAfter":"30s"},"#

  func testLanes_whenTheDeviceIsKilled_deliverWhatWasPromised() throws {
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(script(kill), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [],
        "\(lane)")
      let events = outcome.history.entries.map(\.event)
      XCTAssert(events.contains(.died(incarnation: 1, how: "SIGKILL")), "\(lane)")
      XCTAssert(events.contains(.started(incarnation: 2)), "\(lane)")
      // Ten were offered, one a second; the tenth second and those after it found no device.
      let missed = events.reduce(0) { sum, event in
        if case .notOffered(_, let count) = event { return sum + count }
        return sum
      }
      XCTAssertEqual(missed, 9, "\(lane)")
    }
  }

  func testVirtualLane_whenRunTwice_givesTheSameHistory() throws {
    let first = try Fixture.run(script(kill), lane: .virtual, in: self).outcome.history
    let second = try Fixture.run(script(kill), lane: .virtual, in: self).outcome.history
    XCTAssertEqual(HistoryText.bytes(first), HistoryText.bytes(second))
    XCTAssertGreaterThan(first.entries.count, 50)
  }

  func testStorageTriggers_whenTheirOperationComes_killBeforeIt() throws {
    for operation in ["write", "sync", "delete", "any"] {
      let when =
        #"{"when":{"storage":"\#(operation)","nth":2},"kill":"SIGKILL","restartAfter":"30s"},"#
      for lane in LaneName.standard {
        let (outcome, checks) = try Fixture.run(script(when), lane: lane, in: self)
        XCTAssertNil(outcome.failure, "\(operation) \(lane)")
        XCTAssertEqual(Fixture.failed(checks), [], "\(operation) \(lane)")
        let events = outcome.history.entries.map(\.event)
        XCTAssert(events.contains(.triggerFired(step: 1)), "\(operation) \(lane)")
        XCTAssert(events.contains(.died(incarnation: 1, how: "SIGKILL")), "\(operation) \(lane)")
        XCTAssert(events.contains(.started(incarnation: 2)), "\(operation) \(lane)")
      }
    }
  }

  func testStorageTriggers_whenCountedOverSeveralLives_fireAtTheSameOperationInEveryLane() throws {
    let text = """
      {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
        {"at":"0s","record":{"as":"a","count":40,"every":"1s"}},
        {"when":{"storage":"write","nth":9},"kill":"SIGKILL","restartAfter":"500ms"},
        {"when":{"storage":"write","nth":21},"reboot":"powerLoss","restartAfter":"500ms"},
        {"at":"2m","network":"wifi"}],"expect":[{"lost":0},{"allFaultsFired":true}]}
      """
    var notOffered: Set<Int> = []
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map(\.checker), [], "\(lane)")
      let events = outcome.history.entries.map(\.event)
      XCTAssert(events.contains(.died(incarnation: 2, how: "reboot")), "\(lane)")
      notOffered.insert(
        events.reduce(0) { sum, event in
          if case .receipt = event { return sum + 1 }
          return sum
        })
    }
    XCTAssertEqual(notOffered.count, 1, "the lanes differ: \(notOffered)")
  }

  func testStorageTrigger_whenItKillsAtTheWriteOfAnEvent_leavesTheEventUnwritten() throws {
    // Which write is the first event's: the one after those of an empty start.
    var kept: [Int64] = []
    for nth in 1...12 {
      let text = """
        {"name":"t","about":"a","lanes":["virtual"],"timeline":[
          {"at":"0s","network":"offline"},
          {"when":{"storage":"write","nth":\(nth)},"kill":"SIGKILL","restartAfter":"1s"},
          {"at":"10s","record":{"as":"a","count":3,"every":"10s"}},
          {"at":"5m","network":"wifi"}],"expect":[{"lost":0},{"ledgerBalances":true}]}
        """
      let (outcome, checks) = try Fixture.run(text, lane: .virtual, in: self)
      XCTAssertNil(outcome.failure, "\(nth)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(nth)")
      let stories = LifeStories(outcome.history).all.filter { $0.serial != nil }
      let promised = stories.filter { $0.receipt != nil }
      XCTAssert(promised.allSatisfy { $0.stored == 1 }, "\(nth)")
      kept.append(Int64(promised.count))
    }
    // Some of the writes were those of events: there the event of that moment has no receipt.
    XCTAssert(kept.contains { $0 < 3 }, "\(kept)")
  }

  /// The first batch is delivered; the second meets a fault, and for that the script has time.
  private func planted(_ fault: String, _ middle: String) -> String {
    """
    {"name":"t","about":"a","device":{"planted":"\(fault)"},
     "server":{"rules":[{"id":"busy","when":{"skip":1,"times":1},"responses":[{"status":503}]}]},
     "timeline":[
      {"at":"0s","record":{"as":"a","count":20}},
      {"at":"2m","record":{"as":"b","count":20}},
      \(middle)
      {"at":"20m","expect":[{"delivered":"a"}]}],
     "expect":[{"lost":0},{"delivered":"a"}]}
    """
  }

  func testPlantedDevice_whenItForgetsItsQueue_isCaught() throws {
    let text = planted(
      "forgetsQueueAtRestart", #"{"at":"2m1s","kill":"SIGKILL","restartAfter":"30s"},"#)
    for lane in [LaneName.urlprotocol, .virtual] {
      XCTAssertEqual(
        Fixture.failed(try Fixture.run(text, lane: lane, in: self).checks), ["lost"], "\(lane)")
    }
  }

  func testPlantedDevice_whenItDeletesBeforeTheAnswer_isCaught() throws {
    // What is under way stays in memory: only a kill shows that the queue has it no more.
    let text = planted(
      "deletesBeforeAcknowledgement",
      #"{"when":{"request":2,"phase":"requestBody"},"kill":"SIGKILL","restartAfter":"30s"},"#)
    for lane in [LaneName.socket, .virtual] {
      XCTAssert(
        Fixture.failed(try Fixture.run(text, lane: lane, in: self).checks).contains("lost"),
        "\(lane)")
    }
  }

  func testPlantedDevice_whenItStoresPlainText_isCaught() throws {
    let text = script(kill, device: #"{"planted":"storesPlainText"}"#)
    for lane in [LaneName.urlprotocol, .virtual] {
      XCTAssertEqual(
        Fixture.failed(try Fixture.run(text, lane: lane, in: self).checks), ["noPlaintext"],
        "\(lane)")
    }
  }

  func testAccounts_whenTheServerTakesAnyToken_areThoseOfTheDevicesTokens() throws {
    let text = """
      {"name":"t","about":"a","device":{"token":{"value":"TA","account":"anna"}},
       "timeline":[{"at":"0s","record":{"as":"a","count":3}},
        {"at":"2m","deviceToken":{"value":"TB","account":"ben","notify":true}},
        {"at":"3m","record":{"as":"b","count":3}},{"at":"9m","expect":[{"delivered":"b"}]}],
       "expect":[{"accountsKept":true},{"delivered":"a"}]}
      """
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map(\.checker), [], "\(lane)")
    }
  }

  func testGuard_whenRealTimeRunsOut_isTheRunnersFailure() throws {
    let runner = CaseRunner(
      try Fixture.scenario(script("")),
      CaseSettings(
        lane: .virtual, seed: 1, folder: try Fixture.folder(self),
        executable: Fixture.executable, timeoutSeconds: 0))
    XCTAssertNotNil(runner.run().failure)
  }

  func testExecutable_whenMissing_isTheRunnersFailure() throws {
    let runner = CaseRunner(
      try Fixture.scenario(script("")),
      CaseSettings(
        lane: .socket, seed: 1, folder: try Fixture.folder(self), executable: "/nowhere/workbench"))
    let failure = try XCTUnwrap(runner.run().failure)
    XCTAssert(failure.contains("/nowhere/workbench: No such file"), failure)
  }
}
