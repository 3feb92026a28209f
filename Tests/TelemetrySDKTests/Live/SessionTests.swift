import JSONText
import TelemetrySDK
import TelemetryTestSupport
import XCTest

final class SessionTests: XCTestCase {
  private func session(_ world: DeviceWorld) -> String? {
    world.telemetry.record("t", [:])
    return world.telemetry.status().sessionID
  }

  func testSession_whenShortlyInTheBackground_goesOn() {
    let world = DeviceWorld()
    let first = session(world)
    world.telemetry.enterBackground()
    world.advance(ms: 29 * 60_000)
    world.telemetry.enterForeground()
    XCTAssertEqual(session(world), first)
  }

  func testSession_whenHalfAnHourInTheBackground_isNew() {
    let world = DeviceWorld()
    let first = session(world)
    world.telemetry.enterBackground()
    world.time.jumpWall(byMs: -86_400_000)
    world.advance(ms: 30 * 60_000)
    XCTAssertNotEqual(session(world), first, "recorded in the background")
    let second = session(world)
    world.telemetry.enterForeground()
    XCTAssertEqual(session(world), second)
  }

  func testSession_whenKilledShortlyOrLong_goesOnOrEnds() {
    for (minutes, goesOn) in [(5, true), (29, true), (31, false)] {
      let world = DeviceWorld()
      let first = session(world)
      world.telemetry.enterBackground()
      world.run()
      world.executor.drop()
      world.time.dropTimers()
      world.advance(ms: Int64(minutes) * 60_000)
      world.restart()
      XCTAssertEqual(session(world) == first, goesOn, "\(minutes) min")
    }
  }

  func testSession_whenRebootedOrAsked_isNew() {
    let world = DeviceWorld()
    let first = session(world)
    world.restart(reboot: true)
    let second = session(world)
    XCTAssertNotEqual(second, first)
    world.telemetry.newSession()
    XCTAssertNotEqual(session(world), second)
  }

  func testSession_whenAskedBeforeTheStoreIsOpen_isNewThen() {
    let world = DeviceWorld()
    let first = session(world)
    world.restart(run: false)
    world.telemetry.newSession()
    world.run()
    XCTAssertNotEqual(session(world), first)
  }
}
