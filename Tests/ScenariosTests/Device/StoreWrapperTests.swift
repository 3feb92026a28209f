import Foundation
import TelemetrySDK
import XCTest

@testable import Scenarios

/// Whoever stands between the SDK and its store hands every call on as it is, waits and all.
final class StoreWrapperTests: XCTestCase {
  /// Every call of the contract, by the name under which `SpyStore` notes it.
  private static let calls: [(name: String, call: @Sendable (any EventStore) -> Void)] = [
    ("appended", { _ = $0.appended }),
    ("open()", { _ = $0.open() }),
    ("append(_:)", { _ = $0.append(event) }),
    (
      "append(_:patience:late:)",
      {
        var patience = Patience(limitMs: 7)
        _ = $0.append(event, patience: &patience, late: { { _ in } })
      }
    ),
    ("appendDurably(_:_:)", { $0.appendDurably(event) { _ in } }),
    ("append(batch:)", { _ = $0.append(batch: [event]) }),
    (
      "append(batch:patience:)",
      {
        var patience = Patience(limitMs: 7)
        _ = $0.append(batch: [event], patience: &patience)
      }
    ),
    ("whenSynced(_:)", { $0.whenSynced { _ in } }),
    ("readBatch(account:bounds:)", { _ = $0.readBatch(account: nil, bounds: bounds) }),
    ("markInFlight(_:)", { $0.markInFlight([row]) }),
    ("clearInFlight(_:)", { $0.clearInFlight([row]) }),
    ("deleteDelivered(_:)", { _ = $0.deleteDelivered([row]) }),
    ("quarantine(_:reason:)", { _ = $0.quarantine([row], reason: .tooLarge) }),
    ("dropAll(account:)", { _ = $0.dropAll(account: nil) }),
    ("quarantinedEvents(limit:)", { _ = $0.quarantinedEvents(limit: 1) }),
    ("requeueQuarantined()", { _ = $0.requeueQuarantined() }),
    ("clearQuarantine()", { _ = $0.clearQuarantine() }),
    ("enforceAge(confirmedNowMs:maxAgeMs:)", { $0.enforceAge(confirmedNowMs: 1, maxAgeMs: 1) }),
    ("setNote(_:_:)", { _ = $0.setNote("a", [1]) }),
    ("note(_:)", { _ = $0.note("a") }),
    ("snapshot()", { _ = $0.snapshot() }),
    ("accounts()", { _ = $0.accounts() }),
    ("rotateKey()", { _ = $0.rotateKey() }),
    ("purge()", { _ = $0.purge() }),
    ("maintain()", { _ = $0.maintain() }),
    ("sync()", { _ = $0.sync() }),
    ("suspend()", { $0.suspend() }),
    ("resume()", { _ = $0.resume() }),
    ("close()", { $0.close() }),
  ]
  private static let id = EventID(random: SIMD16<UInt8>(repeating: 3))
  private static let event = NewEvent(id: id, account: "", json: [0x7b, 0x7d], recordedAtMs: 1)
  private static let row = RowReference(sequence: 1, id: id)
  private static let bounds = BatchBounds(maxEvents: 1, maxBytes: 100, envelopeBytes: 2)

  private func wrappers(_ spy: SpyStore) -> [String: any EventStore] {
    [
      "observed": ObservedStore(
        spy, isFrozen: Scenarios.Guarded(false), onSighting: { _ in }, onOperation: { _ in }),
      "forwarding": ForwardingStore(spy),
    ]
  }

  func testWrapper_whenAnythingIsCalled_callsTheSameBehindIt() {
    for (name, call) in StoreWrapperTests.calls {
      let spy = SpyStore()
      for (wrapper, store) in wrappers(spy) {
        call(store)
        XCTAssertEqual(spy.takeCalls(), [name], wrapper)
      }
    }
  }

  func testCalls_whenComparedWithTheContract_areAllOfIt() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appendingPathComponent("Sources/TelemetrySDK/Storage/EventStore.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let begin = try XCTUnwrap(source.range(of: "package protocol EventStore:"))
    let end = try XCTUnwrap(source.range(of: "\n}", range: begin.upperBound..<source.endIndex))
    let contract = source[begin.upperBound..<end.lowerBound]
    let functions = contract.components(separatedBy: "\n  func ").count - 1
    // Those that are only read; `onEvent` is set once, and not through a wrapper's calls.
    let values = contract.components(separatedBy: "{ get }").count - 1
    XCTAssertEqual(functions + values, StoreWrapperTests.calls.count)
  }

