import JSONText
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// What the client does with each kind of answer.
final class OutcomeTests: XCTestCase {
  private func status(_ world: DeviceWorld) -> TelemetryStatus { world.telemetry.status() }

  func testRefused_whenOneBodyGets400_isQuarantinedAndNeverSentAgain() {
    let world = DeviceWorld()
    world.server.script { _ in .answer(400, body: #"{"title":"Bad","detail":"no such type"}"#) }
    world.record(100)
    _ = world.flush()
    world.advance(ms: 600_000)
    XCTAssertEqual(world.server.requests.count, 1)
    XCTAssertEqual(status(world).queued, 0)
    XCTAssertEqual(status(world).quarantined, 100)
    XCTAssert(status(world).ledger.balances)
    let entries = Guarded<[QuarantineEntry]>([])
    world.telemetry.quarantined(limit: 1) { found in entries.withLock { $0 = found } }
    world.run()
    XCTAssertEqual(
      entries.withLock { $0.first?.reason }, .refused(status: 400, detail: "no such type"))
  }

  func testRefused_whenRequeued_isSentAgain() {
    let world = DeviceWorld()
    world.server.script { request in .answer(request.number == 0 ? 400 : 200) }
    let ids = world.record(5)
    _ = world.flush()
    world.telemetry.requeueQuarantined()
    world.advance(ms: 60_000)
    XCTAssertEqual(world.server.requests.last?.ids.sorted(), ids.sorted())
    XCTAssertEqual(status(world).ledger.delivered, 5)
  }

  func testIsolate_whenOneEventIsBad_savesTheOthersWithinSixteenRequests() {
    for bad in [0, 1, 37, 50, 98, 99] {
      let world = DeviceWorld { $0.isolatesRefusedBodies = true }
      let ids = world.record(100)
      let poison = ids[bad]
      world.server.script { request in .answer(request.ids.contains(poison) ? 400 : 200) }
      _ = world.flush(timeout: 600)
      world.advance(ms: 600_000)
      XCTAssertLessThanOrEqual(world.server.requests.count, 16, "bad at \(bad)")
      XCTAssertEqual(status(world).ledger.delivered, 99, "bad at \(bad)")
      XCTAssertEqual(status(world).quarantined, 1, "bad at \(bad)")
      let bodies = world.server.requests.filter { $0.ids.contains(poison) }.map(\.ids)
      XCTAssertEqual(Set(bodies).count, bodies.count, "a body went twice")
    }
  }

  func testRefusals_whenThreeInARow_pauseAndProbeWithOtherEvents() {
    let world = DeviceWorld {
      $0.batchMaxEvents = 100
    }
    world.server.script { _ in .answer(403) }
    world.record(1_000)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.count, 3)
    XCTAssertEqual(status(world).quarantined, 300)
    guard case .pausedByRefusals(let remaining) = status(world).state else {
      return XCTFail("\(status(world).state)")
    }
    XCTAssertEqual(remaining, 300_000)
    world.advance(ms: 299_000)
    XCTAssertEqual(world.server.requests.count, 3)
    world.advance(ms: 1_000)
    XCTAssertEqual(world.server.requests.count, 4)
    XCTAssertEqual(world.server.requests[3].ids.count, 10)
    // Pauses double: 10, 20, 40, 80, 160, 320, 360, 360 minutes. A day costs a few dozen events.
    world.advance(ms: 24 * 3_600_000)
    XCTAssertLessThanOrEqual(world.server.requests.count, 14)
    XCTAssertGreaterThan(status(world).queued, 550)
    world.server.script { _ in .answer(200) }
    world.advance(ms: 6 * 3_600_000)
    XCTAssertEqual(status(world).queued, 0)
    XCTAssert(status(world).ledger.balances)
  }

  func testTooLarge_whenTheServerTakes64KB_splitsTheRealBatchAndDropsOnlyTheHuge() {
    let world = DeviceWorld()
    let random = SeededRandom(3)
    func noise(_ bytes: Int) -> JSONValue {
      .string(
        String((0..<bytes).map { _ in Character(UnicodeScalar(UInt8(97 + random.below(26)))) }))
    }
    world.server.script { request in
      .answer(request.json.description.utf8.count > 64_000 ? 413 : 200)
    }
    for _ in 0..<20 { world.telemetry.record("t", ["x": noise(10_000)]) }
    let huge = world.telemetry.record("t", ["x": noise(80_000)]).id
    _ = world.flush(timeout: 600)
    world.advance(ms: 600_000)
    XCTAssertEqual(status(world).ledger.delivered, 20)
    XCTAssertEqual(status(world).quarantined, 1)
    XCTAssertLessThanOrEqual(world.server.requests.count, 12)
    XCTAssertEqual(
      Set(world.server.requests.map(\.ids)).count, world.server.requests.count, "equal bodies")
    let entries = Guarded<[QuarantineEntry]>([])
    world.telemetry.quarantined(limit: 5) { found in entries.withLock { $0 = found } }
    world.run()
    XCTAssertEqual(entries.withLock { $0.map(\.id) }, [huge])
    XCTAssertEqual(entries.withLock { $0.first?.reason }, .tooLarge)
  }

  func testSizeLesson_whenKilled_isRememberedAndGrowsBackLater() {
    let world = DeviceWorld { $0.batchLimitBytes = 20_000 }
    let limit = Guarded(6_000)
    world.server.script { request in
      .answer(request.json.description.utf8.count > limit.withLock { $0 } ? 413 : 200)
    }
    world.record(40, bytes: 800)
    _ = world.flush()
    world.advance(ms: 1_000)
    let before = world.server.requests.count
    world.restart()
    world.record(40, bytes: 800)
    _ = world.flush()
    let refusedAgain = world.server.requests.dropFirst(before).filter {
      $0.json.description.utf8.count > 6_000
    }
    XCTAssertEqual(refusedAgain.count, 0, "the lesson was forgotten")
    limit.withLock { $0 = 1_000_000 }
    for _ in 0..<12 {
      world.record(200, bytes: 800)
      _ = world.flush()
      world.advance(ms: 1_000)
    }
    let largest = world.server.requests.map { $0.json.description.utf8.count }.max() ?? 0
    XCTAssertGreaterThan(largest, 15_000, "the batch size never recovered")
  }

  func testRejectedIDs_whenNamedInA2xx_goToQuarantineWithTheReason() {
    let world = DeviceWorld()
    let ids = world.record(4)
    let named = ids[2]
    world.server.script { _ in
      .answer(
        200, body: #"{"accepted":3,"duplicates":0,"rejected":[{"id":"\#(named)","reason":"type"}]}"#
      )
    }
    let report = world.flush()
    XCTAssertEqual(
      report.withLock { $0 }, FlushReport(ending: .drained, sent: 3, remaining: 0, quarantined: 1))
    let entries = Guarded<[QuarantineEntry]>([])
    world.telemetry.quarantined(limit: 5) { found in entries.withLock { $0 = found } }
    world.run()
    XCTAssertEqual(entries.withLock { $0.map(\.id.description) }, [named])
    XCTAssertEqual(entries.withLock { $0.first?.reason }, .rejectedByServer(reason: "type"))
  }

  func testCaptivePortal_whenAnsweringForTheServer_deletesNothing() {
    let replies: [ScriptedServer.Reply] = [
      .answer(200, headers: [("content-TYPE", "Text/HTML; charset=utf-8")], body: "<html>"),
      .answer(302, headers: [("Location", "http://portal/")]), .answer(511),
      .answer(304), .answer(101), .answer(0), .answer(999),
    ]
    for reply in replies {
      let world = DeviceWorld()
      world.server.script { request in request.number == 0 ? reply : .answer(200) }
      let ids = world.record(3)
      world.advance(ms: 30_000)
      XCTAssertEqual(status(world).queued, 3, "\(reply)")
      world.advance(ms: 1_500)
      XCTAssertEqual(world.server.requests.count, 1, "\(reply): resent at once")
      world.advance(ms: 300_000)
      XCTAssertEqual(world.server.requests.last?.ids, ids, "\(reply)")
      XCTAssertEqual(status(world).queued, 0)
    }
  }

  func testRetryAfter_whenGiven_isObeyedByEveryTriggerButNotBeyond() {
    for (status, value) in [(429, "20"), (503, "20"), (500, "20")] {
      let world = DeviceWorld()
      world.server.script { request in
        request.number == 0
          ? .answer(status, headers: [("retry-AFTER", value)]) : .answer(200)
      }
      world.record(3)
      world.advance(ms: 30_000)
      world.telemetry.enterForeground()
      world.telemetry.setNetwork(NetworkPath(satisfied: false))
      world.telemetry.setNetwork(NetworkPath())
      world.telemetry.tokenDidChange()
      let report = world.flush(timeout: 10)
      XCTAssertEqual(report.withLock { $0?.ending }, .gatedByServer)
      world.advance(ms: 19_999)
      XCTAssertEqual(world.server.requests.count, 1)
      world.advance(ms: 5_001)
      XCTAssertEqual(world.server.requests.count, 2)
    }
  }

  func testRetryAfter_whenKilledOrRebooted_isStillObeyed() {
    for reboot in [false, true] {
      let world = DeviceWorld()
      world.server.script { request in
        request.number == 0 ? .answer(429, headers: [("Retry-After", "3600")]) : .answer(200)
      }
      world.record(3)
      _ = world.flush()
      world.advance(ms: 600_000)
      world.restart(reboot: reboot)
      world.telemetry.enterForeground()
      world.advance(ms: 2_900_000)
      XCTAssertEqual(world.server.requests.count, 1, "reboot \(reboot)")
      world.advance(ms: 800_000)
      XCTAssertEqual(world.server.requests.count, 2, "reboot \(reboot)")
    }
  }

  func testWallClock_whenItJumpsDuringABackoff_changesNothing() {
    let world = DeviceWorld()
    world.server.script { request in
      request.number == 0 ? .answer(429, headers: [("Retry-After", "600")]) : .answer(200)
    }
    world.record(3)
    _ = world.flush()
    world.time.jumpWall(byMs: 26 * 3_600_000)
    world.advance(ms: 599_000)
    XCTAssertEqual(world.server.requests.count, 1)
    world.time.jumpWall(byMs: -52 * 3_600_000)
    world.advance(ms: 151_000)
    XCTAssertEqual(world.server.requests.count, 2)
  }

  func testReusedConnection_whenLost_isRetriedOnceAtOnceAndThenLater() {
    let world = DeviceWorld()
    world.server.script { request in
      request.number < 2
        ? .failure(code: -1005, lostReusedConnection: true) : .answer(200)
    }
    world.record(3)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.requests.count, 2)
    XCTAssertEqual(world.server.requests[0].ids, world.server.requests[1].ids)
    world.advance(ms: 1_999)
    XCTAssertEqual(world.server.requests.count, 2)
    world.advance(ms: 2_001)
    XCTAssertEqual(world.server.requests.count, 3)
  }

