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
      ProcessInfo.processInfo.environment["ENGINE_STEPS"].flatMap { Int($0) } ?? 100_000
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
            "ENGINE_SEED=\(seed), step \(step): \(driver.world.laws.broken.map(\.rawValue))\n"
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
    XCTAssertGreaterThan(quarantined, steps / 1_000)
  }

  /// The smallest life that got around a pause: purged while closed for suspension, then killed.
  func testGate_whenPurgedInSuspensionAndKilled_holds() {
    var world = EngineWorld(seed: 1) { $0.directoryIsShared = true }
    world.open()
    world.record(1, account: "", bytes: 100)
    world.input(.foreground)
    world.answerUntilSending()
    XCTAssertNotNil(world.sending)
    world.answer(status: 429, retryAfter: "4000")
    XCTAssertNotNil(world.engine.serverGate)
    world.input(.background)
    if let generation = world.assertion { world.input(.assertionExpiring(generation: generation)) }
    XCTAssertTrue(world.engine.isSuspended)
    world.purge()
    world.kill(reboot: false)
    world.open()
    world.record(1, account: "", bytes: 100)
    world.input(.foreground)
    world.flush(timeoutMs: 600_000)
    world.answerUntilSending()
    XCTAssertNil(world.sending)
    XCTAssertEqual(world.laws.broken, [])
    // Not later: a provider that is left without an answer gives up.
    world.advance(ms: 4_000_001)
    world.answerUntilSending()
    XCTAssertNotNil(world.sending)
  }

  /// The answer that ends the work in the background also ends the process's time: what it tells
  /// is written before the store closes.
  func testGate_whenItComesInTheBackgroundAndTheAppIsKilled_holds() throws {
    var world = EngineWorld(seed: 1) { $0.directoryIsShared = true }
    world.open()
    world.record(1, account: "", bytes: 100)
    world.input(.foreground)
    world.answerUntilSending()
    world.input(.background)
    world.answer(status: 503, retryAfter: "4000")
    XCTAssertTrue(world.engine.isSuspended)
    XCTAssertEqual(world.note?.server?.remainingMs, 4_000_000)
    let effects = world.trace.last?.effects ?? []
    let persisted = effects.firstIndex { if case .persist = $0 { true } else { false } }
    let suspended = effects.firstIndex(of: .suspendStore)
    XCTAssertLessThan(try XCTUnwrap(persisted), try XCTUnwrap(suspended))
    world.kill(reboot: false)
    world.open()
    world.flush(timeoutMs: 600_000)
    world.answerUntilSending()
    XCTAssertNil(world.sending)
    XCTAssertEqual(world.laws.broken, [])
  }

  func testStore_whenAnAssertionExpiresWithinABackgroundTask_staysOpen() {
    var world = EngineWorld(seed: 1) { $0.directoryIsShared = true }
    world.open()
    world.record(1, account: "", bytes: 100)
    world.input(.background)
    world.grantTask(seconds: 60)
    world.answerUntilSending()
    if let generation = world.assertion { world.input(.assertionExpiring(generation: generation)) }
    XCTAssertFalse(world.engine.isSuspended)
    XCTAssertNotNil(world.sending)
    world.answer(status: 400)
    XCTAssertEqual(world.note?.finalBodies.count, 1)
    world.settleNext()
    world.prepareNext()
    XCTAssertTrue(world.tasks.isEmpty)
    XCTAssertTrue(world.engine.isSuspended)
    XCTAssertEqual(world.laws.broken, [])
  }

  /// What the store does not take while it is blocked may still be a note.
  func testGate_whenItComesWhileTheStoreIsBlocked_isWrittenAtOnce() {
    var world = EngineWorld(seed: 1)
    world.open()
    world.record(3, account: "", bytes: 200_000)
    world.input(.foreground)
    world.flush(timeoutMs: 600_000)
    world.answerUntilSending()
    // The next batch is read ahead, in vain.
    world.prepareNext(blocked: true)
    world.input(.storeBlocked)
    world.answer(status: 429, retryAfter: "4000")
    XCTAssertEqual(world.note?.server?.remainingMs, 4_000_000)
  }
}
