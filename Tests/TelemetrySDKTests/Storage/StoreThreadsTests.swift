import Dispatch
import Foundation
import TelemetrySDK
import TelemetryTestSupport
import ThreadsSupport
import XCTest

/// Many threads at once; run under ThreadSanitizer too.
final class StoreThreadsTests: StoreTestCase {
  private static let threads = 16

  func testStore_whenSixteenThreadsUseIt_losesNothing() throws {
    let perThread = 120
    let store = openStore {
      $0.usesBackgroundThreads = true
      // Two cores and sixteen threads: waiting is not what is tested here.
      $0.appendWaitMs = 60_000
    }
    let stored = Guarded<Set<EventID>>([])
    let storeQueue = DispatchQueue(label: "store")
    let isDone = Guarded(false)
    let upkeep = DispatchGroup()
    storeQueue.async(group: upkeep) {
      var delivered: Set<EventID> = []
      while !isDone.withLock({ $0 }) {
        let batch = store.readBatch(account: nil, bounds: .make(maxEvents: 20))
        let rows = batch.events.map(\.row)
        store.markInFlight(rows)
        if store.deleteDelivered(rows) == nil { delivered.formUnion(rows.map(\.id)) }
        _ = store.rotateKey()
        _ = store.setNote("gate", [1])
        _ = store.maintain()
        _ = store.snapshot()
      }
      let late = delivered
      stored.withLock { $0.subtract(late) }
    }
    onThreads(StoreThreadsTests.threads) { thread in
      for number in 0..<perThread {
        let event = NewEvent.make(number, account: thread % 2 == 0 ? "a" : "b")
        var outcome = store.append(event)
        while outcome.sequence == nil { outcome = store.append(batch: [event]).first ?? outcome }
        stored.withLock { _ = $0.insert(event.id) }
      }
    }
    isDone.withLock { $0 = true }
    upkeep.wait()
    let left = stored.withLock { $0 }
    XCTAssertEqual(Set(store.allEvents().map(\.row.id)), left)
    let ledger = store.snapshot().ledger
    XCTAssertEqual(ledger.recorded, Int64(StoreThreadsTests.threads * perThread))
    XCTAssertTrue(ledger.balances)
    store.close()
  }

  func testSync_whenManyWait_callsEachOnceAfterItsCommit() {
    let store = openStore {
      $0.usesBackgroundThreads = true
      $0.durability = .powerLoss
      $0.appendWaitMs = 60_000
    }
    let answers = Guarded(0)
    let group = DispatchGroup()
    onThreads(StoreThreadsTests.threads) { thread in
      for number in 0..<20 {
        guard store.append(.make(number)).sequence != nil else { continue }
        group.enter()
        store.whenSynced { block in
          if block == nil { answers.withLock { $0 += 1 } }
          group.leave()
        }
      }
    }
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(answers.withLock { $0 }, Int(store.snapshot().ledger.recorded))
    store.close()
  }

  func testAppend_whenThePurgeRunsBeside_endsBalanced() {
    let store = openStore {
      $0.usesBackgroundThreads = true
      $0.appendWaitMs = 60_000
    }
    let isDone = Guarded(false)
    let group = DispatchGroup()
    DispatchQueue(label: "store").async(group: group) {
      var rounds = 0
      while rounds < 5 || !isDone.withLock({ $0 }) {
        _ = store.purge()
        rounds += 1
      }
    }
    onThreads(StoreThreadsTests.threads) { _ in
      for number in 0..<50 { _ = store.append(.make(number)) }
    }
    isDone.withLock { $0 = true }
    group.wait()
    XCTAssertTrue(store.snapshot().ledger.balances)
    XCTAssertEqual(store.snapshot().ledger.queued, Int64(store.allEvents().count))
    store.close()
  }

  func testLock_whenOnlyTriedBefore_stillGrantsTheWait() {
    let gate = Guarded(0, waitsAreBounded: true)
    let isHeld = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    DispatchQueue(label: "holder").async {
      gate.withLock { _ in
        isHeld.signal()
        mayGo.wait()
      }
    }
    isHeld.wait()
    XCTAssertNil(gate.withLock(waitingAtMostMs: 0) { $0 })
    DispatchQueue(label: "releaser").async { mayGo.signal() }
    XCTAssertNotNil(gate.withLock(waitingAtMostMs: 60_000) { $0 })
  }

  func testLock_whenACallerAndAnotherWait_isTheCallersFirst() {
    let gate = Guarded<[String]>([], waitsAreBounded: true)
    let isHeld = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    DispatchQueue(label: "holder").async {
      gate.withLock { _ in
        isHeld.signal()
        mayGo.wait()
      }
    }
    isHeld.wait()
    DispatchQueue(label: "caller").async(group: group) {
      XCTAssertNotNil(gate.withLock(waitingAtMostMs: 3_600_000) { $0.append("caller") })
    }
    while !gate.isUrgent { sched_yield() }
    // Whether it waits already or comes just as the lock is free: it stands back.
    DispatchQueue(label: "other").async(group: group) {
      gate.withLock { $0.append("other") }
    }
    mayGo.signal()
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(gate.withLock { $0 }, ["caller", "other"])
  }

  func testAppend_whenTheLockStaysTaken_waitsOnceAndThenBuffersAtOnce() {
    let gate = Guarded(0, waitsAreBounded: true)
    let isHeld = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    DispatchQueue(label: "holder").async {
      gate.withLock { _ in
        isHeld.signal()
        mayGo.wait()
      }
    }
    isHeld.wait()
    XCTAssertNil(gate.withLock(waitingAtMostMs: 20) { $0 })
    // Would wait a day if waiting were granted twice.
    XCTAssertNil(gate.withLock(waitingAtMostMs: 86_400_000) { $0 })
    mayGo.signal()
    gate.withLock { $0 += 1 }
    XCTAssertEqual(gate.withLock(waitingAtMostMs: 0) { $0 }, 1)
  }
}
