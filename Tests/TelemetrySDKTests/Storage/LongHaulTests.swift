import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Volume, age and repetition: caps at full size, kills in series, locks after every call.
final class LongHaulTests: ShimTestCase {
  override var skipsSyncs: Bool { true }

  func testCap_whenMoreComesOfflineThanItHolds_holdsAtEverySampleAndKeepsTheNewest() throws {
    let capBytes: Int64 = 20_000_000
    let store = shimmed { $0.maxBytesOnDisk = capBytes }
    XCTAssertNil(store.open())
    var produced: Int64 = 0
    var newest: [EventID] = []
    let content = NewEvent.make(bytes: 960).content
    // Sixty megabytes for a cap of twenty.
    while produced < 60_000 {
      let events = (0..<100).map { _ in
        NewEvent(
          id: EventID(random: SystemRandom.shared.sixteen() ?? SIMD16()), account: "",
          content: content, recordedAtMs: clock.wallMs())
      }
      XCTAssertEqual(store.append(batch: events).compactMap(\.sequence).count, 100)
      produced += 100
      newest = events.map(\.id)
      if produced % 1_000 == 0 {
        let bytes = try FileManager.default.contentsOfDirectory(atPath: folder)
          .reduce(Int64(0)) { $0 + (SystemFiles().status(path($1))?.bytes ?? 0) }
        XCTAssertLessThanOrEqual(bytes, capBytes, "after \(produced)")
      }
    }
    let kept = store.allEvents().map(\.row)
    XCTAssertEqual(kept.suffix(100).map(\.id), newest)
    XCTAssertEqual(kept.map(\.sequence), Array((produced - Int64(kept.count) + 1)...produced))
    let ledger = store.snapshot().ledger
    XCTAssertEqual(Int64(kept.count) + (ledger.dropped["queueFull"] ?? 0), produced)
    XCTAssertGreaterThan(kept.count, 12_500)
    store.close()
  }

  func testEviction_whenTheWallClockJumpedAbout_goesByTheOrderOfRecording() {
    let store = shimmed { $0.maxBytesOnDisk = 1_000_000 }
    XCTAssertNil(store.open())
    var ids: [EventID] = []
    for number in 0..<1_500 {
      // 1970, 2024 and 2020 by turns.
      let stamp: Int64 = [1_000, 1_714_521_600_000, 1_588_291_200_000][number / 10 % 3]
      let event = NewEvent.make(number, bytes: 900, recordedAtMs: stamp)
      clock.set { $0.wallMs = stamp }
      XCTAssertNotNil(store.append(event).sequence)
      ids.append(event.id)
    }
    let kept = store.allEvents().map(\.row.id)
    XCTAssertLessThan(kept.count, 1_500)
    XCTAssertEqual(kept, Array(ids.suffix(kept.count)))
    store.close()
  }

  func testMigration_whenKilledAtAnyOperation_keepsAllFiftyRows() throws {
    let made = shimmed()
    XCTAssertNil(made.open())
    let ids = (0..<50).map { number -> EventID in
      let event = NewEvent.make(number)
      XCTAssertNotNil(made.append(event).sequence)
      return event.id
    }
    made.close()
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(
      """
      ALTER TABLE quarantine DROP COLUMN detail; ALTER TABLE quarantine DROP COLUMN detail_key;
      PRAGMA user_version=1; PRAGMA wal_checkpoint(TRUNCATE);
      """)
    connection.close()
    let fixture = try XCTUnwrap(FileManager.default.contents(atPath: database))
    var deaths = 0
    var operation = 0
    repeat {
      operation += 1
      let place = path("killed \(operation)")
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try fixture.write(to: URL(fileURLWithPath: place + "/queue.sqlite"))
      let dying = shimmed { $0.directory = place }
      let next = shim_operations() + operation
      shim_plan(next, Int.max, Int32(SHIM_DIE))
      _ = dying.open()
      let hasDied = shim_is_dead() != 0
      dying.close()
      shim_plan(0, 0, Int32(SHIM_GO_ON))
      if hasDied { deaths += 1 }
      let store = shimmed { $0.directory = place }
      XCTAssertNil(store.open(), "operation \(operation)")
      XCTAssertEqual(store.allEvents().map(\.row.id), ids, "operation \(operation)")
      XCTAssertTrue(store.snapshot().ledger.balances)
      store.close()
      if !hasDied { break }
    } while operation < 200
    XCTAssertGreaterThan(deaths, 5)
    XCTAssertLessThan(operation, 200)
  }

