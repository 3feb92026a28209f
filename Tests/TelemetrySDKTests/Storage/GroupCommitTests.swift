import Dispatch
import TelemetryTestSupport
import ThreadsSupport
import XCTest

@testable import TelemetrySDK

/// `powerLoss`: events that wait for the medium together.
final class GroupCommitTests: StoreTestCase {
  private func powerLossStore(_ change: (inout StoreConfiguration) -> Void = { _ in })
    -> SQLiteEventStore
  {
    openStore {
      $0.usesBackgroundThreads = true
      $0.durability = .powerLoss
      $0.appendWaitMs = 60_000
      change(&$0)
    }
  }

  func testAppendDurably_whenManyCall_tellsEachThatItIsDurableOnce() {
    let store = powerLossStore()
    let sequences = Guarded<[Int64]>([])
    let group = DispatchGroup()
    onThreads(8) { thread in
      for number in 0..<200 {
        group.enter()
        store.appendDurably(.make(thread * 1_000 + number)) { outcome in
          if case .durable(let sequence) = outcome { sequences.withLock { $0.append(sequence) } }
          group.leave()
        }
      }
    }
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(sequences.withLock { $0.sorted() }, Array(1...1_600))
    XCTAssertEqual(store.snapshot().ledger.recorded, 1_600)
    store.close()
  }

  func testAppendDurably_whenSomethingElseIsCalledNext_isCommittedBefore() {
    let store = powerLossStore()
    let told = expectation(description: "told")
    told.expectedFulfillmentCount = 3
    let outcomes = Guarded<[AppendOutcome]>([])
    let note: @Sendable (AppendOutcome) -> Void = { outcome in
      outcomes.withLock { $0.append(outcome) }
      told.fulfill()
    }
    store.appendDurably(.make(1), note)
    XCTAssertNil(store.purge())
    store.appendDurably(.make(2), note)
    XCTAssertEqual(store.append(.make(3)).sequence, 3)
    store.appendDurably(.make(4), note)
    store.close()
    wait(for: [told], timeout: 60)
    XCTAssertNil(store.open())
    XCTAssertEqual(store.allEvents().map(\.row.sequence), [2, 3, 4])
    XCTAssertEqual(store.snapshot().ledger.dropped["purged"], 1)
    XCTAssertEqual(outcomes.withLock { $0 }, [1, 2, 4].map { .durable(sequence: $0) })
    store.close()
  }

  func testAppendDurably_whenTheStoreIsClosed_saysSo() {
    let store = powerLossStore()
    store.suspend()
    let told = expectation(description: "told")
    store.appendDurably(.make(1)) { outcome in
      XCTAssertEqual(outcome, .blocked(.suspended))
      told.fulfill()
    }
    wait(for: [told], timeout: 60)
    XCTAssertNil(store.resume())
    XCTAssertEqual(store.snapshot().ledger.recorded, 0)
    store.close()
  }

  /// Whoever finds nothing dirty while another's sync runs must not say "synced" before it has
  /// ended, and well.
  func testSync_whenAnotherIsRunningAndFails_waitsAndSyncsItself() {
    let store = powerLossStore()
    XCTAssertNotNil(store.append(.make(1)).sequence)
    let answers = Guarded<[StoreBlock?]>([])
    let second = DispatchGroup()
    store.upkeep.withLock { _ in
      // As in the middle of a sync.
      _ = store.onCore { $0.isDirty = false }
      DispatchQueue.global().async(group: second) {
        let answer = store.sync()
        answers.withLock { $0.append(answer) }
      }
      while !store.upkeep.isAwaited, answers.withLock({ $0.isEmpty }) { sched_yield() }
      XCTAssertEqual(answers.withLock { $0 }, [], "answered during another's sync")
      _ = store.onCore { $0.isDirty = true }
    }
    XCTAssertEqual(second.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(answers.withLock { $0 }, [nil])
    XCTAssertEqual(try? store.onCore { $0.isDirty }.get(), false)
    store.close()
  }
}
