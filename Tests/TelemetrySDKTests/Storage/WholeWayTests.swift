import Foundation
import JSONText
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Faults that comparable software was reported for, with the smallest input that shows each,
/// from `record` to the server's answer over real files.
final class WholeWayTests: ShimTestCase {
  private func makeWorld(
    _ change: (inout TelemetryConfiguration) -> Void = { _ in }
  ) -> (world: DeviceWorld, store: SQLiteEventStore) {
    let store = makeStore(files: ShimFiles(skipsSyncs: false)) { $0.vfsName = "shim" }
    return (DeviceWorld(store: store, change), store)
  }

  /// As SIGKILL would: nothing is synced, closed or said.
  private func kill(_ world: DeviceWorld, _ store: SQLiteEventStore) { store.abandon() }

  private func alter(_ sql: String) throws {
    let connection = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try connection.execute(sql)
    connection.close()
  }

  /// The last byte of the oldest row's seal, turned over.
  private let damageOldest = """
    UPDATE events SET sealed = substr(sealed, 1, length(sealed) - 1)
      || CASE WHEN substr(sealed, -1) = x'00' THEN x'01' ELSE x'00' END
    WHERE seq = (SELECT min(seq) FROM events)
    """

  func testEvents_whenKilledBeforeAnyFlush_goOutFirstWithTheirSessionAndOrder() throws {
    let (world, store) = makeWorld()
    let ids = world.record(7)
    let session = try XCTUnwrap(world.telemetry.status().sessionID)
    kill(world, store)
    world.restart()
    world.advance(ms: 60_000)
    let first = try XCTUnwrap(world.server.requests.first)
    XCTAssertEqual(first.ids, ids)
    XCTAssertEqual(
      first.json["events"]?.arrayValue?.compactMap { $0["sessionId"]?.stringValue },
      Array(repeating: session, count: 7))
    XCTAssertEqual(world.server.requests.count, 1)
  }

