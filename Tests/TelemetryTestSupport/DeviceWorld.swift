import Foundation
import JSONText
import TelemetrySDK

/// The whole SDK on one thread: manual time, a scripted server, a store that outlives kills.
package final class DeviceWorld {
  package let time = ManualTime()
  package let executor = QueueExecutor()
  package let server: ScriptedServer
  package let tokens = ScriptedTokens()
  package let assertions = FakeAssertions()
  package let scheduler = FakeTaskScheduler()
  package let store: any EventStore
  package let keys = FakeKeyStore()
  package var configuration: TelemetryConfiguration
  package private(set) var telemetry: Telemetry
  package let diagnostics = Guarded<[DiagnosticEvent]>([])
  package let random: SeededRandom
  package let trace = Guarded<[(DeliveryInput, Moment, [DeliveryEffect])]>([])

  package init(
    store: any EventStore = InMemoryEventStore(), seed: UInt64 = 1,
    _ change: (inout TelemetryConfiguration) -> Void = { _ in }
  ) {
    server = ScriptedServer(clock: time)
    self.store = store
    random = SeededRandom(seed)
    var configuration = TelemetryConfiguration(
      endpoint: "https://telemetry.example/v1/telemetry/batch", directory: "/nowhere")
    change(&configuration)
    self.configuration = configuration
    telemetry = DeviceWorld.start(
      configuration, tokens,
      DeviceWorld.environment(time, executor, server, random, keys, assertions, scheduler),
      store, diagnostics, trace)
    run()
  }

  private static func environment(
    _ time: ManualTime, _ executor: QueueExecutor, _ server: ScriptedServer,
    _ random: SeededRandom, _ keys: FakeKeyStore, _ assertions: FakeAssertions,
    _ scheduler: FakeTaskScheduler
  ) -> TelemetryEnvironment {
    TelemetryEnvironment(
      clock: time, random: random, keyStore: keys, transport: server, executor: executor,
      assertions: assertions, taskScheduling: scheduler, storeUsesThreads: false)
  }

  private static func start(
    _ configuration: TelemetryConfiguration, _ tokens: ScriptedTokens,
    _ environment: TelemetryEnvironment, _ store: any EventStore,
    _ diagnostics: Guarded<[DiagnosticEvent]>,
    _ trace: Guarded<[(DeliveryInput, Moment, [DeliveryEffect])]>
  ) -> Telemetry {
    let telemetry = Telemetry.start(
      configuration, tokenProvider: tokens, environment: environment, store: store,
      onDiagnostic: { event in diagnostics.withLock { $0.append(event) } })
    telemetry.shell.onTrace.withLock {
      $0 = Callback { step in trace.withLock { $0.append(step) } }
    }
    return telemetry
  }

  /// Dies without a word and starts again; the store is what the disk kept.
  package func restart(reboot: Bool = false, run: Bool = true) {
    executor.drop()
    time.dropTimers()
    server.forgetConnections()
    store.close()
    if reboot { time.reboot() }
    telemetry = DeviceWorld.start(
      configuration, tokens,
      DeviceWorld.environment(time, executor, server, random, keys, assertions, scheduler),
      store, diagnostics, trace)
    if run { self.run() }
  }

  /// Lets everything happen that needs no time.
  package func run() { executor.run() }

  /// Moves time, timer by timer.
  package func advance(ms: Int64) {
    run()
    let target = time.now().adding(milliseconds: ms)
    while time.step(to: target) { run() }
    run()
  }

  /// Records events with a payload of about so many bytes.
  @discardableResult
  package func record(_ count: Int, bytes: Int = 20, type: String = "t") -> [String] {
    (0..<count).compactMap { number in
      let filler = String(repeating: "x", count: max(0, bytes))
      let payload: JSONValue = ["n": .number(number), "f": .string(filler)]
      return telemetry.record(type, payload).id?.description
    }
  }

  /// Asks for a flush; the report comes when the world has run far enough.
  package func flush(timeout: Double = 60) -> Guarded<FlushReport?> {
    let report = Guarded<FlushReport?>(nil)
    telemetry.flush(timeout: timeout) { answer in report.withLock { $0 = answer } }
    run()
    return report
  }

  package var deliveredIDs: [String] { server.requests.flatMap(\.ids) }
}

/// A token provider that answers what the test says.
package final class ScriptedTokens: TokenProvider {
  private struct State {
    var answers: [AccessToken?] = []
    var last: AccessToken? = AccessToken(value: "T1")
    var asked = 0
    var holds = false
    var held: [@Sendable (AccessToken?) -> Void] = []
    var onAsk: (@Sendable () -> Void)?
  }
  private let state = Guarded(State())

  package init() {}

  /// The next answers; the last one repeats.
  package func answer(_ tokens: [AccessToken?]) {
    state.withLock { state in
      state.answers = tokens
      if let last = tokens.last { state.last = last }
    }
  }
  package func answer(_ token: AccessToken?) { answer([token]) }
  package func hold(_ holds: Bool) { state.withLock { $0.holds = holds } }
  package func onAsk(_ action: (@Sendable () -> Void)?) { state.withLock { $0.onAsk = action } }
  package var asked: Int { state.withLock { $0.asked } }

  /// Answers the calls that were held.
  package func release(_ token: AccessToken?) {
    let held = state.withLock { state -> [@Sendable (AccessToken?) -> Void] in
      defer { state.held = [] }
      return state.held
    }
    for completion in held { completion(token) }
  }

  package func token(_ completion: @escaping @Sendable (AccessToken?) -> Void) {
    let (answer, onAsk) = state.withLock { state -> (AccessToken??, (@Sendable () -> Void)?) in
      state.asked += 1
      if state.holds {
        state.held.append(completion)
        return (nil, state.onAsk)
      }
      if state.answers.count > 1 { return (.some(state.answers.removeFirst()), state.onAsk) }
      return (.some(state.answers.first ?? state.last), state.onAsk)
    }
    onAsk?()
    if let answer { completion(answer) }
  }
}

/// Background assertions that a test grants, refuses and lets expire.
package final class FakeAssertions: BackgroundAssertions {
  package struct State: Sendable {
    package var grants = true
    package var begun = 0
    package var ended = 0
    package var running: [Int: @Sendable () -> Void] = [:]
  }
  package let state = Guarded(State())

  package init() {}

  package func begin(_ expiring: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard state.grants else { return nil }
      state.begun += 1
      state.running[state.begun] = expiring
      return state.begun
    }
  }

  package func end(_ id: Int) {
    state.withLock { state in
      // Ending one twice counts, so that a test sees it.
      state.ended += 1
      state.running[id] = nil
    }
  }

  package func expire() {
    for action in state.withLock({ $0.running.values.map { $0 } }) { action() }
  }
}

/// A task scheduler that counts.
package final class FakeTaskScheduler: BackgroundTaskScheduling {
  package let scheduled = Guarded(0)
  package init() {}
  package func schedule() -> Bool {
    scheduled.withLock { $0 += 1 }
    return true
  }
}
