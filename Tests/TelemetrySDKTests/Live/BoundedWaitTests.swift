import Dispatch
import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// `record` waits a bounded time for others, whatever they are stuck in. No clock is read here:
/// somebody stands still until the test lets go, and the call must have returned before.
final class BoundedWaitTests: StoreTestCase {
  private var store: SQLiteEventStore!
  private var telemetry: Telemetry!
  private let gate = KeyGate()
  private let tokens = ScriptedTokens()
  private let server = CountingServer()

  override func setUpWithError() throws {
    try super.setUpWithError()
    _ = shim_register()
    shim_reset()
    shim_skip_syncs(0)
  }

  override func tearDownWithError() throws {
    shim_let_go()
    telemetry = nil
    store = nil
    shim_reset()
    try super.tearDownWithError()
  }

  /// Starts with an open store, and a server that takes everything.
  private func start(_ change: (inout StoreConfiguration) -> Void = { _ in }) {
    store = makeStore(keys: gate, files: ShimFiles(skipsSyncs: false)) {
      $0.vfsName = "shim"
      $0.usesBackgroundThreads = true
      change(&$0)
    }
    let configuration = TelemetryConfiguration(
      endpoint: "https://telemetry.example/", directory: folder)
    let executor = DispatchExecutor(label: "test")
    telemetry = Telemetry.start(
      configuration, tokenProvider: tokens,
      environment: TelemetryEnvironment(
        clock: LiveClock(queue: executor.queue), random: SeededRandom(1), keyStore: gate,
        transport: server, executor: executor),
      store: store)
    settle()
  }

  /// What was asked of the executor so far is done.
  private func settle() {
    let done = DispatchSemaphore(value: 0)
    telemetry.shell.perform { _ in done.signal() }
    XCTAssertEqual(done.wait(timeout: .now() + 300), .success)
  }

  /// The answer of a call that returns although somebody is stuck.
  private func record(_ name: String = #function) -> RecordReceipt? {
    let answer = Guarded<RecordReceipt?>(nil)
    let done = DispatchSemaphore(value: 0)
    let telemetry = telemetry!
    DispatchQueue(label: "caller").async {
      let receipt = telemetry.record("t", ["from": .string(name)])
      answer.withLock { $0 = receipt }
      done.signal()
    }
    XCTAssertEqual(done.wait(timeout: .now() + 60), .success, "record did not return")
    return answer.withLock { $0 }
  }

  private func assertBuffered(
    _ receipt: RecordReceipt?, _ reason: BufferReason, line: UInt = #line
  ) {
    guard case .buffered(_, reason) = receipt else {
      return XCTFail("\(receipt.map { "\($0)" } ?? "no answer")", line: line)
    }
  }

  private func assertDurable(_ receipt: RecordReceipt?, line: UInt = #line) {
    guard case .durable = receipt else {
      return XCTFail("\(receipt.map { "\($0)" } ?? "no answer")", line: line)
    }
  }

  /// After everybody goes on, each of the events is in the queue once.
  private func assertKept(_ count: Int, line: UInt = #line) {
    let done = DispatchSemaphore(value: 0)
    telemetry.recordDurably("last", [:], id: nil) { _ in done.signal() }
    XCTAssertEqual(done.wait(timeout: .now() + 300), .success, line: line)
    settle()
    let shut = DispatchSemaphore(value: 0)
    telemetry.shutdown { shut.signal() }
    XCTAssertEqual(shut.wait(timeout: .now() + 300), .success, line: line)
    let status = telemetry.status()
    XCTAssertEqual(status.ledger.recorded, Int64(count + 1), line: line)
    XCTAssertEqual(status.buffered, 0, line: line)
    XCTAssertEqual(status.rejected, [:], line: line)
    XCTAssert(status.ledger.balances, line: line)
  }

  /// Runs the body while another thread is inside `hold`, which calls its argument to say so and
  /// to wait.
  private func whileHolding(
    _ hold: @escaping @Sendable (@escaping () -> Void) -> Void, _ body: () -> Void
  ) {
    let isIn = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    let isOut = DispatchSemaphore(value: 0)
    DispatchQueue(label: "holder").async {
      hold {
        isIn.signal()
        mayGo.wait()
      }
      isOut.signal()
    }
    isIn.wait()
    body()
    mayGo.signal()
    isOut.wait()
  }

  // MARK: Somebody holds the store

  func testRecord_whenTheStoresLockIsHeld_returns() {
    start()
    let store = store!
    whileHolding({ wait in store.state.withLock { _ in wait() } }) {
      assertBuffered(record(), .busy)
      // The wait is granted once: these find the detour.
      for _ in 0..<20 { assertBuffered(record(), .busy) }
    }
    assertKept(21)
  }

  func testRecord_whenAnotherCallerIsStuckInItsWrite_returns() {
    start()
    let telemetry = telemetry!
    whileHolding({ wait in
      shim_hold(Int32(SHIM_WRITE))
      let first = DispatchSemaphore(value: 0)
      DispatchQueue(label: "writer").async {
        telemetry.record("t", [:])
        first.signal()
      }
      shim_wait_until_held()
      wait()
      shim_let_go()
      first.wait()
    }) {
      assertBuffered(record(), .busy)
    }
    assertKept(2)
  }

