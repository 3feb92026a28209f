import TelemetrySDK

/// Stands between the SDK and its transport: names every request, knows which are under way, and
/// makes the scripted network's weather.
///
/// Thread safe.
final class ScriptedTransport: BatchTransport {
  private struct Flight {
    var task: (any TransportTask)?
    var isLost = false
    var isCancelled = false
  }
  private struct State {
    var sent = 0
    var connects = true
    var flights: [String: Flight] = [:]
  }

  /// `NSURLErrorCannotConnectToHost`, as a refused connection gives.
  private static let refused = TransportFailure(code: -1004, description: "connection refused")
  /// `NSURLErrorNetworkConnectionLost`, as a reset connection gives.
  private static let lost = TransportFailure(code: -1005, description: "connection reset")

  static let cancelledMark = " cancelled"

  private let inner: any BatchTransport
  private let incarnation: Int
  private let executor: ScriptedExecutor
  private let onStart: @Sendable (String) -> Void
  private let onEnd: @Sendable (String, String) -> Void
  private let onChange: @Sendable () -> Void
  private let state = Guarded(State())

  init(
    inner: any BatchTransport, incarnation: Int, executor: ScriptedExecutor,
    onStart: @escaping @Sendable (String) -> Void,
    onEnd: @escaping @Sendable (String, String) -> Void, onChange: @escaping @Sendable () -> Void
  ) {
    self.inner = inner
    self.incarnation = incarnation
    self.executor = executor
    self.onStart = onStart
    self.onEnd = onEnd
    self.onChange = onChange
  }

  /// Requests under way. One that is being cancelled has a mark of its own: its end is runnable
  /// work of the device, whatever the server still believes.
  var inFlight: [String] {
    state.withLock { state in
      state.flights.map { name, flight in
        flight.isLost || flight.isCancelled ? name + ScriptedTransport.cancelledMark : name
      }.sorted()
    }
  }

  /// False: connects are refused and open connections reset.
  func setConnects(_ connects: Bool) {
    let tasks = state.withLock { state -> [any TransportTask] in
      state.connects = connects
      guard !connects else { return [] }
      for name in state.flights.keys { state.flights[name]?.isLost = true }
      return state.flights.values.compactMap(\.task)
    }
    for task in tasks { task.cancel() }
  }

  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    let (name, connects) = state.withLock { state -> (String, Bool) in
      state.sent += 1
      let name = "\(incarnation).\(state.sent)"
      state.flights[name] = Flight()
      return (name, state.connects)
    }
    onStart(name)
    guard connects else {
      executor.async { [self] in finish(name, .failure(ScriptedTransport.refused), completion) }
      return FlightTask(transport: self, name: name)
    }
    var named = request
    named.headers.append((name: DeviceMessage.requestHeader, value: name))
    let task = inner.send(named) { [self] result in finish(name, result, completion) }
    let isDead = state.withLock { state -> Bool in
      state.flights[name]?.task = task
      return state.flights[name].map { $0.isLost || $0.isCancelled } ?? false
    }
    if isDead { task.cancel() }
    return FlightTask(transport: self, name: name)
  }

  private func finish(
    _ name: String, _ result: Result<BatchAnswer, TransportFailure>,
    _ completion: @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) {
    var outcome = result
    if case .failure = result, state.withLock({ $0.flights[name]?.isLost ?? false }) {
      outcome = .failure(ScriptedTransport.lost)
    }
    onEnd(name, ScriptedTransport.name(outcome))
    // First the outcome, then the name: whoever sees the name gone finds the work it caused.
    completion(outcome)
    state.withLock { _ = $0.flights.removeValue(forKey: name) }
    onChange()
  }

  private static func name(_ outcome: Result<BatchAnswer, TransportFailure>) -> String {
    switch outcome {
    case .success(let answer): return "\(answer.status)"
    case .failure(let failure):
      switch failure.code {
      case -999: return "cancelled"
      case -1001: return "timeout"
      case -1004: return "connectionRefused"
      default: return "connectionLost"
      }
    }
  }

  fileprivate func cancel(_ name: String) {
    let task = state.withLock { state -> (any TransportTask)? in
      state.flights[name]?.isCancelled = true
      return state.flights[name]?.task
    }
    task?.cancel()
  }
}

private struct FlightTask: TransportTask {
  let transport: ScriptedTransport
  let name: String
  func cancel() { transport.cancel(name) }
}
