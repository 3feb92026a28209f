import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// A repair that dies at any of its operations loses nothing that could be read before it.
final class RepairKillTests: RepairTestCase {
  func testRepair_whenKilledAtAnyOperation_keepsAllThatCouldBeReadAndTellsItsOwnLoss() throws {
    try makeDamaged(rows: 300, bytes: 200)
    let whole = try measure()
    XCTAssertGreaterThan(whole.findings.queued.count, 200)
    XCTAssertEqual(whole.findings.held.count, 20)
    XCTAssertGreaterThan(whole.operations, 60)
    guard case .movedCorruptFileAside(let lost) = whole.losses.first else {
      return XCTFail("\(whole.losses)")
    }
    XCTAssertGreaterThan(lost, 0)
    XCTAssertLessThan(lost, whole.findings.ledger.dropped["corruptFile"] ?? 0, "one loss of two")
    XCTAssertEqual(
      whole.losses,
      [.movedCorruptFileAside(lost: lost), .dropped(count: lost, reason: .corruptFile)])
    for operation in 1...whole.operations {
      try dieOpening(at: operation)
      let store = queueStore()
      XCTAssertNil(store.open(), "operation \(operation)")
      XCTAssertEqual(findings(store), whole.findings, "operation \(operation)")
      // Told by the one that died, by the next, or by both: never not at all, never another's.
      XCTAssertTrue(
        losses == whole.losses || losses == whole.losses + whole.losses,
        "operation \(operation): \(losses)")
      XCTAssertNotNil(store.append(.make()).sequence)
      XCTAssertEqual(
        try FileManager.default.contentsOfDirectory(atPath: queue).filter {
          $0.contains("repair")
        }, [], "operation \(operation)")
      store.close()
    }
    told.withLock { $0 = [] }
    let last = queueStore()
    XCTAssertNil(last.open())
    XCTAssertEqual(losses, [], "told before")
    last.close()
  }

  func testRepair_whileItRuns_keepsWithinTheCapAtEveryOperation() throws {
    for (rows, cap) in [(700, 1_000_000), (2_500, 1_000_000), (300, 1_000_000)] {
      try? FileManager.default.removeItem(atPath: queue)
      let configure: (inout StoreConfiguration) -> Void = { $0.maxBytesOnDisk = Int64(cap) }
      let filling = queueStore(configure)
      XCTAssertNil(filling.open())
      for number in 0..<rows {
        if filling.append(.make(number, bytes: 300)).sequence == nil { _ = filling.maintain() }
      }
      filling.close()
      try damagePage(20)
      let sizes = SizeWatch(folder: queue)
      let before = sizes.bytes()
      let largest = sizes.largest {
        let store = queueStore(configure)
        XCTAssertNil(store.open())
        XCTAssertNotNil(store.append(.make()).sequence)
        XCTAssertTrue(store.snapshot().ledger.balances)
        store.close()
      }
      XCTAssertGreaterThan(largest, before, "it was looked while the new file was being filled")
      XCTAssertLessThanOrEqual(largest, Int64(cap), "\(rows) rows")
    }
  }
}
