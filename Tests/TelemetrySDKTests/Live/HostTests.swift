import JSONText
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// What the host does to the SDK: trouble with the disk, calls from callbacks, the end.
final class HostTests: XCTestCase {
  private func inMemory(_ world: DeviceWorld) -> InMemoryEventStore? {
    world.store as? InMemoryEventStore
  }

  func testDisk_whenFullForAWhile_buffersAndResumesInOrder() {
    let world = DeviceWorld()
    let before = world.record(2)
    inMemory(world)?.order { $0.nextBlocks = Array(repeating: .diskFull, count: 4) }
    let receipt = world.telemetry.record("t", [:])
    guard case .buffered(let id, .diskFull) = receipt else { return XCTFail("\(receipt)") }
    let during = world.record(3)
    XCTAssertEqual(world.telemetry.status().buffered, 4)
    world.advance(ms: 10_000)
    XCTAssertEqual(world.telemetry.status().buffered, 0)
    _ = world.flush()
    XCTAssertEqual(world.deliveredIDs, before + [id.description] + during)
  }

  func testFlush_whenTheMemoryBufferCannotBeWritten_isNotDrained() {
    let world = DeviceWorld()
    inMemory(world)?.order { $0.nextBlocks = Array(repeating: .diskFull, count: 1_000) }
    world.record(1)
    let report = world.flush(timeout: 20)
    world.advance(ms: 19_000)
    XCTAssertNil(report.withLock { $0 })
    world.advance(ms: 1_000)
    XCTAssertEqual(
      report.withLock { $0 }, FlushReport(ending: .storageUnavailable, remaining: 1))
  }

  func testMemoryBuffer_whenFull_rejectsAndCounts() {
    let world = DeviceWorld { $0.memoryBufferBytes = 2_000 }
    inMemory(world)?.order { $0.nextBlocks = Array(repeating: .ioError, count: 1_000) }
    let receipts = (0..<30).map { _ in world.telemetry.record("t", ["x": "0123456789"]) }
    let kept = receipts.filter { $0.id != nil }.count
    XCTAssertLessThan(kept, 30)
    let status = world.telemetry.status()
    XCTAssertEqual(status.buffered, kept)
    XCTAssertLessThanOrEqual(status.bufferedBytes, 2_000)
    XCTAssertEqual(status.rejected[.bufferFull], 30 - kept)
    inMemory(world)?.order { $0.nextBlocks = [] }
    world.advance(ms: 10_000)
    XCTAssertEqual(world.telemetry.status().queued, kept)
  }

  func testDurableRecord_whenTheStoreIsBlocked_answersOnceItIsWritten() {
    let world = DeviceWorld()
    inMemory(world)?.order { $0.nextBlocks = [.busy, .busy, .busy] }
    let answer = Guarded<[RecordReceipt]>([])
    world.telemetry.recordDurably("t", [:], id: nil) { receipt in
      answer.withLock { $0.append(receipt) }
    }
    XCTAssertEqual(answer.withLock { $0.count }, 0)
    world.advance(ms: 10_000)
    guard case .durable = answer.withLock({ $0.first }) else { return XCTFail("not durable") }
    XCTAssertEqual(answer.withLock { $0.count }, 1)
  }

  func testDelete_whenItFails_isRetriedBeforeAnythingIsSentAgain() {
    let world = DeviceWorld { $0.batchMaxEvents = 5 }
    world.server.setDelay(ms: 100)
    let ids = world.record(10)
    let report = world.flush()
    inMemory(world)?.order { $0.nextBlocks = [.busy, .diskFull, .busy] }
    world.advance(ms: 100)
    XCTAssertEqual(world.server.requests.count, 1)
    world.advance(ms: 5_000)
    XCTAssertEqual(world.deliveredIDs, ids)
    XCTAssertEqual(report.withLock { $0?.ending }, .drained)
    XCTAssert(world.telemetry.status().ledger.balances)
  }

  func testCallerID_whenStoredAlready_isRejectedAndCounted() throws {
    let world = DeviceWorld()
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    XCTAssertEqual(world.telemetry.record("t", [:], id: id), .durable(id))
    XCTAssertEqual(world.telemetry.record("t", [:], id: id), .rejected(.duplicateID))
    XCTAssertEqual(world.telemetry.status().rejected[.duplicateID], 1)
  }

