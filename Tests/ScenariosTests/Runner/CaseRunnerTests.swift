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

  func testPlantedDevice_whenItMovesAnEventsTime_isCaught() throws {
    let text = script("", device: #"{"planted":"movesTime"}"#)
    for lane in [LaneName.urlprotocol, .virtual] {
      XCTAssertEqual(
        Fixture.failed(try Fixture.run(text, lane: lane, in: self).checks), ["contentKept"],
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

  func testPlantedDevice_whenItKeepsTimeAndSessionInClearUntilDelivery_isCaught() throws {
    let text = script(kill, device: #"{"planted":"keepsClearIndex"}"#)
    for lane in [LaneName.urlprotocol, .virtual] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertEqual(Fixture.failed(checks), ["noPlaintext"], "\(lane)")
      let found = Evidence(outcome.history).scans.flatMap(\.found).map(\.what)
      XCTAssert(found.contains { $0.contains("2026-01-05T08:00:00.000Z") }, "\(found)")
      let sessions = found.filter { $0.hasPrefix("text \"") && $0.count == 43 }
      XCTAssertFalse(sessions.isEmpty, "no session among \(found)")
      XCTAssertEqual(
        Evidence(outcome.history).scans.last?.found, [], "the file is gone at the end")
    }
  }

  func testPlantedDevice_whenItLogsEvents_isCaught() throws {
    let text = script("", device: #"{"planted":"logsEvents"}"#)
    let (outcome, checks) = try Fixture.run(text, lane: .urlprotocol, in: self)
    XCTAssertEqual(Fixture.failed(checks), ["noPlaintext"])
    XCTAssertEqual(
      Set(Evidence(outcome.history).scans.flatMap(\.found).map(\.file)), ["device.log"])
  }

  func testFiles_whenLargestInTheMiddle_areMeasuredThere() throws {
    let text = """
      {"name":"t","about":"a","timeline":[
        {"at":"0s","network":"offline"},
        {"at":"1s","record":{"as":"a","count":100,"payloadSize":"20KB"}},
        {"at":"10m","network":"wifi"}],"expect":[{"diskWithin":"1900KB"}]}
      """
    for lane in [LaneName.urlprotocol, .virtual] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertEqual(Fixture.failed(checks), ["diskWithin"], "\(lane)")
      let largest = outcome.history.entries.compactMap { entry -> Int64? in
        guard case .measured(let bytes) = entry.event, bytes > 1_900_000 else { return nil }
        return entry.atNs
      }
      XCTAssertEqual(largest.first, 1_000_000_000, "\(lane): in the moment of recording")
    }
  }

  func testPlantedDevice_whenItCrashes_isABrokenPromiseAndNotTheRunnersFailure() throws {
    let text = script(kill, device: #"{"planted":"crashes"}"#)
    for lane in [LaneName.urlprotocol, .socket] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), ["noCrash"], "\(lane)")
    }
  }

  func testDevice_whenSomebodyElseKillsIt_isTheRunnersFailure() throws {
    let text = script("", device: #"{"planted":"isKilled"}"#)
    let failure = try XCTUnwrap(
      Fixture.run(text, lane: .urlprotocol, in: self).outcome.failure)
    XCTAssertEqual(failure, "the device was killed (SIGKILL), and not by the script")
  }

  func testAccounts_whenATokenHasExpired_areStillKnown() throws {
    let text = """
      {"name":"t","about":"a","lanes":["virtual"],"device":{"token":{"value":"T1","account":"anna"}},
       "server":{"contract":{"tokens":[{"value":"T1","account":"anna"}]}},
       "timeline":[
        {"at":"0s","serverToken":{"expire":"T1"}},
        {"at":"1s","record":{"as":"a"}}],
       "drain":{"within":"1m"},"expect":[{"stored":0}]}
      """
    let history = try Fixture.run(text, lane: .virtual, in: self).outcome.history
    let arrivals = Evidence(history).requests.map(\.arrival)
    XCTAssertFalse(arrivals.isEmpty)
    XCTAssertEqual(Set(arrivals.map(\.account)), ["anna"])
  }

  func testAnswer_whenItIsCutOff_isNoFinalRefusal() throws {
    let text = """
      {"name":"t","about":"a","server":{"rules":[
        {"id":"cut","when":{"times":1},"responses":[{"status":400,"truncateAfter":5}]}]},
       "timeline":[{"at":"0s","record":{"as":"a","count":5}},{"at":"5m","expect":[{"stored":5}]}],
       "expect":[{"delivered":"a"},{"finalNotRetried":true}]}
      """
    for lane in LaneName.standard {
      let checks = try Fixture.run(text, lane: lane, in: self).checks
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" },
        ["finalNotRetried \(Verdict.unknown("no body got a final 4xx"))"], "\(lane)")
    }
  }

  func testToken_whenTheProviderHasANewOneAfter401_maySendAtOnce() throws {
    let text = """
      {"name":"t","about":"a","lanes":["virtual"],
       "server":{"contract":{"tokens":[{"value":"T1"},{"value":"T2"}]}},
       "timeline":[
        {"at":"0s","record":{"as":"a","count":5}},
        {"at":"1m","deviceToken":{"value":"T2"}},
        {"at":"1m","serverToken":{"expire":"T1"}},
        {"at":"2m","record":{"as":"b","count":5}},
        {"at":"10m","expect":[{"delivered":"b"}]}],
       "expect":[{"delivered":"a"},{"noImmediateResend":true},{"tokenNotRepeated":true}]}
      """
    let checks = try Fixture.run(text, lane: .virtual, in: self).checks
    XCTAssertEqual(
      checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [])
  }

  func testQueue_whenHalfOfItIsStuckForEver_fails() throws {
    // The one token is never taken again: what is left can never leave.
    let text = """
      {"name":"t","about":"a","lanes":["virtual"],"timeline":[
        {"at":"0s","record":{"as":"a","count":5}},
        {"at":"1m","network":"offline"},
        {"at":"2m","record":{"as":"b","count":5}},
        {"at":"3m","serverToken":{"expire":"T1"}},
        {"at":"4m","network":"wifi"}],
       "drain":{"within":"10m"},
       "expect":[{"delivered":"a"}]}
      """
    let checks = try Fixture.run(text, lane: .virtual, in: self).checks
    XCTAssertEqual(Fixture.failed(checks), ["drained"])
  }

  func testSteps_whenTheDeviceIsDead_areMissedAndSaid() throws {
    let text = """
      {"name":"t","about":"a","timeline":[
        {"at":"0s","network":"offline"},
        {"at":"1s","record":{"as":"a","count":5}},
        {"at":"1m","kill":"SIGKILL","restartAfter":"10m"},
        {"at":"2m","purge":"all"},
        {"at":"3m","key":"lost"},
        {"at":"20m","network":"wifi"}],"drain":{"within":"2m"},"expect":[{"stored":0}]}
      """
    for lane in LaneName.standard {
      let checks = try Fixture.run(text, lane: lane, in: self).checks
      let faults = try XCTUnwrap(checks.first { $0.checker == "allFaultsFired" }?.verdict)
      XCTAssertEqual(faults, .unknown("no living device for: step 3, purge"), "\(lane)")
      // The key is gone, so nothing of what it sealed can arrive.
      XCTAssertEqual(checks.first { $0.checker == "stored" }?.verdict.outcome, .pass, "\(lane)")
    }
  }

  func testTrigger_whenItNamesTheAcceptPhase_fires() throws {
    let when =
      #"{"when":{"request":1,"phase":"accept"},"kill":"SIGKILL","restartAfter":"30s"},"#
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(script(when), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [],
        "\(lane)")
    }
  }

  func testHealing_whenTheServerChangedItsTokens_keepsThem() throws {
    let text = """
      {"name":"t","about":"a","lanes":["virtual"],
       "server":{"contract":{"tokens":[{"value":"T1"}]},
        "rules":[{"id":"busy","responses":[{"status":503}],"onExhausted":"repeat"}]},
       "timeline":[
        {"at":"0s","serverToken":{"accept":"T2","expire":"T1"}},
        {"at":"1s","deviceToken":{"value":"T2"}},
        {"at":"2s","record":{"as":"a","count":5}},
        {"at":"5m","expect":[{"undelivered":"a"}]}],"expect":[{"delivered":"a"}]}
      """
    XCTAssertEqual(Fixture.failed(try Fixture.run(text, lane: .virtual, in: self).checks), [])
  }

  func testWitness_whenAnEventComesBackBehindTheDedupWindow_callsItStoredAgain() throws {
    // The answer is lost; the event comes again when the server has forgotten it.
    let text = """
      {"name":"t","about":"a","lanes":["virtual"],
       "server":{"contract":{"dedupWindow":"1m"},"rules":[
        {"id":"lost","when":{"times":1},
         "responses":[{"fault":"CONNECTION_RESET_BY_PEER","commit":"all"}]}]},
       "timeline":[
        {"at":"0s","record":{"as":"a"}},
        {"at":"30s","network":"offline"},
        {"at":"10m","network":"wifi"},
        {"at":"20m","expect":[{"duplicatesAfterDedup":1},{"duplicates":0}]}],
       "expect":[{"stored":1}]}
      """
    XCTAssertEqual(Fixture.failed(try Fixture.run(text, lane: .virtual, in: self).checks), [])
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
