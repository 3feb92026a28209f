import Dispatch
import Foundation
import JSONText
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Every public call from every callback, on real threads: none deadlocks, each is answered.
final class ReentrancyTests: XCTestCase {
  /// A call; `done` is called when it has returned and, where it answers later, has answered.
  private typealias Call = @Sendable (Telemetry, _ done: @escaping @Sendable () -> Void) -> Void

  private struct Coded: Encodable {
    var number = 1
  }

  private static let id = EventID(bytes: SIMD16(repeating: 9))

  private static let calls: [(name: String, call: Call)] = [
    (
      "record",
      {
        $0.record("t", [:]); $1()
      }
    ),
    (
      "record id",
      {
        $0.record("t", [:], id: EventID(bytes: SIMD16(repeating: 9))); $1()
      }
    ),
    (
      "record encoding",
      {
        $0.record("t", encoding: Coded()); $1()
      }
    ),
    (
      "recordDurably",
      { telemetry, done in
        telemetry.recordDurably("t", [:], id: nil) { _ in done() }
      }
    ),
    (
      "recordDurably async",
      { telemetry, done in
        Task {
          _ = await telemetry.recordDurably("t", [:])
          done()
        }
      }
    ),
    (
      "recordError",
      {
        $0.recordError(CocoaError(.fileNoSuchFile)); $1()
      }
    ),
    (
      "recordNavigation",
      {
        $0.recordNavigation(to: "x"); $1()
      }
    ),
    (
      "recordTiming",
      {
        $0.recordTiming("x", milliseconds: 1); $1()
      }
    ),
    (
      "stopwatch",
      {
        _ = $0.stopwatch(); $1()
      }
    ),
    (
      "setAttribute",
      {
        $0.setAttribute("a", 1); $1()
      }
    ),
    (
      "newSession",
      {
        $0.newSession(); $1()
      }
    ),
    (
      "setConsent",
      {
        $0.setConsent(true); $1()
      }
    ),
    ("flush", { telemetry, done in telemetry.flush(timeout: 1) { _ in done() } }),
    (
      "flush async",
      { telemetry, done in
        Task {
          _ = await telemetry.flush(timeout: 1)
          done()
        }
      }
    ),
    (
      "deliverInBackground",
      { telemetry, done in
        telemetry.deliverInBackground(deadline: 1) { _ in done() }
      }
    ),
    (
      "tokenDidChange",
      {
        $0.tokenDidChange(account: "b"); $1()
      }
    ),
    (
      "enterForeground",
      {
        $0.enterForeground(); $1()
      }
    ),
    (
      "enterBackground",
      {
        $0.enterBackground(); $1()
      }
    ),
    (
      "status",
      {
        _ = $0.status(); $1()
      }
    ),
    (
      "diagnostics",
      {
        _ = $0.diagnostics; $1()
      }
    ),
    (
      "rotateKey",
      {
        $0.rotateKey(); $1()
      }
    ),
    ("purge", { telemetry, done in telemetry.purge { done() } }),
    ("quarantined", { telemetry, done in telemetry.quarantined(limit: 5) { _ in done() } }),
    ("requeueQuarantined", { telemetry, done in telemetry.requeueQuarantined { _ in done() } }),
    ("clearQuarantine", { telemetry, done in telemetry.clearQuarantine { _ in done() } }),
    ("shutdown", { telemetry, done in telemetry.shutdown { done() } }),
  ]

  /// Where a call comes from. Each makes `callback` run at least once.
  private enum Place: String, CaseIterable {
    case tokenProvider, stream, beforeSend, recordDurably, flush, deliverInBackground
    case quarantined, requeue, clear, purge, shutdown
  }

  /// Runs the body the first time only: a call from `beforeSend` records again.
  private final class Once: Sendable {
    private let isDone = Guarded(false)
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func run() {
      let isFirst = isDone.withLock { done -> Bool in
        defer { done = true }
        return !done
      }
      if isFirst { body() }
    }
  }

