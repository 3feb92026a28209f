import Foundation
import TelemetrySDK
import TelemetryTestSupport
import XCTest

final class SQLiteEventStoreTests: StoreTestCase {
  private func makeNumbered(_ threads: Bool, _ durability: Durability) -> () -> any EventStore {
    var number = 0
    return { [self] in
      number += 1
      var configuration = StoreConfiguration(directory: path("s\(threads)\(durability)\(number)"))
      configuration.usesBackgroundThreads = threads
      configuration.durability = durability
      return SQLiteEventStore(
        configuration: configuration, keyStore: FakeKeyStore(), clock: clock)
    }
  }

  func testContract_whenCheckedOnSQLite_holds() throws {
    try EventStoreContract.run(makeNumbered(false, .processKill))
    try EventStoreContract.run(makeNumbered(true, .processKill))
    try EventStoreContract.run(makeNumbered(true, .powerLoss))
  }

  func testReopen_whenClosedBetween_keepsRowsAndLedger() {
    var ids: [EventID] = []
    for round in 0..<3 {
      let store = openStore()
      for number in 0..<10 {
        let event = NewEvent.make(number, account: "worker-\(round)")
        XCTAssertNotNil(store.append(event).sequence)
        ids.append(event.id)
      }
      store.close()
    }
    let store = openStore()
    XCTAssertEqual(
      (0..<3).flatMap { store.allEvents(account: "worker-\($0)") }.map(\.row.id), ids)
    XCTAssertEqual(store.snapshot().ledger.recorded, 30)
    XCTAssertEqual(keys.current.saved.count, 1)
    store.close()
  }

  func testFiles_whenSearched_holdNothingInClear() throws {
    let store = openStore()
    for number in 0..<50 {
      _ = store.append(.make(number, account: "account-needle"))
    }
    _ = store.setNote("session", Array("session-needle".utf8))
    _ = store.quarantine(
      [store.allEvents()[0].row], reason: .refused(status: 400, detail: "detail-needle"))
    _ = store.sync()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let bytes = try XCTUnwrap(FileManager.default.contents(atPath: path(name)))
      XCTAssertNil(bytes.range(of: Data("needle".utf8)), name)
    }
    store.close()
  }
}
