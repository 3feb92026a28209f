import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// The network path is a hint: it pauses, and it lies.
final class PathTests: XCTestCase {
  func testPath_whenStuckAtUnsatisfiedWithAServerThatWorks_deliversAllWithinTheProbe() {
    let world = DeviceWorld { $0.batchMaxEvents = 100 }
    world.telemetry.setNetwork(NetworkPath(satisfied: false))
    let ids = world.record(350)
    world.advance(ms: 60_000)
    XCTAssertEqual(world.server.requests.count, 0)
    XCTAssertEqual(world.telemetry.status().state, .offline)
    world.advance(ms: 270_000)
    XCTAssertEqual(world.deliveredIDs, ids)
  }

  func testPath_whenUnsatisfied_stillProbesAtForegroundAndFlush() {
    let world = DeviceWorld()
    world.telemetry.setNetwork(NetworkPath(satisfied: false))
    world.record(1)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.count, 1)
    world.telemetry.setNetwork(NetworkPath(satisfied: false))
    world.record(1)
    world.telemetry.enterForeground()
    world.run()
    XCTAssertEqual(world.server.requests.count, 2)
  }

  func testPath_whenSatisfiedWithADeadServer_backsOffAndLosesNothing() {
    let world = DeviceWorld()
    world.server.script { _ in .failure(code: -1004) }
    world.record(20)
    world.advance(ms: 3_600_000)
    XCTAssertLessThan(world.server.requests.count, 60)
    XCTAssertEqual(world.telemetry.status().queued, 20)
  }

  func testOffline_whenFlushed_reportsItAfterOneTry() {
    let world = DeviceWorld()
    world.server.script { _ in .failure(code: -1009) }
    world.telemetry.setNetwork(NetworkPath(satisfied: false))
    world.record(3)
    let report = world.flush(timeout: 1)
    XCTAssertEqual(world.server.requests.count, 1)
    XCTAssertEqual(report.withLock { $0 }?.remaining, 3)
    XCTAssertNotEqual(report.withLock { $0 }?.ending, .drained)
  }

  func testAirplaneMode_whenItEnds_everythingArrivesWithinFifteenMinutes() {
    for lowPower in [false, true] {
      let world = DeviceWorld()
      world.server.script { _ in .failure(code: -1009) }
      world.telemetry.setLowPower(lowPower)
      world.telemetry.setNetwork(NetworkPath(satisfied: false))
      for _ in 0..<24 {
        world.record(10)
        world.advance(ms: 300_000)
      }
      world.server.script { _ in .answer(200) }
      let restored = world.time.now()
      world.telemetry.setNetwork(NetworkPath())
      world.advance(ms: 900_000)
      XCTAssertEqual(world.telemetry.status().queued, 0)
      let first = world.server.requests.first { $0.at >= restored }
      XCTAssertLessThanOrEqual(first?.at.milliseconds(since: restored) ?? .max, 5_000)
    }
  }

  func testPath_whenFlapping_cutsADelayShortAtMostEveryThirtySeconds() {
    let world = DeviceWorld()
    world.server.script { _ in .failure(code: -1005) }
    world.record(3)
    world.advance(ms: 30_000)
    // Long backoffs first, so that every early try is the path's doing.
    world.advance(ms: 3_600_000)
    let before = world.server.requests.count
    for _ in 0..<600 {
      world.telemetry.setNetwork(NetworkPath(satisfied: false))
      world.telemetry.setNetwork(NetworkPath())
      world.advance(ms: 1_000)
    }
    let tries = world.server.requests.count - before
    XCTAssertLessThanOrEqual(tries, 30)
    XCTAssertGreaterThanOrEqual(tries, 10)
  }

  func testPolicies_whenThePathIsForbidden_waitForAnother() {
    let forbidden: [((inout TelemetryConfiguration) -> Void, NetworkPath)] = [
      ({ $0.allowsExpensivePaths = false }, NetworkPath(expensive: true)),
      ({ $0.allowsConstrainedPaths = false }, NetworkPath(constrained: true)),
    ]
    for (change, path) in forbidden {
      let world = DeviceWorld(change)
      world.telemetry.setNetwork(path)
      world.record(3)
      world.advance(ms: 900_000)
      let report = world.flush()
      XCTAssertEqual(report.withLock { $0?.ending }, .offline)
      XCTAssertEqual(world.server.requests.count, 0)
      world.telemetry.setNetwork(NetworkPath())
      world.advance(ms: 10_000)
      XCTAssertEqual(world.telemetry.status().queued, 0)
    }
  }
}
