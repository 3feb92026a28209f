import XCTest

@testable import TelemetrySDK

/// Every law of the model bites: a fault against it is found.
final class EngineMutationTests: XCTestCase {
  private static let lives = 100
  private static let stepsOfALife = 500

  /// Steps until the fault was found by its law; nil where it never was.
  private func steps(_ mutation: EngineMutation) -> Int? {
    var steps = 0
    for life in 0..<EngineMutationTests.lives {
      var driver = EngineDriver(seed: 20_260_549 &+ UInt64(life), mutation: mutation)
      for step in 1...EngineMutationTests.stepsOfALife {
        driver.step()
        steps += 1
        if mutation.law == .pauseLongerThanGranted, driver.world.engine.serverGate != nil {
          driver.world.kill(reboot: false)
          driver.heal()
        }
        if step % 125 == 0 { driver.heal() }
        if driver.world.laws.broken.contains(mutation.law) { return steps }
        // Beside its own law a fault breaks others, and leaves a world that gets nowhere.
        if driver.world.laws.broken.count > 300 { break }
      }
    }
    return nil
  }

  func testLaws_whenAFaultIsPlantedForEach_areAllFoundBroken() {
    var lines: [String] = []
    for mutation in EngineMutation.all {
      let steps = steps(mutation)
      XCTAssertNotNil(steps, "\(mutation.name): nobody saw that \"\(mutation.law.rawValue)\"")
      lines.append(
        "\(mutation.law.rawValue) | \(mutation.name) | \(steps.map { "\($0) steps" } ?? "never")")
    }
    print("law | planted fault | found after\n" + lines.joined(separator: "\n"))
  }

  func testTable_whenComparedWithTheLaws_hasAFaultForEach() {
    let planted = Set(EngineMutation.all.map(\.law))
    // The world's own store never reads two accounts into one batch: checked for its sake.
    let bare: Set<DeliveryLaw> = [.accountsMixed]
    let missing = Set(DeliveryLaw.allCases).subtracting(planted).subtracting(bare)
    XCTAssert(missing.isEmpty, "\(missing)")
  }
}
