import Dispatch
import Foundation
import JSONText
import TelemetryTestSupport
import ThreadsSupport
import XCTest

@testable import TelemetrySDK

/// Flushes from many threads join the delivery that runs already.
final class FlushThreadsTests: XCTestCase {
  func testFlush_whenEightThreadsAskTwentyTimesDuringARequest_sendsEachRowOnce() {
    let server = HoldingServer()
    let executor = DispatchExecutor(label: "telemetry")
    let telemetry = Telemetry.start(
      TelemetryConfiguration(endpoint: "https://telemetry.example/", directory: "/nowhere"),
      tokenProvider: StaticTokenProvider(AccessToken(value: "T")),
      environment: TelemetryEnvironment(
        clock: LiveClock(queue: executor.queue), random: SystemRandomSource(),
        keyStore: FakeKeyStore(), transport: server, executor: executor),
      store: InMemoryEventStore())
    let group = DispatchGroup()
    let ids = Guarded<Set<String>>([])
    for number in 0..<50 {
      group.enter()
      telemetry.recordDurably("t", ["n": .number(number)], id: nil) { receipt in
        ids.withLock { _ = $0.insert(receipt.id?.description ?? "") }
        group.leave()
      }
    }
    XCTAssertEqual(group.wait(timeout: .now() + 60), .success)
    group.enter()
    telemetry.flush(timeout: 300) { _ in group.leave() }
    server.waitUntilHeld()
    let endings = Guarded<[FlushReport.Ending]>([])
    onThreads(8) { _ in
      for _ in 0..<20 {
        group.enter()
        telemetry.flush(timeout: 300) { report in
          endings.withLock { $0.append(report.ending) }
          group.leave()
        }
      }
    }
    server.letGo()
    XCTAssertEqual(group.wait(timeout: .now() + 300), .success)
    XCTAssertEqual(endings.withLock { $0 }, Array(repeating: .drained, count: 160))
    XCTAssertEqual(server.ids.sorted(), ids.withLock { $0.sorted() }, "a row went twice, or never")
    XCTAssertEqual(server.mostAtOnce, 1)
    telemetry.shutdown()
  }
}

/// Holds its first answer until told.
private final class HoldingServer: BatchTransport {
  private struct State {
    var ids: [String] = []
    var underWay = 0
    var most = 0
    var isFirst = true
  }
  private let state = Guarded(State())
  private let isHeld = DispatchSemaphore(value: 0)
  private let mayGo = DispatchSemaphore(value: 0)

  var ids: [String] { state.withLock { $0.ids } }
  var mostAtOnce: Int { state.withLock { $0.most } }
  func waitUntilHeld() { isHeld.wait() }
  func letGo() { mayGo.signal() }

  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    let json = try? JSONValue.parse(Gunzip.bytes(request.body) ?? [])
    let ids = (json?["events"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
    let isFirst = state.withLock { state -> Bool in
      defer { state.isFirst = false }
      state.ids += ids
      state.underWay += 1
      state.most = max(state.most, state.underWay)
      return state.isFirst
    }
    DispatchQueue(label: "server").async { [self] in
      if isFirst {
        isHeld.signal()
        mayGo.wait()
      }
      state.withLock { $0.underWay -= 1 }
      completion(.success(BatchAnswer(status: 200, headers: [], body: [])))
    }
    return NoTask()
  }
}