  func testReseal_whenKilledFiftyTimes_readsAThousandRowsAndFreesTheKeyAtTheEnd() throws {
    var random = SplitMix(seed: SplitMix.seed("RESEAL_SEED"))
    var store = shimmed { $0.resealsOldRows = true }
    XCTAssertNil(store.open())
    let events = (0..<1_000).map { NewEvent.make($0) }
    XCTAssertEqual(store.append(batch: events).compactMap(\.sequence).count, 1_000)
    let ids = events.map(\.id)
    for kill in 0..<50 {
      let next = shim_operations() + 1 + Int.random(in: 0..<80, using: &random)
      shim_plan(next, Int.max, Int32(SHIM_DIE))
      _ = store.rotateKey()
      for _ in 0..<4 where shim_is_dead() == 0 { _ = store.maintain() }
      store.abandon()
      shim_plan(0, 0, Int32(SHIM_GO_ON))
      store = shimmed { $0.resealsOldRows = true }
      XCTAssertNil(store.open(), "kill \(kill)")
      XCTAssertEqual(store.allEvents().map(\.row.id), ids, "kill \(kill)")
      XCTAssertEqual(store.snapshot().unknownKeyRows, 0, "kill \(kill)")
    }
    var steps = 0
    while store.maintain(), steps < 100 { steps += 1 }
    XCTAssertLessThan(steps, 100)
    XCTAssertEqual(keys.current.keys.count, 1, "only the live key is left")
    XCTAssertEqual(store.allEvents().map(\.row.id), ids)
    store.close()
  }

  func testStatements_afterEveryCall_holdNoLock() {
    let store = openStore { $0.maxBytesOnDisk = 1_000_000 }
    for number in 0..<700 { _ = store.append(.make(number, account: "a", bytes: 900)) }
    let bounds = BatchBounds.make(maxEvents: 7)
    let calls: [(name: String, call: (SQLiteEventStore) -> Void)] = [
      ("append", { _ = $0.append(.make()) }),
      ("append a batch", { _ = $0.append(batch: [.make(), .make()]) }),
      ("read", { _ = $0.readBatch(account: nil, bounds: bounds) }),
      ("read an account", { _ = $0.readBatch(account: "b", bounds: bounds) }),
      ("mark", { $0.markInFlight($0.readBatch(account: nil, bounds: bounds).events.map(\.row)) }),
      (
        "delete",
        { _ = $0.deleteDelivered($0.readBatch(account: nil, bounds: bounds).events.map(\.row)) }
      ),
      (
        "quarantine",
        {
          let rows = $0.readBatch(account: nil, bounds: bounds).events.map(\.row)
          _ = $0.quarantine(rows, reason: .refused(status: 400, detail: "no"))
        }
      ),
      ("look into quarantine", { _ = $0.quarantinedEvents(limit: 2) }),
      ("requeue", { _ = $0.requeueQuarantined() }),
      ("clear", { _ = $0.clearQuarantine() }),
      ("age", { $0.enforceAge(confirmedNowMs: 1_767_600_000_000, maxAgeMs: 1) }),
      ("set a note", { _ = $0.setNote("gate", [1]) }),
      ("note", { _ = $0.note("gate") }),
      ("snapshot", { _ = $0.snapshot() }),
      ("accounts", { _ = $0.accounts() }),
      ("rotate", { _ = $0.rotateKey() }),
      ("maintain", { _ = $0.maintain() }),
      ("sync", { _ = $0.sync() }),
      ("when synced", { $0.whenSynced { _ in } }),
      ("drop an account", { _ = $0.dropAll(account: "a") }),
      ("purge", { _ = $0.purge() }),
    ]
    for (name, call) in calls {
      call(store)
      let isIdle = store.state.withLock { $0.core?.connection.isIdle }
      XCTAssertEqual(isIdle, true, name)
      let isCheckpointIdle = store.upkeep.withLock { $0.connection?.isIdle ?? true }
      XCTAssertTrue(isCheckpointIdle, name)
    }
    store.close()
  }
}
