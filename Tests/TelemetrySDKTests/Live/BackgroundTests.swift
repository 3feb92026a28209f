import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// Time in the background: asked for once, used, given back exactly once.
final class BackgroundTests: XCTestCase {
  private func assertions(_ world: DeviceWorld) -> (begun: Int, ended: Int) {
    world.assertions.state.withLock { ($0.begun, $0.ended) }
  }

  func testBackground_whenSomethingWaits_deliversItAndEndsTheAssertionOnce() {
    let world = DeviceWorld()
    let ids = world.record(5)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssertEqual(assertions(world).begun, 1)
    XCTAssertEqual(assertions(world).ended, 1)
    world.advance(ms: 3_600_000)
    XCTAssertEqual(assertions(world).begun, 1)
  }

  func testBackground_whenNothingWaits_asksForNoTime() {
    let world = DeviceWorld()
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(assertions(world).begun, 0)
  }

  func testExpiry_whenTheServerHangs_cancelsKeepsAndEndsOnce() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    let ids = world.record(5)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.server.underWay, 1)
    world.assertions.expire()
    world.run()
    world.assertions.expire()
    world.run()
    XCTAssertEqual(world.server.underWay, 0)
    XCTAssertEqual(world.server.cancelled, 1)
    XCTAssertEqual(assertions(world).begun, 1)
    XCTAssertEqual(assertions(world).ended, 1)
    XCTAssertEqual(world.telemetry.status().queued, 5)
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 1, "sent while suspended")
    world.server.script { _ in .answer(200) }
    world.telemetry.enterForeground()
    world.run()
    XCTAssertEqual(world.server.requests.last?.ids, ids)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testAssertion_whenRefused_stopsAtOnceWithRowsKept() {
    let world = DeviceWorld()
    world.assertions.state.withLock { $0.grants = false }
    world.record(5)
    world.telemetry.enterBackground()
    world.advance(ms: 600_000)
    XCTAssertEqual(world.server.requests.count, 0)
    XCTAssertEqual(assertions(world).ended, 0)
    XCTAssertEqual(world.telemetry.status().state, .suspended)
  }

  func testForeground_whenTheAssertionStillRuns_endsItOnce() {
    let world = DeviceWorld()
    world.server.setDelay(ms: 5_000)
    world.record(5)
    world.telemetry.enterBackground()
    world.advance(ms: 1_000)
    world.telemetry.enterForeground()
    world.advance(ms: 10_000)
    XCTAssertEqual(assertions(world).begun, 1)
    XCTAssertEqual(assertions(world).ended, 1)
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertEqual(world.server.requests.count, 1)
  }

  private func suspended(_ change: (inout TelemetryConfiguration) -> Void = { _ in })
    -> DeviceWorld
  {
    let world = DeviceWorld(change)
    world.assertions.state.withLock { $0.grants = false }
    world.record(5)
    world.telemetry.enterBackground()
    world.run()
    return world
  }

  func testTask_whenGranted_deliversReschedulesAndCompletesOnce() {
    let world = suspended { $0.schedulesBackgroundTasks = true }
    XCTAssertEqual(world.scheduler.scheduled.withLock { $0 }, 1)
    let done = Guarded<[Bool]>([])
    let expire = world.telemetry.shell.backgroundTaskGranted(deadline: nil) { success in
      done.withLock { $0.append(success) }
    }
    world.run()
    expire()
    world.run()
    XCTAssertEqual(done.withLock { $0 }, [true])
    XCTAssertEqual(world.scheduler.scheduled.withLock { $0 }, 2)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testTask_whenItExpires_cancelsTheRequestAndReportsFailure() {
    let world = suspended()
    world.server.script { _ in .hang }
    let done = Guarded<[Bool]>([])
    let expire = world.telemetry.shell.backgroundTaskGranted(deadline: nil) { success in
      done.withLock { $0.append(success) }
    }
    world.run()
    XCTAssertEqual(world.server.underWay, 1)
    expire()
    world.run()
    XCTAssertEqual(done.withLock { $0 }, [false])
    XCTAssertEqual(world.server.underWay, 0)
    XCTAssertEqual(world.telemetry.status().queued, 5)
  }

  func testTask_whenItsDeadlinePasses_endsByItself() {
    let world = suspended()
    world.server.script { _ in .hang }
    let done = Guarded<[Bool]>([])
    _ = world.telemetry.shell.backgroundTaskGranted(
      deadline: world.time.now().adding(milliseconds: 10_000)
    ) { success in done.withLock { $0.append(success) } }
    world.advance(ms: 9_000)
    XCTAssertEqual(done.withLock { $0 }, [])
    world.advance(ms: 1_000)
    XCTAssertEqual(done.withLock { $0 }, [false])
    XCTAssertEqual(world.server.underWay, 0)
  }

  func testDeliverInBackground_whenTheServerHangs_endsByTheDeadlineWithRowsKept() {
    let world = suspended()
    world.server.script { _ in .hang }
    let report = Guarded<FlushReport?>(nil)
    world.telemetry.deliverInBackground(deadline: 20) { answer in report.withLock { $0 = answer } }
    world.advance(ms: 19_000)
    XCTAssertEqual(world.server.underWay, 1)
    world.advance(ms: 1_000)
    XCTAssertEqual(
      report.withLock { $0 }, FlushReport(ending: .timedOut, sent: 0, remaining: 5))
    XCTAssertEqual(world.server.underWay, 0)
  }

  func testSharedFolder_whenInTheBackground_isClosedAndStillLosesNothing() {
    let world = suspended { $0.directoryIsShared = true }
    XCTAssertEqual(world.store.sync(), .suspended)
    // A location update wakes the app: recorded, written, closed again.
    world.telemetry.record("moved", [:])
    world.run()
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(world.telemetry.status().queued, 6)
    XCTAssertEqual(world.store.sync(), .suspended)
    world.telemetry.enterForeground()
    world.advance(ms: 1_000)
    XCTAssertEqual(world.deliveredIDs.count, 6)
  }

  func testExpiry_whenAPlainFlushWaits_cancelsTheRequestAndAnswersIt() {
    let world = DeviceWorld { $0.directoryIsShared = true }
    world.server.script { _ in .hang }
    world.record(5)
    let report = world.flush(timeout: 600)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.server.underWay, 1)
    world.assertions.expire()
    world.run()
    XCTAssertEqual(world.server.underWay, 0)
    XCTAssertEqual(report.withLock { $0 }, FlushReport(ending: .timedOut, remaining: 5))
    XCTAssertEqual(assertions(world).ended, 1)
    XCTAssertEqual(world.store.sync(), .suspended)
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 1, "sent while suspended")
  }

  func testFlush_whenInTheBackground_asksForTimeAndGivesItBack() {
    let world = suspended()
    world.assertions.state.withLock { $0.grants = true }
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0 }, FlushReport(ending: .drained, sent: 5))
    XCTAssertEqual(assertions(world).begun, 1)
    XCTAssertEqual(assertions(world).ended, 1)
  }

  func testFlush_whenTheSystemRefusesTime_endsAtOnce() {
    let world = suspended()
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0 }, FlushReport(ending: .timedOut, remaining: 5))
    XCTAssertEqual(world.server.requests.count, 0)
  }

  func testSharedFolder_whenOpenedLateInTheBackground_isClosedAgain() {
    let store = InMemoryEventStore()
    let world = DeviceWorld(store: store) { $0.directoryIsShared = true }
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(store.sync(), .suspended)
    // An extension holds the lock while a location update wakes the app.
    store.order { $0.opening = .locked }
    world.telemetry.record("moved", [:])
    world.run()
    XCTAssertEqual(world.telemetry.status().buffered, 1)
    store.order { $0.opening = nil }
    world.advance(ms: 10_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(store.sync(), .suspended, "a lock is held in suspension")
  }

  func testSharedFolder_whenBlockedAtABackgroundLaunch_isClosedOnceItOpened() {
    let store = InMemoryEventStore()
    store.order { $0.opening = .locked }
    let world = DeviceWorld(store: store) { $0.directoryIsShared = true }
    world.telemetry.enterBackground()
    world.run()
    store.order { $0.opening = nil }
    world.advance(ms: 10_000)
    XCTAssertEqual(store.sync(), .suspended, "a lock is held in suspension")
  }

  private func grant(_ world: DeviceWorld) -> Guarded<[Bool]> {
    let done = Guarded<[Bool]>([])
    _ = world.telemetry.shell.backgroundTaskGranted(deadline: nil) { success in
      done.withLock { $0.append(success) }
    }
    world.run()
    return done
  }

  func testTask_whenNothingWaitsAtALaunch_completesAtOnce() {
    XCTAssertEqual(grant(DeviceWorld()).withLock { $0 }, [true])
  }

  func testTask_whenConsentIsWithdrawnMeanwhile_completes() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    world.record(5)
    let done = grant(world)
    XCTAssertEqual(done.withLock { $0 }, [])
    world.telemetry.setConsent(false)
    world.run()
    XCTAssertEqual(done.withLock { $0.count }, 1)
  }

  func testTask_whenTheStoreIsBlockedAtALaunch_isNoSuccess() {
    let store = InMemoryEventStore()
    store.order { $0.opening = .locked }
    XCTAssertEqual(grant(DeviceWorld(store: store)).withLock { $0 }, [false])
  }

  func testShutdown_whileSuspended_writesTheMemoryBuffer() {
    let world = suspended { $0.directoryIsShared = true }
    world.telemetry.record("late", [:])
    world.telemetry.shutdown()
    world.run()
    world.restart()
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 6)
  }

  func testLowPower_whenOn_stretchesTheTimersAndSchedulesNoTask() {
    let world = DeviceWorld {
      $0.batchMaxEvents = 50
      $0.schedulesBackgroundTasks = true
    }
    world.telemetry.setLowPower(true)
    world.record(500)
    world.advance(ms: 299_000)
    XCTAssertEqual(world.server.requests.count, 0)
    XCTAssertEqual(world.telemetry.status().state, .lowPower)
    world.advance(ms: 1_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
    world.record(1)
    world.telemetry.enterBackground()
    world.run()
    XCTAssertEqual(world.scheduler.scheduled.withLock { $0 }, 0)
    world.telemetry.enterForeground()
    world.record(1)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0?.ending }, .drained)
  }

  func testExpiry_whenItComesAHundredMillisecondsIntoAHangingRequest_balancesAndDeliversLater() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    let ids = world.record(20)
    world.telemetry.enterBackground()
    world.advance(ms: 100)
    XCTAssertEqual(world.server.underWay, 1)
    world.assertions.expire()
    world.run()
    XCTAssertEqual(world.server.underWay, 0, "the request goes on")
    XCTAssertEqual(world.server.cancelled, 1)
    XCTAssertEqual(assertions(world).begun, assertions(world).ended)
    XCTAssertEqual(assertions(world).begun, 1)
    XCTAssertEqual(world.telemetry.status().queued, 20)
    // Whatever else wakes the app there: no assertion is begun behind the expired one.
    world.telemetry.record("moved", [:])
    world.advance(ms: 86_400_000)
    XCTAssertEqual(assertions(world).begun, 1)
    world.server.script { _ in .answer(200) }
    world.telemetry.enterForeground()
    world.advance(ms: 30_000)
    XCTAssertEqual(Array(world.deliveredIDs.dropFirst(20).prefix(20)), ids)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testLowPower_whenOnForSevenDaysOfARarelyOpenedApp_agesNothingOutAndDeliversAfterwards() {
    let world = DeviceWorld { $0.schedulesBackgroundTasks = true }
    world.assertions.state.withLock { $0.grants = false }
    world.telemetry.setLowPower(true)
    world.telemetry.enterBackground()
    var ids: [String] = []
    for _ in 0..<100 {
      ids += world.record(5)
      world.advance(ms: 7 * 86_400_000 / 100)
    }
    XCTAssertEqual(world.server.requests.count, 0, "a request meanwhile")
    XCTAssertEqual(world.scheduler.scheduled.withLock { $0 }, 0)
    XCTAssertEqual(world.telemetry.status().queued, 500, "something aged out")
    world.telemetry.enterForeground()
    world.telemetry.setLowPower(false)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssertEqual(world.telemetry.status().ledger.dropped, [:])
  }

  func testLowPower_whenOnInFront_asksAtMostEveryFiveMinutesAndFlushStillWorks() {
    let world = DeviceWorld()
    world.telemetry.setLowPower(true)
    for _ in 0..<288 {
      world.record(2)
      world.advance(ms: 300_000)
    }
    let gaps = zip(world.server.requests, world.server.requests.dropFirst()).map {
      $1.at.milliseconds(since: $0.at)
    }
    XCTAssertGreaterThanOrEqual(gaps.min() ?? 0, 300_000)
    world.record(3)
    XCTAssertEqual(world.flush().withLock { $0?.ending }, .drained)
    XCTAssertEqual(world.telemetry.status().ledger.dropped, [:])
  }

  func testLowPower_whenSwitchedOff_deliversWithinOneInterval() {
    let world = DeviceWorld()
    world.telemetry.setLowPower(true)
    world.record(500)
    world.advance(ms: 100_000)
    world.telemetry.setLowPower(false)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }
}