  private func check(_ place: Place, _ name: String, _ call: @escaping Call) {
    let box = Guarded<Telemetry?>(nil)
    let answered = DispatchSemaphore(value: 0)
    let once = Once {
      guard let telemetry = box.withLock({ $0 }) else { return }
      call(telemetry) { answered.signal() }
    }
    var configuration = TelemetryConfiguration(
      endpoint: "https://telemetry.example/", directory: "/nowhere")
    if place == .beforeSend {
      configuration.beforeSend = { event in
        once.run()
        return event
      }
    }
    let executor = DispatchExecutor(label: "telemetry")
    let tokens = ScriptedTokens()
    if place == .tokenProvider { tokens.onAsk { once.run() } }
    let telemetry = Telemetry.start(
      configuration, tokenProvider: tokens,
      environment: TelemetryEnvironment(
        clock: LiveClock(queue: executor.queue), random: SystemRandomSource(),
        keyStore: FakeKeyStore(), transport: CountingServer(), executor: executor),
      store: InMemoryEventStore())
    box.withLock { $0 = telemetry }
    defer { box.withLock { $0 = nil } }
    let reading = Task {
      for await _ in telemetry.diagnostics where place == .stream { once.run() }
    }
    defer { reading.cancel() }
    provoke(place, telemetry, once)
    XCTAssertEqual(
      answered.wait(timeout: .now() + 60), .success, "\(name) from \(place.rawValue) hangs")
    // Nobody stands in the way of the end.
    let end = DispatchSemaphore(value: 0)
    telemetry.shutdown { end.signal() }
    XCTAssertEqual(
      end.wait(timeout: .now() + 60), .success, "after \(name) from \(place.rawValue)")
  }

  private func provoke(_ place: Place, _ telemetry: Telemetry, _ once: Once) {
    switch place {
    case .tokenProvider, .stream, .beforeSend:
      telemetry.record("first", [:])
      telemetry.flush(timeout: 5) { _ in }
    case .recordDurably: telemetry.recordDurably("t", [:], id: nil) { _ in once.run() }
    case .flush: telemetry.flush(timeout: 5) { _ in once.run() }
    case .deliverInBackground: telemetry.deliverInBackground(deadline: 5) { _ in once.run() }
    case .quarantined: telemetry.quarantined(limit: 1) { _ in once.run() }
    case .requeue: telemetry.requeueQuarantined { _ in once.run() }
    case .clear: telemetry.clearQuarantine { _ in once.run() }
    case .purge: telemetry.purge { once.run() }
    case .shutdown: telemetry.shutdown { once.run() }
    }
  }

  func testCalls_whenMadeFromEveryCallback_areAllAnswered() {
    for place in Place.allCases {
      for (name, call) in ReentrancyTests.calls { check(place, name, call) }
    }
    print("\(Place.allCases.count) callbacks × \(ReentrancyTests.calls.count) calls")
  }

  /// A call that is added to the façade is added to the table.
  func testTable_whenComparedWithTheFacade_hasEveryPublicCall() throws {
    let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
      url.deletingLastPathComponent()
    }
    let files = [
      "Telemetry.swift", "Recording/Telemetry+Helpers.swift",
      "Recording/Telemetry+Encodable.swift", "Diagnostics/QuarantineEntry.swift",
    ]
    var names: Set<String> = []
    for file in files {
      let text = try String(
        contentsOf: root.appendingPathComponent("Sources/TelemetrySDK/" + file), encoding: .utf8)
      for line in text.split(separator: "\n") {
        for head in ["  public func ", "  public var "] where line.hasPrefix(head) {
          names.insert(String(line.dropFirst(head.count).prefix { $0.isLetter }))
        }
      }
    }
    let called = Set(ReentrancyTests.calls.map { String($0.name.prefix { $0.isLetter }) })
    let beside: Set = ["time", "timeAsync"]  // Run a closure of the caller's, then record.
    let missing = names.subtracting(called).subtracting(beside)
    XCTAssert(missing.isEmpty, "\(missing.sorted())")
  }
}
