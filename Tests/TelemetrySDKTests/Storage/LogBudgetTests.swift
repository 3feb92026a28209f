import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// The smallest write-ahead log that a configuration may ask for still carries everything.
final class LogBudgetTests: StoreTestCase {
  private let budget = 200_000

  func testBudget_whenTheLeastThatIsAccepted_hasRoomForWhatIsWrittenAtOnce() {
    var configuration = TelemetryConfiguration(endpoint: "https://x.test/b", directory: "/x")
    configuration.walBudgetBytes = budget
    XCTAssertEqual(configuration.problems(), [])
    XCTAssertGreaterThanOrEqual(Int64(budget), StoreCore.smallestLogBudget)
    XCTAssertGreaterThan(
      StoreCore.largestEventBytes(logBudget: 2_000_000), 256_000, "the default batch")
  }

  func testEvent_whenAsLargeAsTheLeastLogTakes_isStoredQuarantinedAndPutBackAtTheCap() {
    let store = openStore {
      $0.walBudgetBytes = Int64(self.budget)
      $0.maxBytesOnDisk = 4_000_000
    }
    let bytes = StoreCore.largestEventBytes(logBudget: Int64(budget))
    XCTAssertGreaterThan(bytes, 40_000)
    for number in 0..<150 {
      XCTAssertNotNil(store.append(.make(number, bytes: bytes - 100)).sequence, "\(number)")
    }
    XCTAssertGreaterThan(store.snapshot().ledger.dropped["queueFull"] ?? 0, 0)
    for _ in 0..<3 {
      let rows = store.readBatch(account: nil, bounds: .make(maxEvents: 2)).events.map(\.row)
      // One row fills the log; as delivery does, the rest is asked for again.
      let tries = (1...4).first { _ in
        store.quarantine(rows, reason: .refused(status: 400, detail: "no")) == nil
      }
      XCTAssertNotNil(tries, "the rows are never moved")
    }
    XCTAssertGreaterThan(store.requeueQuarantined(), 0)
    XCTAssertTrue(store.snapshot().ledger.balances)
    store.close()
  }

  func testRecord_whenTheEventFitsABatchButNotTheLog_isRefusedAndHoldsNothingUp() {
    let world = DeviceWorld(store: makeStore { $0.walBudgetBytes = Int64(self.budget) }) {
      $0.walBudgetBytes = self.budget
    }
    XCTAssertEqual(
      world.telemetry.record("t", ["x": .string(String(repeating: "x", count: 200_000))]),
      .rejected(.tooLarge))
    let ids = world.record(3)
    _ = world.flush()
    XCTAssertEqual(world.deliveredIDs, ids)
  }
}
