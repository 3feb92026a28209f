import Foundation

@testable import MockBatchServer

/// A clock that moves only when told.
final class ManualEngineClock: EngineClock {
  private struct State {
    var now: Int64 = 0
    var nextID = 0
    var due: [Int: (atNs: Int64, action: @Sendable () -> Void)] = [:]
  }
  private let state = Guarded(State())
  private let scheduled = DispatchSemaphore(value: 0)

  var nowNs: Int64 { state.access { $0.now } }
  var wallMs: Int64 { 784_111_777_000 + nowNs / 1_000_000 }

  func schedule(atNs: Int64, _ action: @escaping @Sendable () -> Void) -> any EngineTimer {
    let id = state.access { state -> Int in
      state.nextID += 1
      state.due[state.nextID] = (atNs, action)
      return state.nextID
    }
    scheduled.signal()
    return Timer { [state] in state.access { $0.due[id] = nil } }
  }

  /// When the next call is due.
  var nextDueNs: Int64? { state.access { $0.due.values.map(\.atNs).min() } }

  /// Moves the clock to the next call that is due before `limitNs` and makes it; waits for one
  /// where there is none. False when the guard of 60 s expires.
  func advanceToNextDue(before limitNs: Int64) -> Bool {
    while true {
      if let due = nextDueNs, due < limitNs {
        advance(toNs: due)
        return true
      }
      if scheduled.wait(timeout: .now() + 60) == .timedOut { return false }
    }
  }

  /// Moves the clock and makes the calls that are due.
  func advance(toNs now: Int64) {
    let actions = state.access { state -> [@Sendable () -> Void] in
      state.now = max(state.now, now)
      let ready = state.due.filter { $0.value.atNs <= state.now }
      for id in ready.keys { state.due[id] = nil }
      return ready.values.sorted { $0.atNs < $1.atNs }.map(\.action)
    }
    for action in actions { action() }
  }

  private struct Timer: EngineTimer {
    let take: @Sendable () -> Void
    func cancel() { take() }
  }
}