  /// The caller's event is in the commit of somebody who is stuck: it must not wait for him, nor
  /// keep a second copy.
  func testRecord_whenItsEventIsTakenIntoAStuckCommit_returnsAndIsWrittenOnce() {
    start()
    let store = store!
    let isIn = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    let isOut = DispatchSemaphore(value: 0)
    DispatchQueue(label: "holder").async {
      store.state.withLock { state in
        isIn.signal()
        while store.tickets.withLock({ $0.isEmpty }) { sched_yield() }
        let group = store.takeTickets()
        mayGo.wait()
        _ = store.write(group, and: nil, &state)
      }
      isOut.signal()
    }
    isIn.wait()
    assertBuffered(record(), .busy)
    XCTAssertEqual(telemetry.status().buffered, 1)
    mayGo.signal()
    isOut.wait()
    store.lateQueue.sync {}
    XCTAssertEqual(telemetry.status().buffered, 0)
    assertKept(1)
  }

  func testRecord_whenTheLogsRestartIsStuck_returnsAlsoAtTheBudget() {
    start { $0.walBudgetBytes = 200_000 }
    shim_hold(Int32(SHIM_SYNC))
    var durable = 0
    var receipt = record()
    while case .durable = receipt, durable < 2_000 {
      durable += 1
      receipt = record()
    }
    assertBuffered(receipt, .walBudget)
    XCTAssertGreaterThan(durable, 5)
    for _ in 0..<20 { assertBuffered(record(), .walBudget) }
    shim_let_go()
    assertKept(durable + 21)
  }

  func testRecord_whenTheSyncIsStuck_isDurable() {
    start()
    assertDurable(record())
    let telemetry = telemetry!
    whileHolding({ wait in
      shim_hold(Int32(SHIM_SYNC))
      telemetry.enterBackground()
      shim_wait_until_held()
      wait()
      shim_let_go()
    }) {
      for _ in 0..<20 { assertDurable(record()) }
    }
    settle()
    assertKept(21)
  }

  func testRecord_whenAnotherConnectionHoldsTheDatabase_returns() throws {
    start()
    let other = try SQLiteConnection(path: database, vfs: nil, busyMs: 0)
    try other.execute("BEGIN EXCLUSIVE")
    assertBuffered(record(), .locked)
    for _ in 0..<20 { assertBuffered(record(), .locked) }
    try other.execute("ROLLBACK")
    other.close()
    assertKept(21)
  }

  // MARK: Somebody writes the buffer

  private func recovering() {
    telemetry.recorder.state.withLock { state in
      state.detour = .busy
      state.isRecovering = true
    }
  }

  func testRecord_whenTheBuffersWriterIsStuck_returns() {
    start()
    let recorder = telemetry.recorder
    whileHolding({ wait in recorder.drain.withLock { _ in wait() } }) {
      recovering()
      for _ in 0..<20 { assertBuffered(record(), .busy) }
    }
    assertKept(20)
  }

  func testRecord_whenItWritesTheBufferItselfAndTheStoreIsHeld_returns() {
    start()
    let store = store!
    whileHolding({ wait in store.state.withLock { _ in wait() } }) {
      recovering()
      assertBuffered(record(), .busy)
      recovering()
      assertBuffered(record(), .busy)
    }
    assertKept(2)
  }

  // MARK: Somebody holds the executor, or the keys

  func testRecord_whenTheTokenProviderNeverReturns_isDurable() {
    start()
    let mayGo = DispatchSemaphore(value: 0)
    let isIn = DispatchSemaphore(value: 0)
    tokens.onAsk {
      isIn.signal()
      mayGo.wait()
    }
    assertDurable(record())
    telemetry.flush(timeout: 60) { _ in }
    isIn.wait()
    for _ in 0..<50 { assertDurable(record()) }
    _ = telemetry.status()
    tokens.onAsk(nil)
    mayGo.signal()
    assertKept(51)
  }

  func testRecord_whenTheKeyStoreNeverAnswers_isDurable() {
    start()
    let telemetry = telemetry!
    let gate = gate
    whileHolding({ wait in
      gate.hold()
      telemetry.rotateKey()
      gate.waitUntilHeld()
      wait()
      gate.letGo()
    }) {
      for _ in 0..<20 { assertDurable(record()) }
    }
    settle()
    assertKept(20)
  }
}

/// A key store whose next call stands still.
private final class KeyGate: KeyStore {
  private let keys = FakeKeyStore()
  private let holds = Guarded(false)
  private let isHeld = DispatchSemaphore(value: 0)
  private let mayGo = DispatchSemaphore(value: 0)

  func hold() { holds.withLock { $0 = true } }
  func waitUntilHeld() { isHeld.wait() }
  func letGo() { mayGo.signal() }

  private func stand() {
    let stands = holds.withLock { holds -> Bool in
      defer { holds = false }
      return holds
    }
    guard stands else { return }
    isHeld.signal()
    mayGo.wait()
  }

  func keyIDs() throws -> [UInt64] {
    stand()
    return try keys.keyIDs()
  }
  func load(_ id: UInt64) throws -> [UInt8] {
    stand()
    return try keys.load(id)
  }
  func save(_ id: UInt64, key: [UInt8]) throws {
    stand()
    try keys.save(id, key: key)
  }
  func destroy(_ id: UInt64) throws {
    stand()
    try keys.destroy(id)
  }
  func isProtectedDataAvailable() -> Bool { true }
}
