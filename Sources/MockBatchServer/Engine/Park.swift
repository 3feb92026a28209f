/// A wait that the engine ends: a delay on its clock, a gate, or news (admin's `wait` and event
/// stream).
///
/// The performer calls `whenReady` once and does nothing for the exchange until called back.
package final class Park: Sendable {
  private enum State {
    case waiting
    case watched(@Sendable () -> Void)
    case ready
  }
  /// Why, for status displays: `delay until 1500000000`, `gate kill-here`.
  package let reason: String
  /// Whether the server itself is at work on the answer, and not told to wait.
  package let isWork: Bool
  private let state = Guarded(State.waiting)

  package init(reason: String, isWork: Bool = false) {
    self.reason = reason
    self.isWork = isWork
  }

  /// Calls `action` once when the wait is over: inline if it is over already, else later, on any
  /// thread.
  package func whenReady(_ action: @escaping @Sendable () -> Void) {
    let isReady = state.access { state -> Bool in
      if case .ready = state { return true }
      state = .watched(action)
      return false
    }
    if isReady { action() }
  }

  /// Ends the wait. Later calls do nothing.
  package func release() {
    let action = state.access { state -> (@Sendable () -> Void)? in
      defer { state = .ready }
      if case .watched(let action) = state { return action }
      return nil
    }
    action?()
  }

  /// Whether the wait is over.
  package var isReady: Bool {
    state.access { state in
      if case .ready = state { return true }
      return false
    }
  }
}
