import Foundation
import JSONText
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// The real executor, clock, store and threads.
final class LiveShellTests: XCTestCase {
  private var directory = ""

  override func setUpWithError() throws {
    directory = NSTemporaryDirectory() + "telemetry-live-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
  }

  override func tearDown() {
    // What a test leaves behind is no failure of the test.
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func start(
    _ transport: any BatchTransport, _ change: (inout TelemetryConfiguration) -> Void = { _ in }
  ) -> Telemetry {
    var configuration = TelemetryConfiguration(
      endpoint: "https://telemetry.example/", directory: directory)
    change(&configuration)
    var environment = TelemetryEnvironment.live(configuration: configuration)
    environment.transport = transport
    return Telemetry.start(
      configuration, tokenProvider: StaticTokenProvider(AccessToken(value: "T")),
      environment: environment)
  }

  private func flush(_ telemetry: Telemetry, timeout: Double = 300) -> FlushReport? {
    let done = expectation(description: "flush")
    let report = Guarded<FlushReport?>(nil)
    telemetry.flush(timeout: timeout) { answer in
      report.withLock { $0 = answer }
      done.fulfill()
    }
    wait(for: [done], timeout: 300)
    return report.withLock { $0 }
  }

  private func shutDown(_ telemetry: Telemetry) {
    let done = expectation(description: "shutdown")
    telemetry.shutdown { done.fulfill() }
    wait(for: [done], timeout: 60)
  }

  func testThreads_whenSixteenRecordAndOthersMeddle_deliverEveryEventOnce() throws {
    let server = CountingServer()
    let telemetry = start(server)
    let recorded = Guarded<Set<EventID>>([])
    let group = DispatchGroup()
    for thread in 0..<16 {
      DispatchQueue.global().async(group: group) {
        for number in 0..<100 {
          let payload: JSONValue = ["n": .number(number), "thread": .number(thread)]
          if let id = telemetry.record("t", payload).id { recorded.withLock { _ = $0.insert(id) } }
        }
      }
    }
    for _ in 0..<3 {
      DispatchQueue.global().async(group: group) {
        for _ in 0..<10 {
          telemetry.rotateKey()
          telemetry.flush(timeout: 1) { _ in }
          telemetry.newSession()
          _ = telemetry.status()
        }
      }
    }
    XCTAssertEqual(group.wait(timeout: .now() + 300), .success)
    let report = flush(telemetry)
    XCTAssertEqual(report?.ending, .drained)
    XCTAssertEqual(server.ids, recorded.withLock { Set($0.map(\.description)) })
    XCTAssertEqual(server.duplicates, 0)
    XCTAssertEqual(recorded.withLock { $0.count }, 1_600)
    shutDown(telemetry)
    XCTAssert(telemetry.status().ledger.balances)
  }

  func testRestart_whenShutDownInBetween_keepsQueueSessionAndGate() throws {
    let silent = CountingServer(status: 503)
    let first = start(silent)
    first.record("t", ["n": 1])
    let report = flush(first, timeout: 1)
    XCTAssertNotEqual(report?.ending, .drained)
    let session = first.status().sessionID
    shutDown(first)
    let server = CountingServer()
    let second = start(server)
    XCTAssertEqual(flush(second)?.ending, .drained)
    XCTAssertEqual(server.ids.count, 1)
    XCTAssertEqual(second.status().sessionID, session)
    shutDown(second)
  }

  func testBacklog_whenLarge_isDrainedWithinBoundedMemory() throws {
    try drainBacklog(inBackground: false)
  }

  func testBacklog_whenLargeAndTheAppIsInTheBackground_isDrainedWithinBoundedMemory() throws {
    try drainBacklog(inBackground: true)
  }

  private func drainBacklog(inBackground: Bool) throws {
    let count = Int(ProcessInfo.processInfo.environment["BACKLOG_EVENTS"] ?? "") ?? 10_000
    let recording = start(NeverTransport()) { $0.queueCapBytes = 200_000_000 }
    let payload: JSONValue = [
      "screen": "Orders", "text": .string(String(repeating: "x", count: 80)),
    ]
    // On a busy machine the store may be late, and the memory buffer full for a moment.
    var left = count
    while left > 0 {
      if recording.record("navigation", payload).id != nil { left -= 1 }
    }
    shutDown(recording)
    let server = CountingServer(keepsIDs: false)
    let draining = start(server) { $0.queueCapBytes = 200_000_000 }
    if inBackground { draining.enterBackground() }
    let before = try XCTUnwrap(Memory.residentBytes())
    let meanwhile = Guarded(Meanwhile())
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      while !meanwhile.withLock({ $0.isOver }) {
        let receipt = draining.record("during", ["n": 1])
        let now = Memory.residentBytes() ?? 0
        meanwhile.withLock { meanwhile in
          if receipt.id != nil { meanwhile.taken += 1 }
          meanwhile.peak = max(meanwhile.peak, now)
        }
        // One event for each answer or so: the backlog is what is measured.
        server.waitForRequest()
      }
    }
    let report = inBackground ? deliverInBackground(draining) : flush(draining)
    meanwhile.withLock { $0.isOver = true }
    server.stopWaiting()
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    XCTAssertEqual(report?.ending, .drained)
    XCTAssertGreaterThanOrEqual(server.events, count)
    let growth = meanwhile.withLock { $0.peak } - before
    print("backlog \(count): memory grew by \(growth / 1_000) KB")
    XCTAssertLessThan(growth, 30_000_000)
    XCTAssertEqual(draining.status().rejected, [:])
    shutDown(draining)
    let ledger = draining.status().ledger
    XCTAssertEqual(ledger.recorded, Int64(count + meanwhile.withLock { $0.taken }))
    XCTAssert(ledger.balances)
  }

