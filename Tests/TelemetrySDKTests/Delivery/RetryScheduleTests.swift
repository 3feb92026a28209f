import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

final class RetryScheduleTests: XCTestCase {
  private let schedule = RetrySchedule(baseMs: 2_000, capMs: 300_000)

  func testCeiling_whenFailuresGrow_doublesUpToTheCap() {
    let ceilings = (0...9).map { schedule.ceilingMs(failures: $0) }
    XCTAssertEqual(
      ceilings,
      [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000])
  }

  func testDelay_whenCountsAreExtreme_staysWithinItsBounds() {
    for failures in [Int.min, -1, 0, 1, 10, 62, 63, 64, 1_000, Int.max] {
      for draw in [UInt64.min, 1, 1 << 63, .max] {
        let delay = schedule.delayMs(failures: failures, draw: draw)
        XCTAssert((2_000...300_000).contains(delay), "\(failures) \(draw) → \(delay)")
      }
    }
  }

  func testDelay_whenNumbersAreExtreme_neverOverflows() {
    for (base, cap) in [(1, Int64.max), (Int64.max, Int64.max), (0, 0), (5, 1), (-3, -9)] {
      let schedule = RetrySchedule(baseMs: base, capMs: cap)
      for failures in [0, 1, 62, 63, 200] {
        XCTAssertGreaterThanOrEqual(schedule.delayMs(failures: failures, draw: .max), 1)
      }
    }
  }

  func testJitter_whenDrawnOften_fillsTheRangeAfterTheCap() {
    let random = SeededRandom(7)
    let delays = (0..<10_000).map { _ in schedule.delayMs(failures: 20, draw: random.next()) }
    XCTAssertLessThan(delays.min() ?? .max, 4_000)
    XCTAssertGreaterThan(delays.max() ?? 0, 298_000)
    let mean = Double(delays.reduce(0, +)) / 10_000
    XCTAssertEqual(mean, 151_000, accuracy: 3_000)
  }
}
