import TelemetrySDK

/// The device's serial executor: one queue that the host empties itself, so that it can tell when
/// no work is left.
///
/// Thread safe. Work runs only in `runAll`, on the thread that calls it.
package final class ScriptedExecutor: SerialExecutor {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var onWork: (@Sendable () -> Void)?
  }
  private let state = Guarded(State())

  package init() {}

  /// Called after work came from any thread, to wake the host's loop.
  func onWork(_ callback: @escaping @Sendable () -> Void) {
    state.withLock { $0.onWork = callback }
  }

  package func async(_ work: @escaping @Sendable () -> Void) {
    let callback = state.withLock { state -> (@Sendable () -> Void)? in
      state.work.append(work)
      return state.onWork
    }
    callback?()
  }

  /// Runs until nothing is left, work that work adds included.
  package func runAll() {
    while true {
      let batch = state.withLock { state -> [@Sendable () -> Void] in
        defer { state.work = [] }
        return state.work
      }
      guard !batch.isEmpty else { return }
      for work in batch { work() }
    }
  }

  /// Forgets all work: its owner is dead.
  func discard() { state.withLock { $0 = State() } }

  package var isEmpty: Bool { state.withLock { $0.work.isEmpty } }
}

/// The device's clock: stands still until the runner moves it.
///
/// Thread safe; timers fire in `advance`, on the thread that calls it.
package final class ScriptedClock: TelemetryClock {
  /// 2026-01-05T08:00:00Z, where every scenario starts.
  package static let startWallMs: Int64 = 1_767_600_000_000
  /// The device has been up this long when a scenario starts.
  private static let uptimeAtStartNs: Int64 = 3_600_000_000_000

  private struct Timer {
    var id: UInt64
    var dueNs: Int64
    var action: @Sendable () -> Void
  }
  private struct State {
    var nowNs: Int64
    var bootNs: Int64
    var boot: String
    var wallOffsetNs: Int64
    var nextID: UInt64 = 0
    var timers: [Timer] = []
  }
  private let state: Guarded<State>

  /// `bootNs`: the scenario time of the last boot; 0 for the device that was up before the start.
  package init(nowNs: Int64, bootNs: Int64 = 0, boot: String = "boot-1", wallOffsetNs: Int64 = 0) {
    let base = bootNs == 0 ? -ScriptedClock.uptimeAtStartNs : bootNs
    state = Guarded(State(nowNs: nowNs, bootNs: base, boot: boot, wallOffsetNs: wallOffsetNs))
  }

  package func now() -> Moment {
    state.withLock { Moment(nanoseconds: $0.nowNs - $0.bootNs) }
  }

  package func wallMs() -> Int64 {
    state.withLock { ScriptedClock.startWallMs + ($0.nowNs + $0.wallOffsetNs) / 1_000_000 }
  }

  package func bootID() -> String { state.withLock { $0.boot } }

  package func schedule(
    at moment: Moment, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledTimer {
    let id = state.withLock { state -> UInt64 in
      state.nextID += 1
      let (due, overflow) = moment.nanoseconds.addingReportingOverflow(state.bootNs)
      state.timers.append(
        Timer(id: state.nextID, dueNs: overflow ? .max : due, action: action))
      return state.nextID
    }
    return ScriptedTimer(clock: self, id: id)
  }

  fileprivate func cancel(_ id: UInt64) {
    state.withLock { state in state.timers.removeAll { $0.id == id } }
  }

  /// Scenario time of the next timer; nil without one.
  package var nextDueNs: Int64? {
    state.withLock { $0.timers.min { $0.dueNs < $1.dueNs }?.dueNs }
  }
  package var nowNs: Int64 { state.withLock { $0.nowNs } }

  /// Forgets all timers: their owner is dead.
  func discard() { state.withLock { $0.timers = [] } }

  func setWallOffset(ns: Int64) { state.withLock { $0.wallOffsetNs = ns } }

  /// Moves to that scenario time, timer by timer in the order they are due; `afterEach` runs the
  /// work a timer started before the next one fires.
  package func advance(toNs target: Int64, afterEach: () -> Void) {
    while true {
      let due = state.withLock { state -> Timer? in
        let timers = state.timers
        let next = timers.indices.min {
          (timers[$0].dueNs, timers[$0].id) < (timers[$1].dueNs, timers[$1].id)
        }
        guard let next, timers[next].dueNs <= target else {
          state.nowNs = max(state.nowNs, target)
          return nil
        }
        state.nowNs = max(state.nowNs, timers[next].dueNs)
        return state.timers.remove(at: next)
      }
      guard let due else { return }
      due.action()
      afterEach()
    }
  }
}

private struct ScriptedTimer: ScheduledTimer {
  let clock: ScriptedClock
  let id: UInt64
  func cancel() { clock.cancel(id) }
}

/// Chance that replays: keyed by seed, incarnation, purpose, and the draw's number within its
/// purpose, so that neither a restart nor a draw for another purpose changes it.
package final class ScriptedRandom: RandomSource {
  private let seed: UInt64
  private let incarnation: UInt64
  private let counters = Guarded<[String: UInt64]>([:])

  package init(seed: UInt64, incarnation: UInt64) {
    self.seed = seed
    self.incarnation = incarnation
  }

  package func next(purpose: String) -> UInt64 {
    let counter = counters.withLock { counters -> UInt64 in
      let counter = counters[purpose, default: 0]
      counters[purpose] = counter + 1
      return counter
    }
    return ScriptedRandom.draw(key(purpose), counter)
  }

  private func key(_ purpose: String) -> UInt64 {
    var hash = ScriptedRandom.mix(seed ^ 0x9e37_79b9_7f4a_7c15)
    hash = ScriptedRandom.mix(hash ^ incarnation &* 0xff51_afd7_ed55_8ccd)
    for byte in purpose.utf8 { hash = ScriptedRandom.mix(hash ^ UInt64(byte)) }
    return hash
  }

  private static func draw(_ key: UInt64, _ counter: UInt64) -> UInt64 {
    mix(key ^ counter &* 0xc4ce_b9fe_1a85_ec53)
  }

  /// The first draws for a purpose, without counting them: for whoever needs many at once.
  func first(_ count: Int, purpose: String) -> [UInt64] {
    let key = key(purpose)
    return (0..<count).map { ScriptedRandom.draw(key, UInt64($0)) }
  }

  /// The finaliser of SplitMix64.
  private static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