  func testPatience_whenItPassesAWrapper_isUsedUpBehindIt() {
    let spy = SpyStore()
    for (wrapper, store) in wrappers(spy) {
      var patience = Patience(limitMs: 60_000)
      _ = store.append(StoreWrapperTests.event, patience: &patience, late: { { _ in } })
      XCTAssertTrue(patience.isBegun, wrapper)
      patience = Patience(limitMs: 60_000)
      _ = store.append(batch: [StoreWrapperTests.event], patience: &patience)
      XCTAssertTrue(patience.isBegun, wrapper)
    }
  }

  func testObserved_whenTheAnswerComesLate_tellsThatItIsDurable() {
    let spy = SpyStore()
    let durable = Scenarios.Guarded<[EventID]>([])
    let answers = Scenarios.Guarded<[AppendOutcome]>([])
    let store = ObservedStore(
      spy, isFrozen: Scenarios.Guarded(false),
      onSighting: { if case .becameDurable(let ids) = $0 { durable.withLock { $0 += ids } } },
      onOperation: { _ in })
    var patience = Patience(limitMs: 7)
    spy.answersLate()
    let first = store.append(
      StoreWrapperTests.event, patience: &patience,
      late: { { answer in answers.withLock { $0.append(answer) } } })
    XCTAssertNil(first)
    XCTAssertEqual(durable.withLock { $0 }, [])
    spy.answerNow(.durable(sequence: 1))
    XCTAssertEqual(durable.withLock { $0 }, [StoreWrapperTests.id])
    XCTAssertEqual(answers.withLock { $0 }, [.durable(sequence: 1)])
  }
}

/// Notes what is called. Thread safe.
private final class SpyStore: EventStore {
  private struct State {
    var calls: [String] = []
    var isLate = false
    var late: LateAnswer?
  }
  private let state = Scenarios.Guarded(State())

  func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }
  /// The next append with a patience is answered by `answerNow`.
  func answersLate() { state.withLock { $0.isLate = true } }
  func answerNow(_ outcome: AppendOutcome) { state.withLock { $0.late }?(outcome) }

  private func called(_ name: String = #function) { state.withLock { $0.calls.append(name) } }

  var onEvent: (@Sendable (StoreEvent) -> Void)? {
    get { nil }
    set { _ = newValue }
  }
  var appended: Int64 {
    called()
    return 7
  }
  func open() -> StoreBlock? {
    called()
    return nil
  }
  func append(_ event: NewEvent) -> AppendOutcome {
    called()
    return .durable(sequence: 1)
  }
  func append(
    _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
  ) -> AppendOutcome? {
    called()
    _ = patience.leftNs()
    guard state.withLock({ $0.isLate }) else { return .durable(sequence: 1) }
    let answer = late()
    state.withLock { $0.late = answer }
    return nil
  }
  func appendDurably(
    _ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void
  ) { called() }
  func append(batch events: [NewEvent]) -> [AppendOutcome] {
    called()
    return [.durable(sequence: 1)]
  }
  func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome] {
    called()
    _ = patience.leftNs()
    return [.durable(sequence: 1)]
  }
  func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) { called() }
  func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
    called()
    return ReadBatch()
  }
  func markInFlight(_ rows: [RowReference]) { called() }
  func clearInFlight(_ rows: [RowReference]) { called() }
  func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? {
    called()
    return nil
  }
  func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? {
    called()
    return nil
  }
  func dropAll(account: String?) -> StoreBlock? {
    called()
    return nil
  }
  func quarantinedEvents(limit: Int) -> [QuarantinedEvent] {
    called()
    return []
  }
  func requeueQuarantined() -> Int {
    called()
    return 0
  }
  func clearQuarantine() -> Int {
    called()
    return 0
  }
  func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) { called() }
  func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? {
    called()
    return nil
  }
  func note(_ key: String) -> [UInt8]? {
    called()
    return nil
  }
  func snapshot() -> StoreSnapshot {
    called()
    return StoreSnapshot()
  }
  func accounts() -> [String] {
    called()
    return []
  }
  func rotateKey() -> StoreBlock? {
    called()
    return nil
  }
  func purge() -> StoreBlock? {
    called()
    return nil
  }
  func maintain() -> Bool {
    called()
    return false
  }
  func sync() -> StoreBlock? {
    called()
    return nil
  }
  func suspend() { called() }
  func resume() -> StoreBlock? {
    called()
    return nil
  }
  func close() { called() }
}