  func testConsent_whenWithdrawn_stopsRecordingAndDelivery() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    world.record(3)
    world.advance(ms: 30_000)
    world.telemetry.setConsent(false)
    world.run()
    XCTAssertEqual(world.server.underWay, 0)
    XCTAssertEqual(world.telemetry.record("t", [:]), .rejected(.noConsent))
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0?.ending }, .disabled)
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 1)
    world.server.script { _ in .answer(200) }
    world.telemetry.setConsent(true)
    world.run()
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testPurge_whenARequestIsUnderWay_leavesNothingAndResumesWaiters() {
    let world = DeviceWorld()
    world.server.script { request in request.number == 0 ? .hang : .answer(200) }
    world.record(3)
    let report = world.flush()
    let session = world.telemetry.status().sessionID
    let done = Guarded(false)
    world.telemetry.purge { done.withLock { $0 = true } }
    world.run()
    XCTAssert(done.withLock { $0 })
    XCTAssertEqual(report.withLock { $0?.ending }, .cancelled)
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertNotEqual(world.telemetry.status().sessionID, session)
    let ids = world.record(2)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.last?.ids, ids)
  }

  func testShutdown_whenEverythingIsUnderWay_resumesAllAndRefusesLaterCalls() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    world.record(3)
    let reports = (0..<3).map { _ in world.flush() }
    let done = Guarded(0)
    world.telemetry.shutdown { done.withLock { $0 += 1 } }
    world.telemetry.shutdown { done.withLock { $0 += 1 } }
    world.run()
    for report in reports { XCTAssertEqual(report.withLock { $0?.ending }, .cancelled) }
    XCTAssertEqual(done.withLock { $0 }, 2)
    XCTAssertEqual(world.telemetry.record("t", [:]), .rejected(.shutDown))
    XCTAssertEqual(world.flush().withLock { $0?.ending }, .cancelled)
    XCTAssertEqual(world.time.timerCount, 0, "a timer leaked")
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 1)
  }

  func testTimeouts_whenNoNumbersOrHuge_neverTrap() {
    let world = DeviceWorld()
    world.server.script { _ in .hang }
    world.record(1)
    for timeout in [Double.nan, -.infinity, -1, 0, .infinity, 1e300] {
      _ = world.flush(timeout: timeout)
    }
    world.advance(ms: 86_400_000)
    XCTAssertEqual(world.telemetry.shell.flushes.count, 0)
  }

  func testCalls_fromEveryCallback_neverDeadlock() {
    let box = Guarded<Telemetry?>(nil)
    let depth = Guarded(0)
    let everything: @Sendable () -> Void = {
      guard let telemetry = box.withLock({ $0 }) else { return }
      guard
        depth.withLock({ depth -> Bool in
          depth += 1
          return depth < 20
        })
      else { return }
      telemetry.record("again", ["n": 1])
      telemetry.flush(timeout: 1) { _ in }
      _ = telemetry.status()
      telemetry.tokenDidChange()
      telemetry.enterBackground()
      telemetry.enterForeground()
      telemetry.newSession()
      telemetry.rotateKey()
      telemetry.setAttribute("a", 1)
      telemetry.requeueQuarantined()
    }
    let world = DeviceWorld { configuration in
      configuration.beforeSend = { event in
        everything()
        return event
      }
    }
    box.withLock { $0 = world.telemetry }
    world.tokens.onAsk(everything)
    world.telemetry.flush(timeout: 5) { _ in everything() }
    let ids = world.record(3)
    world.advance(ms: 120_000)
    XCTAssert(Set(world.deliveredIDs).isSuperset(of: ids))
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testConfiguration_whenInvalid_disablesAndSaysWhichValueIsWrong() {
    let world = DeviceWorld {
      $0.endpoint = "nonsense"
      $0.gzipLevel = 12
      $0.batchLimitBytes = -1
    }
    XCTAssertEqual(world.telemetry.record("t", [:]), .rejected(.disabled))
    XCTAssertEqual(world.flush().withLock { $0?.ending }, .disabled)
    guard case .invalidConfiguration(let problems) = world.diagnostics.withLock({ $0.first })
    else { return XCTFail("no diagnostic") }
    for name in ["endpoint", "gzipLevel", "batchLimitBytes"] {
      XCTAssertEqual(problems.filter { $0.hasPrefix(name) }.count, 1, name)
    }
    XCTAssertEqual(world.telemetry.status().state, .disabled)
  }

  func testStart_whenCalled_touchesNeitherStoreNorKeysOnTheCallersThread() {
    let world = DeviceWorld()
    world.restart(run: false)
    XCTAssertEqual(world.store.sync(), .notOpen)
    let receipt = world.telemetry.record("t", [:])
    guard case .buffered(let id, .notOpen) = receipt else { return XCTFail("\(receipt)") }
    world.run()
    XCTAssertEqual(world.telemetry.status().ledger.recorded, 1)
    XCTAssertEqual(world.deliveredIDs, [id.description])
  }
}
