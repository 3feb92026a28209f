import StorageShim
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// A purge that meets a failing disk, at every operation of it in turn.
final class PurgeFaultTests: ShimTestCase {
  /// What an app or the SDK may do between a purge that failed and the next event.
  private static let doings: [(name: String, act: @Sendable (SQLiteEventStore) -> Void)] = [
    ("nothing", { _ in }),
    ("rotate", { _ = $0.rotateKey() }),
    ("read", { _ = $0.readBatch(account: nil, bounds: .make()) }),
    ("maintain", { _ = $0.maintain() }),
    ("purge again", { _ = $0.purge() }),
    ("set a note", { _ = $0.setNote("gate", [1]) }),
    ("drain", { _ = $0.append(batch: [.make(90)]) }),
  ]

  func testPurge_whenOneOperationFails_neverTakesEventsRecordedLater() {
    var failures = 0
    for (name, act) in PurgeFaultTests.doings {
      for operation in 1...40 {
        let store = makeStore(files: ShimFiles(skipsSyncs: false)) {
          $0.vfsName = "shim"
          $0.directory += "/\(name) \(operation)"
        }
        XCTAssertNil(store.open())
        let early = (0..<3).map { NewEvent.make($0) }
        for event in early { XCTAssertNotNil(store.append(event).sequence) }
        let next = shim_operations() + operation
        shim_plan(next, next + 1, Int32(SHIM_EIO))
        let isPurged = store.purge() == nil
        shim_plan(0, 0, Int32(SHIM_GO_ON))
        if !isPurged { failures += 1 }
        act(store)
        if isPurged { XCTAssertEqual(recorded(early, store), [], "\(name), \(operation)") }

        let later = (10..<15).map { NewEvent.make($0) }
        let durable = later.filter { store.append($0).sequence != nil }.map(\.id)
        store.close()
        XCTAssertNil(store.open())
        XCTAssertEqual(recorded(later, store), durable, "\(name), operation \(operation) failed")
        XCTAssertTrue(store.snapshot().ledger.balances)
        store.close()
      }
    }
    XCTAssertGreaterThan(failures, 3 * PurgeFaultTests.doings.count)
  }

  func testPurge_whenTheKeyStoreComesBackUnasked_neverTakesEventsRecordedLater() {
    for (name, act) in PurgeFaultTests.doings {
      let keys = FakeKeyStore()
      var store = makeStore(keys: keys) { $0.directory += "/away, " + name }
      XCTAssertNil(store.open())
      let early = (0..<3).map { NewEvent.make($0) }
      for event in early { XCTAssertNotNil(store.append(event).sequence) }
      keys.change { $0.nextErrors = [.unavailable(status: -25_308)] }
      XCTAssertEqual(store.purge(), .keyUnavailable)
      // From here on the key store answers again.
      act(store)
      XCTAssertEqual(recorded(early, store), [], "\(name): what was purged is read again")
      let later = (10..<15).map { NewEvent.make($0) }
      let durable = later.filter { store.append($0).sequence != nil }.map(\.id)
      _ = store.maintain()
      XCTAssertEqual(recorded(later, store), durable, name)
      store.abandon()
      store = makeStore(keys: keys) { $0.directory += "/away, " + name }
      XCTAssertNil(store.open())
      XCTAssertEqual(recorded(later, store), durable, name)
      XCTAssertNotNil(store.append(.make()).sequence)
      XCTAssertEqual(store.snapshot().ledger.dropped["purged"], 3, name)
      XCTAssertTrue(store.snapshot().ledger.balances)
      store.close()
    }
  }

  /// The intent must not come back by a power loss once something was recorded again: whatever
  /// became of its name is on the medium before the first later event is.
  func testPurge_whenOneOperationFails_settlesItsIntentBeforeTheNextEvent() {
    var judged = 0
    for operation in 1...40 {
      let store = makeStore(files: ShimFiles(skipsSyncs: false)) {
        $0.vfsName = "shim"
        $0.directory += "/settle\(operation)"
      }
      XCTAssertNil(store.open())
      XCTAssertNotNil(store.append(.make()).sequence)
      shim_record(1)
      let next = shim_operations() + operation
      shim_plan(next, next + 1, Int32(SHIM_EIO))
      _ = store.purge()
      shim_plan(0, 0, Int32(SHIM_GO_ON))
      _ = store.rotateKey()
      let end = shim_recorded()
      if store.append(.make()).sequence != nil {
        judged += 1
        XCTAssertFalse(isIntentUnsettled(before: end), "operation \(operation) failed")
      }
      shim_record(0)
      store.close()
      shim_reset()
    }
    XCTAssertGreaterThan(judged, 20)
  }

  /// True where the intent's name was last changed without a sync of its folder behind.
  private func isIntentUnsettled(before end: Int) -> Bool {
    var isUnsettled = false
    for index in 0..<end {
      let operation = shim_recorded_at(index).pointee
      switch Int(operation.kind) {
      case Int(SHIM_RENAME), Int(SHIM_DELETE):
        if String(cString: shim_path(operation.file)).contains("queue.purge") { isUnsettled = true }
      case Int(SHIM_SYNC), Int(SHIM_SYNC_FOLDER): isUnsettled = false
      default: break
      }
    }
    return isUnsettled
  }

  private func recorded(_ events: [NewEvent], _ store: SQLiteEventStore) -> [EventID] {
    let wanted = Set(events.map(\.id))
    return store.allEvents().map(\.row.id).filter(wanted.contains)
  }
}
