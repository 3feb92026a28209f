import JSONText
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Whose events they are, and in which session: over changes, kills and slow providers.
final class IdentityTests: XCTestCase {
  private func ids(_ world: DeviceWorld, token: String) -> [String] {
    world.server.requests.filter { $0.token == token }.flatMap(\.ids)
  }

  func testToken_whenItsAnswerWasAskedForBeforeTheChange_isNotUsed() {
    let world = DeviceWorld()
    world.tokens.hold(true)
    world.record(1)
    _ = world.flush()
    XCTAssertEqual(world.tokens.asked, 1)
    world.telemetry.tokenDidChange(account: "bert")
    world.run()
    let berts = world.record(3)
    world.tokens.release(AccessToken(value: "A", account: "anna"))
    world.run()
    XCTAssertEqual(world.server.requests.count, 0, "sent with the token of the user before")
    XCTAssertEqual(world.tokens.asked, 2, "the provider was not asked again")
    world.record(1)
    world.tokens.release(AccessToken(value: "B", account: "bert"))
    world.advance(ms: 60_000)
    XCTAssertEqual(ids(world, token: "A"), [])
    XCTAssert(Set(ids(world, token: "B")).isSuperset(of: berts))
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testToken_whenTheProviderReportsAChangeWheneverAsked_isHeardAllTheSame() {
    let world = DeviceWorld()
    world.tokens.onAsk { [telemetry = world.telemetry] in telemetry.tokenDidChange() }
    world.record(3)
    world.advance(ms: 60_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertLessThan(world.tokens.asked, 10)
  }

  func testToken_whenTheProviderTurnsBetweenTwo_isNeverUsedAgainAfterA401() {
    let world = DeviceWorld()
    world.tokens.answer((0..<500).map { AccessToken(value: "T\($0 % 2)") })
    world.server.script { _ in .answer(401) }
    world.record(3)
    for _ in 0..<50 {
      world.telemetry.enterForeground()
      world.advance(ms: 400_000)
    }
    XCTAssertEqual(world.server.requests.map(\.token), ["T0", "T1"])
    XCTAssertEqual(world.telemetry.status().queued, 3)
  }

  func testAccount_whenToldWithoutATokenAndKilled_isStillKnown() {
    let world = DeviceWorld()
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    world.tokens.answer(nil)
    world.telemetry.tokenDidChange(account: "bert")
    world.run()
    world.restart()
    let berts = world.record(2)
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.telemetry.tokenDidChange()
    world.advance(ms: 60_000)
    XCTAssert(Set(ids(world, token: "A")).isDisjoint(with: berts), "bert's events went to anna")
    XCTAssertEqual(world.telemetry.status().queued, 2)
  }

  func testSession_whenNewAndKilledAtOnce_isTheOneThatGoesOn() {
    let world = DeviceWorld()
    world.record(1)
    world.telemetry.newSession()
    world.record(1)
    world.run()
    let session = world.telemetry.status().sessionID
    world.restart()
    XCTAssertEqual(world.telemetry.status().sessionID, session)
  }

  func testEvents_whenRecordedBeforeTheStoreIsOpen_keepTheUserAndSessionOfThatMoment() {
    let world = DeviceWorld()
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    let session = world.telemetry.status().sessionID
    world.tokens.answer(nil)
    world.restart(run: false)
    let annas = world.record(2)
    world.telemetry.tokenDidChange(account: "bert")
    world.telemetry.newSession()
    let berts = world.record(2)
    world.run()
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange()
    world.advance(ms: 60_000)
    XCTAssertEqual(ids(world, token: "B"), berts)
    world.tokens.answer(AccessToken(value: "A2", account: "anna"))
    world.telemetry.tokenDidChange()
    world.advance(ms: 60_000)
    XCTAssertEqual(ids(world, token: "A2"), annas)
    let sessions = world.server.requests.last?.json["events"]?.arrayValue?.map {
      $0["sessionId"]?.stringValue
    }
    XCTAssertEqual(sessions, [session, session])
  }

  func testDurableRecord_whenTwoCallersUseOneID_answersBoth() throws {
    let world = DeviceWorld()
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    (world.store as? InMemoryEventStore)?.order { $0.nextBlocks = [.busy, .busy, .busy] }
    let answers = Guarded<[String: RecordReceipt]>([:])
    for name in ["first", "second"] {
      world.telemetry.recordDurably("t", [:], id: id) { receipt in
        answers.withLock { $0[name] = receipt }
      }
    }
    XCTAssertEqual(world.telemetry.record("t", [:], id: id), .rejected(.duplicateID))
    world.advance(ms: 10_000)
    XCTAssertEqual(
      answers.withLock { $0 }, ["first": .durable(id), "second": .rejected(.duplicateID)])
    XCTAssertEqual(world.telemetry.status().queued, 1)
  }

  func testRecord_whenTheEndComesWhileItIsBeingMade_isRefusedAndNotKept() {
    let box = Guarded<DeviceWorld?>(nil)
    let world = DeviceWorld { configuration in
      configuration.beforeSend = { event in
        guard let world = box.withLock({ $0 }) else { return event }
        world.telemetry.shutdown()
        world.run()
        return event
      }
    }
    box.withLock { $0 = world }
    defer { box.withLock { $0 = nil } }
    let answer = Guarded<RecordReceipt?>(nil)
    world.telemetry.recordDurably("t", [:], id: nil) { receipt in
      answer.withLock { $0 = receipt }
    }
    XCTAssertEqual(answer.withLock { $0 }, .rejected(.shutDown))
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(world.telemetry.status().rejected[.shutDown], 1)
  }

  func testShutdown_whenTheStoreTakesNothing_countsWhatIsLost() {
    let world = DeviceWorld()
    (world.store as? InMemoryEventStore)?.order {
      $0.nextBlocks = Array(repeating: .diskFull, count: 1_000)
    }
    world.record(4)
    world.telemetry.shutdown()
    world.run()
    XCTAssertEqual(world.telemetry.status().rejected[.shutDown], 4)
    XCTAssert(world.diagnostics.withLock { $0.contains(.lostAtShutdown(count: 4)) })
  }

  func testGate_whenItCouldNotBeWrittenAtFirst_isWrittenLaterAndSurvivesAKill() {
    let world = DeviceWorld()
    let store = world.store as? InMemoryEventStore
    world.server.script { request in
      guard request.number == 0 else { return .answer(200) }
      store?.order { $0.nextBlocks = [.diskFull, .diskFull] }
      return .answer(429, headers: [("Retry-After", "3600")])
    }
    world.record(3)
    _ = world.flush()
    world.advance(ms: 60_000)
    world.restart()
    world.telemetry.enterForeground()
    world.advance(ms: 3_000_000)
    XCTAssertEqual(world.server.requests.count, 1, "the pause was forgotten")
    world.advance(ms: 1_800_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }
}
