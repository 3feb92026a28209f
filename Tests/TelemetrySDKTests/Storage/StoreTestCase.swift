import Foundation
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// A folder of its own for each test, and stores in it.
class StoreTestCase: XCTestCase {
  private(set) var folder = ""
  let clock = SettableClock()
  let keys = FakeKeyStore()
  private(set) var told = Guarded<[StoreEvent]>([])

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "store-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(atPath: folder)
  }

  var configuration: StoreConfiguration {
    var configuration = StoreConfiguration(directory: folder)
    configuration.usesBackgroundThreads = false
    return configuration
  }

  /// A store that is not open yet.
  func makeStore(
    keys: (any KeyStore)? = nil, files: any FileOperations = SystemFiles(),
    _ change: (inout StoreConfiguration) -> Void = { _ in }
  ) -> SQLiteEventStore {
    var configuration = configuration
    change(&configuration)
    let store = SQLiteEventStore(
      configuration: configuration, keyStore: keys ?? self.keys, clock: clock, files: files)
    let told = told
    store.onEvent = { event in told.withLock { $0.append(event) } }
    return store
  }

  func openStore(
    keys: (any KeyStore)? = nil, files: any FileOperations = SystemFiles(),
    _ change: (inout StoreConfiguration) -> Void = { _ in }
  ) -> SQLiteEventStore {
    let store = makeStore(keys: keys, files: files, change)
    XCTAssertNil(store.open())
    return store
  }

  /// Records so many events, and returns their ids.
  func record(_ store: SQLiteEventStore, _ count: Int) -> [EventID] {
    let events = (0..<count).map { NewEvent.make($0) }
    for event in events { XCTAssertNotNil(store.append(event).sequence) }
    return events.map(\.id)
  }

  var events: [StoreEvent] { told.withLock { $0 } }

  func path(_ name: String) -> String { folder + "/" + name }
  var database: String { path("queue.sqlite") }
}
