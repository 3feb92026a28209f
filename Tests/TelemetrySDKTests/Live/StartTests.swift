import Dispatch
import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// `start` leaves files, keys and network to a thread of the SDK's own, also with a full queue.
final class StartTests: StoreTestCase {
  private func fill(_ count: Int) {
    let store = openStore()
    var left = count
    while left > 0 {
      let events = (0..<min(100, left)).map { NewEvent.make($0, bytes: 300) }
      XCTAssertEqual(store.append(batch: events).compactMap(\.sequence).count, events.count)
      left -= events.count
    }
    store.close()
  }

  func testStart_whenTheQueueIsFull_touchesNothingOnTheCallersThread() throws {
    let count = Int(ProcessInfo.processInfo.environment["BACKLOG_EVENTS"] ?? "") ?? 20_000
    fill(count)
    let caller = pthread_self()
    let seen = Guarded(Sightings())
    let look: @Sendable (String) -> Void = { what in
      let isCaller = pthread_equal(pthread_self(), caller) != 0
      seen.withLock { isCaller ? $0.byCaller.append(what) : ($0.byOthers += 1) }
    }
    let executor = DispatchExecutor(label: "telemetry")
    let telemetry = Telemetry.start(
      TelemetryConfiguration(endpoint: "https://telemetry.example/", directory: folder),
      tokenProvider: WatchedTokens(look: look),
      environment: TelemetryEnvironment(
        clock: LiveClock(queue: executor.queue), random: SystemRandomSource(),
        keyStore: WatchedKeys(keys: keys, look: look), transport: WatchedTransport(look: look),
        executor: executor),
      store: makeStore(
        keys: WatchedKeys(keys: keys, look: look), files: WatchedFiles(look: look)))
    _ = telemetry.status()
    let session = DispatchSemaphore(value: 0)
    telemetry.recordDurably("after", [:], id: nil) { _ in session.signal() }
    XCTAssertEqual(session.wait(timeout: .now() + 300), .success)
    // The turn that answered ends by publishing what it knows.
    executor.queue.sync {}
    XCTAssertGreaterThanOrEqual(telemetry.status().queued, count / 2)
    XCTAssertEqual(seen.withLock { $0.byCaller }, [], "on the caller's thread")
    XCTAssertGreaterThan(seen.withLock { $0.byOthers }, 5)
    let end = DispatchSemaphore(value: 0)
    telemetry.shutdown { end.signal() }
    XCTAssertEqual(end.wait(timeout: .now() + 300), .success)
  }

  struct Sightings: Sendable {
    var byCaller: [String] = []
    var byOthers = 0
  }
}

private struct WatchedTokens: TokenProvider {
  let look: @Sendable (String) -> Void
  func token(_ completion: @escaping @Sendable (AccessToken?) -> Void) {
    look("token")
    completion(nil)
  }
}

private struct WatchedTransport: BatchTransport {
  let look: @Sendable (String) -> Void
  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    look("send")
    completion(.failure(TransportFailure(code: -1009, description: "offline")))
    return NoTask()
  }
}

private struct WatchedKeys: KeyStore {
  let keys: FakeKeyStore
  let look: @Sendable (String) -> Void
  func keyIDs() throws -> [UInt64] {
    look("keyIDs")
    return try keys.keyIDs()
  }
  func load(_ id: UInt64) throws -> [UInt8] {
    look("load")
    return try keys.load(id)
  }
  func save(_ id: UInt64, key: [UInt8]) throws {
    look("save")
    try keys.save(id, key: key)
  }
  func destroy(_ id: UInt64) throws {
    look("destroy")
    try keys.destroy(id)
  }
  func isProtectedDataAvailable() -> Bool { true }
}

/// The first touch of each kind at opening; SQLite itself opens between them.
private struct WatchedFiles: FileOperations {
  let look: @Sendable (String) -> Void
  private let system = SystemFiles()

  init(look: @escaping @Sendable (String) -> Void) { self.look = look }

  func createDirectory(_ path: String) throws {
    look("createDirectory")
    try system.createDirectory(path)
  }
  func list(_ directory: String) throws -> [String] {
    look("list")
    return try system.list(directory)
  }
  func read(_ path: String) throws -> [UInt8] {
    look("read")
    return try system.read(path)
  }
  func write(_ path: String, _ bytes: [UInt8]) throws {
    look("write")
    try system.write(path, bytes)
  }
  func sync(_ path: String) throws {
    look("sync")
    try system.sync(path)
  }
  func remove(_ path: String) throws {
    look("remove")
    try system.remove(path)
  }
  func removeTree(_ path: String) throws {
    look("removeTree")
    try system.removeTree(path)
  }
  func rename(_ from: String, to: String) throws {
    look("rename")
    try system.rename(from, to: to)
  }
  func truncate(_ path: String, bytes: Int64) throws {
    look("truncate")
    try system.truncate(path, bytes: bytes)
  }
  func syncDirectory(_ path: String) throws {
    look("syncDirectory")
    try system.syncDirectory(path)
  }
  func status(_ path: String) -> FileStatus? {
    look("status")
    return system.status(path)
  }
  func lock(_ path: String) throws -> (any FileLock)? {
    look("lock")
    return try system.lock(path)
  }
  func openForSync(_ path: String) throws -> any SyncHandle {
    look("openForSync")
    return try system.openForSync(path)
  }
}
