import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// The whole SDK on the real store, whose disk fails for a while.
final class FailingDiskTests: ShimTestCase {
  private func world(_ durability: Durability = .processKill) -> DeviceWorld {
    var store = configuration
    store.vfsName = "shim"
    store.durability = durability
    return DeviceWorld(
      store: SQLiteEventStore(
        configuration: store, keyStore: keys, clock: clock,
        files: ShimFiles(skipsSyncs: false)))
  }

  func testPurge_whenTheDiskIsFull_goesThroughLaterAndSparesWhatCameAfter() {
    let world = world()
    world.record(5)
    let done = Guarded(0)
    fail(Int(SHIM_ENOSPC))
    world.telemetry.purge { done.withLock { $0 += 1 } }
    world.run()
    XCTAssertEqual(done.withLock { $0 }, 0)
    let later = world.record(2)
    world.advance(ms: 20_000)
    XCTAssertEqual(world.telemetry.status().buffered, 2, "recorded into what is to be purged")
    heal()
    world.advance(ms: 10_000)
    XCTAssertEqual(done.withLock { $0 }, 1)
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 7)
    XCTAssertEqual(world.telemetry.status().ledger.dropped["purged"], 5)
    _ = world.flush()
    XCTAssertEqual(world.deliveredIDs, later)
  }

  func testPurge_whenTheEndComesBeforeItWentThrough_isAnsweredAndSaid() {
    let world = world()
    world.record(5)
    fail(Int(SHIM_ENOSPC))
    let done = Guarded(0)
    world.telemetry.purge { done.withLock { $0 += 1 } }
    world.telemetry.shutdown { done.withLock { $0 += 1 } }
    world.run()
    XCTAssertEqual(done.withLock { $0 }, 2)
    XCTAssert(world.diagnostics.withLock { $0.contains(.purgeUnfinished) })
    heal()
    world.telemetry.purge { done.withLock { $0 += 1 } }
    world.run()
    XCTAssertEqual(done.withLock { $0 }, 3)
    world.restart()
    XCTAssertEqual(world.telemetry.status().queued, 0, "purged after the end, and yet there")
  }

  func testDurableRecord_whenTheSyncFails_isAnsweredOnceTheMediumTookIt() {
    let world = world(.powerLoss)
    let answers = Guarded<[RecordReceipt]>([])
    let receipt = world.telemetry.record("t", [:])
    guard case .buffered(_, .syncPending) = receipt else { return XCTFail("\(receipt)") }
    // The commit goes through, its sync does not.
    shim_plan(shim_operations() + 2, Int.max, Int32(SHIM_EIO))
    world.telemetry.recordDurably("t", [:], id: nil) { answer in
      answers.withLock { $0.append(answer) }
    }
    world.run()
    world.advance(ms: 3_000)
    XCTAssertEqual(answers.withLock { $0.count }, 0, "\(answers.withLock { $0 })")
    heal()
    world.advance(ms: 10_000)
    guard case .durable = answers.withLock({ $0.first }) else { return XCTFail("not durable") }
    XCTAssertEqual(answers.withLock { $0.count }, 1)
  }
}
