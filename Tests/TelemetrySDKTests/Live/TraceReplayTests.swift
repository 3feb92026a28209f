import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// What the live shell fed its engine, fed to a bare engine: the same effects come out.
final class TraceReplayTests: XCTestCase {
  func testTraces_whenReplayedIntoABareEngine_giveTheSameEffects() {
    for seed in 1...UInt64(6) {
      // Nothing is drawn: delays are the same whoever asks.
      let world = DeviceWorld(seed: seed) {
        $0.batchMaxEvents = 20
        $0.backoffBaseMs = 4_000
        $0.backoffCapMs = 4_000
        $0.restoreJitterMs = 0
      }
      let choice = SeededRandom(seed &+ 2_000)
      world.server.script { _ in TraceReplayTests.reply(choice) }
      play(world, SeededRandom(seed &+ 3_000))
      let trace = world.trace.withLock { $0 }
      XCTAssertGreaterThan(trace.count, 100)
      replay(trace, world)
    }
  }

  private static func reply(_ choice: SeededRandom) -> ScriptedServer.Reply {
    switch choice.below(10) {
    case 0: return .answer(503)
    case 1: return .failure(code: -1005)
    case 2: return .answer(401)
    case 3: return .answer(413)
    case 4: return .answer(400)
    default: return .answer(200)
    }
  }

  private func play(_ world: DeviceWorld, _ random: SeededRandom) {
    for _ in 0..<150 {
      switch random.below(9) {
      case 0: world.telemetry.enterBackground()
      case 1: world.telemetry.enterForeground()
      case 2: world.telemetry.setNetwork(NetworkPath(satisfied: random.below(2) == 0))
      case 3: world.telemetry.flush(timeout: Double(random.below(40))) { _ in }
      case 4: world.telemetry.tokenDidChange()
      case 5: world.telemetry.setLowPower(random.below(2) == 0)
      default: world.record(random.below(15))
      }
      world.advance(ms: Int64(random.below(20_000)))
    }
  }

  private func replay(
    _ trace: [(DeliveryInput, Moment, [DeliveryEffect])], _ world: DeviceWorld
  ) {
    var engine = DeliveryEngine(
      policy: DeliveryPolicy(world.configuration), bootID: world.time.bootID(),
      random: SeededRandom(99))
    for (index, (input, moment, expected)) in trace.enumerated() {
      let effects = engine.handle(input, now: moment)
      guard effects != expected else { continue }
      return XCTFail("step \(index) \(input):\n\(effects)\n≠\n\(expected)")
    }
  }
}
