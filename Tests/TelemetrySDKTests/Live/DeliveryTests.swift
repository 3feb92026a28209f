import JSONText
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// The way of events through the whole SDK, on manual time.
final class DeliveryTests: XCTestCase {
  func testEvents_whenTheTimerFires_areDeliveredOnceInOrder() {
    let world = DeviceWorld()
    let ids = world.record(7)
    XCTAssertEqual(world.telemetry.status().queued, 7)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssertEqual(world.server.requests.count, 1)
    let status = world.telemetry.status()
    XCTAssertEqual(status.queued, 0)
    XCTAssertEqual(status.ledger.delivered, 7)
    XCTAssert(status.ledger.balances)
    XCTAssertEqual(status.state, .idle)
  }

  func testEvent_whenEncoded_hasExactlyTheFiveMembers() throws {
    let world = DeviceWorld()
    world.telemetry.record("navigation", ["screen": "Orders", "ms": 128])
    _ = world.flush()
    let event = try XCTUnwrap(world.server.requests.first?.json["events"]?[0])
    XCTAssertEqual(event.objectValue?.keys, ["id", "ts", "type", "payload", "sessionId"])
    XCTAssertEqual(event["type"], "navigation")
    XCTAssertEqual(event["payload"], ["screen": "Orders", "ms": 128])
    XCTAssertEqual(event["ts"]?.stringValue?.count, 24)
    XCTAssertEqual(event["sessionId"]?.stringValue, world.telemetry.status().sessionID)
  }

  func testEvents_whenKilledBeforeTheFlush_areDeliveredByTheNextRunWithTheirSession() throws {
    let world = DeviceWorld()
    let ids = world.record(7)
    let session = world.telemetry.status().sessionID
    world.restart()
    XCTAssertEqual(world.deliveredIDs, ids)
    let sessions = world.server.requests[0].json["events"]?.arrayValue?.compactMap {
      $0["sessionId"]?.stringValue
    }
    XCTAssertEqual(sessions, Array(repeating: try XCTUnwrap(session), count: 7))
    XCTAssertEqual(world.telemetry.status().sessionID, session)
  }

  func testEvents_whenTheAnswerIsLostThreeTimes_areResentWithTheSameIDs() {
    let world = DeviceWorld()
    world.server.script { request in
      request.number < 3 ? .failure(code: -1005) : .answer(200)
    }
    let ids = world.record(5)
    world.advance(ms: 300_000)
    XCTAssertEqual(world.server.requests.count, 4)
    for request in world.server.requests { XCTAssertEqual(request.ids, ids) }
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testFlush_whenEverythingGoes_reportsWhatWasSent() {
    let world = DeviceWorld()
    world.record(3)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0 }, FlushReport(ending: .drained, sent: 3))
  }

  func testFlush_whenAskedTwentyTimes_sendsEachRowOnce() {
    let world = DeviceWorld()
    world.server.setDelay(ms: 500)
    let ids = world.record(50)
    let reports = (0..<20).map { _ in world.flush() }
    world.advance(ms: 2_000)
    XCTAssertEqual(world.deliveredIDs.sorted(), ids.sorted())
    XCTAssertEqual(world.server.mostAtOnce, 1)
    for report in reports { XCTAssertEqual(report.withLock { $0?.ending }, .drained) }
  }

  func testFlush_whenAnEarlierRunLeftABacklog_endsWithTheBacklogAndNotBefore() {
    let world = DeviceWorld { $0.batchMaxEvents = 10 }
    world.server.setDelay(ms: 100)
    let ids = world.record(25)
    world.restart()
    let report = world.flush()
    XCTAssertNil(report.withLock { $0 })
    for _ in 0..<20 {
      world.record(1)
      world.advance(ms: 50)
    }
    XCTAssertEqual(report.withLock { $0?.ending }, .drained)
    XCTAssertEqual(Array(world.deliveredIDs.prefix(25)), ids)
  }

  func testDrain_whenEventsKeepComing_turnsIntoNoStreamOfSmallRequests() {
    let world = DeviceWorld { $0.batchMaxEvents = 10 }
    world.server.setDelay(ms: 100)
    world.record(25)
    for _ in 0..<200 {
      world.record(1)
      world.advance(ms: 100)
    }
    XCTAssertLessThan(world.server.requests.count, 30)
    world.advance(ms: 60_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testForeground_whenNothingIsQueued_asksNoToken() {
    let world = DeviceWorld()
    world.telemetry.enterBackground()
    world.telemetry.enterForeground()
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.tokens.asked, 0)
    XCTAssertEqual(world.time.timerCount, 0)
  }

  func testBacklog_whenLargerThanABatch_goesInSeveralWithinTheLimits() {
    let world = DeviceWorld { $0.batchMaxEvents = 10 }
    let ids = world.record(35)
    _ = world.flush()
    world.advance(ms: 1_000)
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssertEqual(world.server.requests.map(\.ids.count), [10, 10, 10, 5])
  }
}