  func testFlushes_whenTheFirstRowIsBroken_sendTheOthersOnceAndQuarantineIt() throws {
    let (world, store) = makeWorld { $0.batchMaxEvents = 2 }
    world.server.script { _ in .failure(code: -1009) }
    let ids = world.record(4)
    kill(world, store)
    try alter(damageOldest)
    world.server.script { _ in .answer(200) }
    let before = world.server.requests.count
    world.restart(run: false)
    for _ in 0..<2 {
      _ = world.flush()
      world.advance(ms: 600_000)
    }
    let sent = world.server.requests[before...].map(\.ids)
    XCTAssertEqual(sent, [[ids[1], ids[2]], [ids[3]]])
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.reason), [.unreadable])
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.row.id.description), [ids[0]])
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertTrue(world.telemetry.status().ledger.balances)
  }

  func testRows_whenKilledWhileTheServerHoldsTheAnswer_goOutInTheNextFlush() {
    let (world, store) = makeWorld()
    world.server.script { _ in .hang }
    let ids = world.record(9)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.underWay, 1)
    XCTAssertEqual(world.telemetry.status().inFlight, 9)
    kill(world, store)
    world.server.script { _ in .answer(200) }
    world.restart(run: false)
    _ = world.flush()
    world.advance(ms: 60_000)
    XCTAssertEqual(world.server.requests.map(\.ids), [ids, ids])
    XCTAssertEqual(world.telemetry.status().inFlight, 0)
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 9)
  }

  func testOldestOfAHundred_whenOneByteIsTurned_isHeldAndTheOthersDelivered() throws {
    let (world, store) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    let ids = world.record(100)
    kill(world, store)
    try alter(damageOldest)
    world.server.script { _ in .answer(200) }
    let before = world.server.requests.count
    world.restart()
    world.advance(ms: 600_000)
    XCTAssertEqual(world.server.requests[before...].flatMap(\.ids), Array(ids.dropFirst()))
    XCTAssertEqual(world.telemetry.status().ledger.quarantined, 1)
    // Now the folder is forbidden at a start: ten events wait in memory, none is lost.
    kill(world, store)
    shim_plan(1, Int.max, Int32(SHIM_CANTOPEN))
    world.restart()
    let late = world.record(10)
    XCTAssertEqual(world.telemetry.status().buffered, 10)
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    world.advance(ms: 600_000)
    XCTAssertEqual(world.server.requests.flatMap(\.ids).suffix(10), late[...])
    XCTAssertTrue(world.telemetry.status().ledger.balances)
  }

  func testDisk_whenItFillsUpAndIsFreed_losesNothingWithoutACount() {
    let (world, _) = makeWorld { $0.memoryBufferBytes = 20_000 }
    world.server.script { _ in .failure(code: -1009) }
    shim_plan(shim_operations() + 400, Int.max, Int32(SHIM_ENOSPC))
    let receipts = (0..<500).map { number in
      world.telemetry.record("t", ["n": .number(number), "f": "0123456789"])
    }
    world.advance(ms: 60_000)
    let status = world.telemetry.status()
    let rejected = status.rejected[.bufferFull] ?? 0
    XCTAssertGreaterThan(rejected, 0)
    XCTAssertGreaterThan(status.buffered, 0)
    XCTAssertEqual(receipts.filter { $0.id != nil }.count + rejected, 500)
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    world.server.script { _ in .answer(200) }
    world.advance(ms: 900_000)
    let end = world.telemetry.status()
    XCTAssertEqual(end.buffered, 0)
    XCTAssertEqual(Int(end.ledger.delivered) + rejected, 500)
    XCTAssertTrue(end.ledger.balances)
    XCTAssertEqual(
      Set(world.deliveredIDs), Set(receipts.compactMap { $0.id?.description }))
  }

  func testDatabase_whenAnotherConnectionHoldsItForThreeSeconds_losesNoneOfAHundred() throws {
    let (world, _) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    var ids = world.record(1)
    let other = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try other.execute("BEGIN EXCLUSIVE")
    for _ in 0..<10 {
      ids += world.record(10)
      world.advance(ms: 300)
    }
    XCTAssertEqual(world.telemetry.status().buffered, 100)
    try other.execute("ROLLBACK")
    other.close()
    world.advance(ms: 60_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    XCTAssertEqual(world.telemetry.status().queued, 101)
    world.server.script { _ in .answer(200) }
    let before = world.server.requests.count
    world.advance(ms: 900_000)
    XCTAssertEqual(world.server.requests[before...].flatMap(\.ids).suffix(101), ids[...])
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 101)
    XCTAssertTrue(world.telemetry.status().ledger.balances)
  }

  func testFile_whenForbiddenForTwoSecondsAtAStart_isTheSameAndAllAreDelivered() throws {
    let (world, store) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    var ids = world.record(20)
    kill(world, store)
    let inode = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber]
    shim_plan(1, Int.max, Int32(SHIM_CANTOPEN))
    world.restart()
    ids += world.record(10)
    XCTAssertEqual(world.telemetry.status().buffered, 10)
    world.advance(ms: 2_000)
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    world.server.script { _ in .answer(200) }
    world.advance(ms: 3_600_000)
    let after = try FileManager.default.attributesOfItem(atPath: database)[.systemFileNumber]
    XCTAssertEqual(inode as? NSNumber, after as? NSNumber)
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 30)
    XCTAssertEqual(Set(world.deliveredIDs), Set(ids))
    XCTAssertEqual(world.telemetry.status().ledger.dropped, [:])
  }

  func testRow_whenItsTextIsNoJSON_isHeldAndTheOthersDelivered() {
    let (world, store) = makeWorld()
    let early = world.record(3)
    let bad = NewEvent(
      id: EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 3)), account: "",
      json: Array(#"{"id":"x","payload":{"a":NaN}}"#.utf8), recordedAtMs: 0)
    XCTAssertNotNil(store.append(bad).sequence)
    let late = world.record(2)
    world.advance(ms: 60_000)
    XCTAssertEqual(world.server.requests.map(\.ids), [early + late])
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.row.id), [bad.id])
    XCTAssertEqual(store.quarantinedEvents(limit: 9).map(\.reason), [.unreadable])
    XCTAssertEqual(store.requeueQuarantined(), 0)
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testBooleans_whenRestartedAndTriedFourTimes_areTheSameBytes() throws {
    let (world, store) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    world.telemetry.record(
      "flags", ["t": true, "f": false, "one": 1, "zero": 0, "n": [true, 1, 1.0]])
    kill(world, store)
    world.server.script { $0.number < 3 ? .failure(code: -1005) : .answer(200) }
    world.restart()
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 4)
    let expected = #""payload":{"t":true,"f":false,"one":1,"zero":0,"n":[true,1,1.0]}"#
    for request in world.server.requests {
      let text = String(decoding: try XCTUnwrap(Gunzip.bytes(request.body)), as: UTF8.self)
      XCTAssertTrue(text.contains(expected), text)
    }
  }

  func testKey_whenUnavailableAtFiveStarts_isNotReplacedAndEverythingArrives() {
    let (world, store) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    var ids = world.record(5)
    kill(world, store)
    keys.change { $0.nextErrors = Array(repeating: .unavailable(status: -25_308), count: 5) }
    world.restart()
    ids += world.record(4)
    world.server.script { _ in .answer(200) }
    world.advance(ms: 3_600_000)
    XCTAssertEqual(keys.current.saved.count, 1)
    XCTAssertEqual(Set(world.deliveredIDs.suffix(9)), Set(ids))
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 9)
  }

  func testWallClock_whenIn1970And2024And2020_deliversInTheOrderOfRecording() {
    let (world, _) = makeWorld()
    world.server.script { _ in .failure(code: -1009) }
    var ids: [String] = []
    for year in [1_000, 1_714_521_600_000, 1_588_291_200_000] as [Int64] {
      world.time.jumpWall(byMs: year - world.time.wallMs())
      ids += world.record(10)
    }
    world.server.script { _ in .answer(200) }
    let before = world.server.requests.count
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests[before...].flatMap(\.ids).suffix(30), ids[...])
    XCTAssertEqual(world.telemetry.status().ledger.delivered, 30)
    XCTAssertEqual(world.telemetry.status().ledger.dropped, [:])
  }
}
