import Foundation
import XCTest

@testable import TelemetrySDK

/// Random lives of an engine, restarts among them, under the laws of delivery.
///
/// `ENGINE_SEED` and `ENGINE_STEPS` choose other lives; a failure names its own and shows the last
/// `ENGINE_TRACE` inputs.
final class EngineModelTests: XCTestCase {
  func testEngine_whenDrivenAtRandom_keepsTheLaws() {
    let first = SplitMix.seed("ENGINE_SEED")
    let steps =
      ProcessInfo.processInfo.environment["ENGINE_STEPS"].flatMap { Int($0) } ?? 20_000
    let shown = ProcessInfo.processInfo.environment["ENGINE_TRACE"].flatMap { Int($0) } ?? 25
    let stepsOfALife = 500
    var (sent, delivered, quarantined) = (0, 0, 0)
    for life in 0..<max(1, steps / stepsOfALife) {
      let seed = first &+ UInt64(life)
      var driver = EngineDriver(seed: seed)
      for step in 1...stepsOfALife {
        driver.step()
        if step % 250 == 0 { driver.heal() }
        guard driver.world.laws.broken.isEmpty else {
          return XCTFail(
            "ENGINE_SEED=\(seed), step \(step): \(driver.world.laws.broken)\n"
              + driver.world.trace.suffix(shown).map(\.description).joined(separator: "\n"))
        }
      }
      sent += Int(driver.world.engine.generation)
      delivered += driver.world.delivered.count
      quarantined += driver.world.quarantined.count
    }
    print("\(steps) steps: \(delivered) events delivered, \(quarantined) quarantined")
    XCTAssertGreaterThan(sent, 0)
    XCTAssertGreaterThan(delivered, steps / 10)
    XCTAssertGreaterThan(quarantined, steps / 100)
  }
}
