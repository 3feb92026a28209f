import MockBatchServer

/// The scenario's clock, as the server's engine sees it. Stands still until the runner moves it.
///
/// Thread safe; timers fire in `advance`, on the runner's thread.
final class RunnerClock: EngineClock {
  private struct Timer {
    var id: Int
    var atNs: Int64
    var action: @Sendable () -> Void
  }
  private struct State {
    var nowNs: Int64 = 0
    var nextID = 0
    var timers: [Timer] = []
  }
  private let state = Guarded(State())

  var nowNs: Int64 { state.withLock { $0.nowNs } }
  /// The server's wall clock is right, whatever the device's says.
  var wallMs: Int64 { ScriptedClock.startWallMs + nowNs / 1_000_000 }
  /// When the next timer is due.
  var nextDueNs: Int64? { state.withLock { $0.timers.min { $0.atNs < $1.atNs }?.atNs } }

  func schedule(atNs: Int64, _ action: @escaping @Sendable () -> Void) -> any EngineTimer {
    let id = state.withLock { state -> Int in
      state.nextID += 1
      state.timers.append(Timer(id: state.nextID, atNs: atNs, action: action))
      return state.nextID
    }
    return RunnerTimer(clock: self, id: id)
  }

  fileprivate func cancel(_ id: Int) {
    state.withLock { state in state.timers.removeAll { $0.id == id } }
  }

  /// Moves to that time, timer by timer in the order they are due.
  func advance(toNs target: Int64) {
    while true {
      let due = state.withLock { state -> Timer? in
        let timers = state.timers
        let next = timers.indices.min {
          (timers[$0].atNs, timers[$0].id) < (timers[$1].atNs, timers[$1].id)
        }
        guard let next, timers[next].atNs <= target else {
          state.nowNs = max(state.nowNs, target)
          return nil
        }
        state.nowNs = max(state.nowNs, timers[next].atNs)
        return state.timers.remove(at: next)
      }
      guard let due else { return }
      due.action()
    }
  }
}

private struct RunnerTimer: EngineTimer {
  let clock: RunnerClock
  let id: Int
  func cancel() { clock.cancel(id) }
}