  func testReusedConnections_whenLostTwoHundredTimes_loseNothingAndGrowNoBackoff() {
    let world = DeviceWorld()
    world.server.script { request in
      request.number % 2 == 0
        ? .failure(code: -1005, lostReusedConnection: true) : .answer(200)
    }
    for _ in 0..<200 {
      world.record(1)
      let report = world.flush()
      XCTAssertEqual(report.withLock { $0?.ending }, .drained)
    }
    XCTAssertEqual(status(world).ledger.delivered, 200)
  }

  func testServer_whenItFailsFiveHundredTimes_keepsEverythingAndStaysInBounds() {
    let world = DeviceWorld()
    world.server.script { request in .answer(request.number < 500 ? 503 : 200) }
    world.record(10)
    world.advance(ms: 48 * 3_600_000)
    XCTAssertEqual(world.server.requests.count, 501)
    let gaps = zip(world.server.requests, world.server.requests.dropFirst()).map {
      $1.at.milliseconds(since: $0.at)
    }
    XCTAssertGreaterThanOrEqual(gaps.min() ?? 0, 2_000)
    XCTAssertLessThanOrEqual(gaps.max() ?? 0, 300_000)
    XCTAssertEqual(status(world).ledger.delivered, 10)
  }

  func testHangingServer_whenTheDeadlinePasses_isCancelledAndRetried() {
    let world = DeviceWorld()
    world.server.script { request in request.number == 0 ? .hang : .answer(200) }
    world.record(3)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.underWay, 1)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.underWay, 0)
    XCTAssertEqual(status(world).lastOutcome, .failed(code: -1_001))
    world.advance(ms: 5_000)
    XCTAssertEqual(status(world).queued, 0)
  }
}