  private struct Meanwhile {
    var taken = 0
    var peak = 0
    var isOver = false
  }

  private func deliverInBackground(_ telemetry: Telemetry) -> FlushReport? {
    let done = expectation(description: "delivery")
    let report = Guarded<FlushReport?>(nil)
    telemetry.deliverInBackground(deadline: 300) { answer in
      report.withLock { $0 = answer }
      done.fulfill()
    }
    wait(for: [done], timeout: 300)
    return report.withLock { $0 }
  }
}

/// Accepts everything and counts.
final class CountingServer: BatchTransport {
  private struct State {
    var ids: Set<String> = []
    var duplicates = 0
    var events = 0
  }
  private let state = Guarded(State())
  private let status: Int
  private let keepsIDs: Bool
  private let requests = DispatchSemaphore(value: 0)

  init(status: Int = 200, keepsIDs: Bool = true) {
    self.status = status
    self.keepsIDs = keepsIDs
  }

  /// Returns with the next request, or at once where one came meanwhile.
  func waitForRequest() { requests.wait() }
  func stopWaiting() { requests.signal() }

  var ids: Set<String> { state.withLock { $0.ids } }
  var duplicates: Int { state.withLock { $0.duplicates } }
  var events: Int { state.withLock { $0.events } }

  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    let json = Gunzip.bytes(request.body) ?? []
    requests.signal()
    if status == 200 { count(json) }
    let status = status
    DispatchQueue.global().async {
      completion(.success(BatchAnswer(status: status, headers: [], body: [])))
    }
    return NoTask()
  }

  private func count(_ json: [UInt8]) {
    guard keepsIDs else {
      // Every event has one session; counting these spares the tests a parser's memory.
      let mark = Array("\"sessionId\":".utf8)
      var found = 0
      json.withUnsafeBufferPointer { bytes in
        var at = 0
        while at + mark.count <= bytes.count {
          if bytes[at] == 0x22, bytes[at + 1] == 0x73,
            mark.indices.allSatisfy({ bytes[at + $0] == mark[$0] })
          {
            found += 1
            at += mark.count
          } else {
            at += 1
          }
        }
      }
      return state.withLock { $0.events += found }
    }
    let events = (try? JSONValue.parse(json))?["events"]?.arrayValue ?? []
    state.withLock { state in
      state.events += events.count
      for event in events {
        if !state.ids.insert(event["id"]?.stringValue ?? "").inserted { state.duplicates += 1 }
      }
    }
  }
}

/// A network that is not there.
final class NeverTransport: BatchTransport {
  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    DispatchQueue.global().async {
      completion(.failure(TransportFailure(code: -1009, description: "offline")))
    }
    return NoTask()
  }
}

struct NoTask: TransportTask {
  func cancel() {}
}

/// What the process occupies.
enum Memory {
  /// Nil where the system does not say.
  static func residentBytes() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return nil
    }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? Int(fields[1]).map { $0 * 4_096 } : nil
  }
}
