import Foundation
import JSONText
import TelemetryTestSupport

@testable import TelemetrySDK

/// A façade over a store in memory, ready to record, at a wall clock and with ids that a test
/// knows.
final class RecordingFixture: Sendable {
  static let session = "5e551011-0000-4000-8000-000000000000"

  let store = InMemoryEventStore()
  let clock = FixedClock()
  let diagnostics: Guarded<[DiagnosticEvent]>
  let telemetry: Telemetry

  init(configure: (inout TelemetryConfiguration) -> Void = { _ in }) {
    var configuration = TelemetryConfiguration(
      endpoint: "https://example.test/v1/telemetry/batch", directory: "/nonexistent")
    configure(&configuration)
    let environment = TelemetryEnvironment(
      clock: clock, random: CountingRandom(), keyStore: FakeKeyStore(), transport: NoTransport(),
      executor: IdleExecutor())
    let seen = Guarded<[DiagnosticEvent]>([])
    diagnostics = seen
    let hub = DiagnosticsHub { event in seen.withLock { $0.append(event) } }
    let recorder = Recorder(
      configuration: configuration, environment: environment, store: store, diagnostics: hub)
    _ = store.open()
    recorder.state.withLock { state in
      _ = state.session.restore(nil, now: Moment(nanoseconds: 0), bootID: "") {
        RecordingFixture.session
      }
      state.account = ""
      state.detour = nil
    }
    let shell = DeliveryShell(
      configuration: configuration, environment: environment, store: store, recorder: recorder,
      tokenProvider: StaticTokenProvider(nil), diagnostics: hub)
    telemetry = Telemetry(recorder: recorder, shell: shell)
  }

  /// The stored events' JSON, in order.
  var stored: [String] {
    store.readBatch(
      account: nil, bounds: BatchBounds(maxEvents: 100_000, maxBytes: .max, envelopeBytes: 0)
    ).events.map { String(decoding: $0.json, as: UTF8.self) }
  }

  /// The text of each stored event's payload: what stands between the fixed parts.
  var payloads: [String] {
    stored.map { json in
      let start = json.range(of: #","payload":"#)?.upperBound ?? json.startIndex
      let end = json.range(of: #","sessionId":""#, options: .backwards)?.lowerBound
      return String(json[start..<(end ?? json.endIndex)])
    }
  }
}

/// Stands still, at 2026-05-04T09:15:02.114Z, until it is set.
final class FixedClock: TelemetryClock {
  private let state = Guarded((now: Moment(nanoseconds: 1_000_000_000), wallMs: wallMs))
  static let wallMs: Int64 = 1_777_886_102_114

  func now() -> Moment { state.withLock { $0.now } }
  func wallMs() -> Int64 { state.withLock { $0.wallMs } }
  func bootID() -> String { "boot" }
  func advance(nanoseconds: Int64) { state.withLock { $0.now.nanoseconds += nanoseconds } }
  func setWall(_ wallMs: Int64) { state.withLock { $0.wallMs = wallMs } }
  func schedule(at moment: Moment, _ action: @escaping @Sendable () -> Void) -> ScheduledTimer {
    NoTimer()
  }
  private struct NoTimer: ScheduledTimer {
    func cancel() {}
  }
}

/// 1, 2, 3 …
final class CountingRandom: RandomSource {
  private let last = Guarded<UInt64>(0)
  func next(purpose: String) -> UInt64 {
    last.withLock { last in
      last += 1
      return last
    }
  }
}

/// Runs nothing: these tests look at the caller's thread alone.
struct IdleExecutor: SerialExecutor {
  func async(_ work: @escaping @Sendable () -> Void) {}
}

/// Never called.
struct NoTransport: BatchTransport {
  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    completion(.failure(TransportFailure(code: -1, description: "unexpected request")))
    return Done()
  }
  private struct Done: TransportTask {
    func cancel() {}
  }
}
