import XCTest

@testable import Scenarios

/// Power loss, locks and server restarts as scripts have them, in every lane.
final class HardTimesTests: XCTestCase {
  private func script(_ device: String = "{}") -> String {
    """
    {"name":"t","about":"a","device":\(device),
     "timeline":[{"at":"0s","network":"offline"},
      {"at":"1s","record":{"as":"synced","count":10,"every":"1s"}},
      {"at":"20s","record":{"as":"last","count":4}},
      {"at":"20s200ms","reboot":"powerLoss","restartAfter":"10s"},
      {"at":"1m","network":"wifi"},
      {"at":"2m","record":{"as":"after","count":1}}],
     "expect":[{"lost":0},{"delivered":"synced"}]}
    """
  }

  private func stored(_ outcome: CaseOutcome, _ label: String) -> Int {
    LifeStories(outcome.history).all.filter { $0.label == label && $0.stored > 0 }.count
  }

  func testPowerLoss_whenTheLastEventsWereNeverSynced_takesThemAndNoOthers() throws {
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(script(), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      XCTAssertEqual(stored(outcome, "synced"), 10, "\(lane)")
      XCTAssertEqual(stored(outcome, "last"), 0, "\(lane): nothing unsynced survives")
    }
  }

  func testPowerLoss_whenEveryReceiptWaitsForTheMedium_takesNothing() throws {
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(
        script(#"{"durability":"powerLoss"}"#), lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      XCTAssertEqual(stored(outcome, "last"), 4, "\(lane)")
    }
  }

  func testPowerLoss_whenTheDeviceNeverSyncs_isCaught() throws {
    for lane in [LaneName.virtual, .urlprotocol] {
      let (_, checks) = try Fixture.run(
        script(#"{"planted":"neverSyncs"}"#), lane: lane, in: self)
      XCTAssert(Fixture.failed(checks).contains("lost"), "\(lane)")
    }
  }

  func testKill_whenNothingWasSynced_takesNothing() throws {
    let text = script().replacingOccurrences(
      of: #""reboot":"powerLoss""#, with: #""kill":"SIGKILL""#)
    for lane in [LaneName.virtual, .urlprotocol] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      XCTAssertEqual(stored(outcome, "last"), 4, "\(lane)")
    }
  }

  func testDisk_whenItRefuses_buffersWithTheReasonAndLosesNothing() throws {
    for (state, reason) in [("full", "diskFull"), ("locked", "locked")] {
      let text = """
        {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
          {"at":"0s","record":{"as":"before","count":3}},
          {"at":"10s","disk":"\(state)"},{"at":"10s","record":{"as":"during","count":5}},
          {"at":"20s","disk":"ok"},{"at":"1m","kill":"SIGKILL","restartAfter":"1s"},
          {"at":"2m","network":"wifi"}],
         "expect":[{"lost":0},{"delivered":"during"},{"stored":8},{"ledgerBalances":true}]}
        """
      for lane in LaneName.standard {
        let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
        XCTAssertNil(outcome.failure, "\(state) \(lane)")
        XCTAssertEqual(Fixture.failed(checks), [], "\(state) \(lane)")
        let receipts = LifeStories(outcome.history).all.filter { $0.label == "during" }
          .compactMap(\.receipt)
        XCTAssertEqual(receipts.count, 5)
        for receipt in receipts {
          guard case .buffered(_, let why) = receipt else {
            XCTFail("\(state) \(lane): \(receipt)")
            continue
          }
          XCTAssertEqual(why, reason, "\(lane)")
        }
      }
    }
  }

  func testLocked_whenTheFilesAreLookedAtMeanwhile_staysLocked() throws {
    // The runner looks into the files at the 2nd and the 4th recording, while it holds the lock.
    let text = """
      {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
        {"at":"0s","record":{"as":"before","count":3}},
        {"at":"10s","disk":"locked"},{"at":"10s","record":{"as":"during","count":5,"every":"20ms"}},
        {"at":"20s","disk":"ok"},{"at":"2m","network":"wifi"}],
       "expect":[{"lost":0},{"delivered":"during"},{"stored":8},{"ledgerBalances":true}]}
      """
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      let receipts = LifeStories(outcome.history).all.filter { $0.label == "during" }
        .compactMap(\.receipt)
      XCTAssertEqual(receipts.count, 5)
      for receipt in receipts {
        guard case .buffered(_, "locked") = receipt else {
          XCTFail("\(lane): \(receipt)")
          continue
        }
      }
    }
  }

  func testProtected_whenTheAppStartsBeforeTheFirstUnlock_keepsTheFileAndWaits() throws {
    let text = """
      {"name":"t","about":"a","timeline":[{"at":"0s","network":"offline"},
        {"at":"0s","record":{"as":"old","count":20}},{"at":"10s","kill":"SIGKILL"},
        {"at":"20s","disk":"protected"},{"at":"30s","restart":"app"},
        {"at":"40s","record":{"as":"new","count":5}},
        {"at":"1m","disk":"ok"},{"at":"3m","network":"wifi"}],
       "expect":[{"lost":0},{"delivered":"old"},{"stored":25},{"ledgerBalances":true}]}
      """
    for lane in [LaneName.virtual, .urlprotocol] {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(Fixture.failed(checks), [], "\(lane)")
      let receipts = LifeStories(outcome.history).all.filter { $0.label == "new" }
        .compactMap(\.receipt)
      for receipt in receipts {
        guard case .buffered = receipt else {
          XCTFail("\(lane): \(receipt)")
          continue
        }
      }
      XCTAssertEqual(receipts.count, 5)
    }
  }

  func testServerRestart_whenABatchWasTakenAndNotAnswered_isKnownToTheNewServer() throws {
    let text = """
      {"name":"t","about":"a","server":{"rules":[{"id":"held","when":{"times":1},"responses":[
         {"status":200,"effects":[{"at":"committed","type":"gate","name":"g"}]}]}]},
       "timeline":[{"at":"0s","record":{"as":"a","count":7}},
        {"when":{"gate":"g"},"server":"restart"},{"at":"10m","expect":[{"delivered":"a"}]}],
       "expect":[{"lost":0},{"duplicates":7},{"stored":7},{"duplicatesAfterDedup":0},
        {"allFaultsFired":true},{"noImmediateResend":true}]}
      """
    for lane in LaneName.standard {
      let (outcome, checks) = try Fixture.run(text, lane: lane, in: self)
      XCTAssertNil(outcome.failure, "\(lane)")
      XCTAssertEqual(
        checks.filter { $0.verdict.outcome != .pass }.map { "\($0.checker) \($0.verdict)" }, [],
        "\(lane)")
      let events = outcome.history.entries.map(\.event)
      XCTAssert(
        events.contains(.sent(incarnation: 1, number: 1, outcome: "connectionLost")), "\(lane)")
      XCTAssert(events.contains(.ended(request: 1, how: "serverStopped")), "\(lane)")
    }
  }
}
