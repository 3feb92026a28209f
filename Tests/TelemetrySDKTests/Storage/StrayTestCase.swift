import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// A queue that was of a newer schema for a while, and the database beside it.
class StrayTestCase: RepairTestCase {
  let newer: Int64 = 99

  func setVersion(_ version: Int64) throws {
    let connection = try SQLiteConnection(
      path: queue + "/queue.sqlite", vfs: nil, busyMs: 0)
    try connection.execute("PRAGMA user_version = \(version)")
    connection.close()
  }

  var beside: String { queue + "/queue-v\(Schema.version).sqlite" }

  struct Recorded {
    var queued: [EventID] = []
    var held: [EventID] = []
    var json: [[UInt8]] = []
  }

  /// Records some, refuses the oldest five and delivers the next five.
  func fill(
    _ count: Int, account: String, bytes: Int = 100,
    _ change: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> Recorded {
    let store = queueStore(change)
    XCTAssertNil(store.open())
    for number in 0..<count {
      let id = number % 4 == 3 ? EventID(random: try XCTUnwrap(SystemRandom.shared.sixteen())) : nil
      XCTAssertNotNil(
        store.append(.make(number, account: account, id: id, bytes: bytes)).sequence)
    }
    let rows = store.readBatch(account: account, bounds: .make(maxEvents: 10)).events.map(\.row)
    XCTAssertNil(store.quarantine(Array(rows[..<5]), reason: .refused(status: 422, detail: "no")))
    XCTAssertNil(store.deleteDelivered(Array(rows[5...])))
    let events = store.allEvents(account: account)
    store.close()
    return Recorded(
      queued: events.map(\.row.id), held: rows[..<5].map(\.id), json: events.map(\.json))
  }

  /// A queue, and beside it a database from the time when the queue was of a newer schema.
  func makeStrays(
    _ count: Int, own: Int = 20, bytes: Int = 100,
    _ change: (inout StoreConfiguration) -> Void = { _ in }
  ) throws -> (own: Recorded, stray: Recorded) {
    let own = try fill(own, account: "a", change)
    try setVersion(newer)
    let stray = try fill(count, account: "b", bytes: bytes, change)
    XCTAssertNotNil(SystemFiles().status(beside))
    try setVersion(Schema.version)
    told.withLock { $0 = [] }
    return (own, stray)
  }
}
