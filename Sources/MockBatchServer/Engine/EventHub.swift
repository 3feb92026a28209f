/// Hands the engine's events to whoever listens. Costs nearly nothing while nobody does.
final class EventHub: Sendable {
  typealias Listener = @Sendable (EngineEvent) -> Void
  private struct State {
    var sequence = 0
    var listeners: [Int: Listener] = [:]
    var nextListener = 1
  }
  private let state: Guarded<State>

  init(_ first: Listener?) {
    var initial = State()
    if let first { initial.listeners[0] = first }
    state = Guarded(initial)
  }

  /// Whether somebody listens.
  var isActive: Bool { state.access { !$0.listeners.isEmpty } }

  func add(_ listener: @escaping Listener) -> Int {
    state.access { state in
      defer { state.nextListener += 1 }
      state.listeners[state.nextListener] = listener
      return state.nextListener
    }
  }

  func remove(_ id: Int) { state.access { $0.listeners[id] = nil } }

  func report(
    _ request: Int, atNs: @autoclosure () -> Int64, _ kind: @autoclosure () -> EngineEvent.Kind
  ) {
    let heard = state.access { state -> (Int, [Listener])? in
      guard !state.listeners.isEmpty else { return nil }
      state.sequence += 1
      return (state.sequence, Array(state.listeners.values))
    }
    guard let (sequence, listeners) = heard else { return }
    let event = EngineEvent(sequence: sequence, atNs: atNs(), request: request, kind: kind())
    for listener in listeners { listener(event) }
  }
}
