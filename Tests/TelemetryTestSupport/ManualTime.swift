import TelemetrySDK

/// A clock that moves when the test says so, and fires timers on the way, in order.
package final class ManualTime: TelemetryClock {
  private struct Entry {
    let moment: Moment
    let number: Int
    let action: @Sendable () -> Void
  }
  private struct State {
    var now = Moment(nanoseconds: 1_000_000_000_000)
    /// Wall clock minus monotonic clock, ms.
    var wallOffsetMs: Int64 = 1_767_600_000_000
    var boot = "boot-1"
    var timers: [Int: Entry] = [:]
    var next = 0
  }
  private let state = Guarded(State())

  package init() {}

  package func now() -> Moment { state.withLock { $0.now } }

  package func wallMs() -> Int64 {
    state.withLock { $0.now.nanoseconds / 1_000_000 + $0.wallOffsetMs }
  }

  package func bootID() -> String { state.withLock { $0.boot } }

  /// The wall clock jumps; the monotonic one does not.
  package func jumpWall(byMs ms: Int64) { state.withLock { $0.wallOffsetMs += ms } }

  /// Another boot: the monotonic clock starts over. Timers of the dead process are gone.
  package func reboot() {
    state.withLock { state in
      state.wallOffsetMs += state.now.nanoseconds / 1_000_000 - 5_000
      state.now = Moment(nanoseconds: 5_000_000_000)
      state.boot += "+"
      state.timers = [:]
    }
  }

  /// Timers of a process that died.
  package func dropTimers() { state.withLock { $0.timers = [:] } }

  package func schedule(
    at moment: Moment, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledTimer {
    let number = state.withLock { state -> Int in
      state.next += 1
      state.timers[state.next] = Entry(moment: moment, number: state.next, action: action)
      return state.next
    }
    return Cancel { [weak self] in self?.state.withLock { $0.timers[number] = nil } }
  }

  /// When the earliest timer is due.
  package var nextDue: Moment? { state.withLock { $0.timers.values.map(\.moment).min() } }
  package var timerCount: Int { state.withLock { $0.timers.count } }

  /// Moves to the moment, or to the first timer before it, which fires. True where one fired.
  package func step(to target: Moment) -> Bool {
    let entry = state.withLock { state -> Entry? in
      let due = state.timers.values.filter { $0.moment <= target }
        .min { ($0.moment, $0.number) < ($1.moment, $1.number) }
      state.now = max(state.now, due?.moment ?? target)
      if let due { state.timers[due.number] = nil }
      return due
    }
    entry?.action()
    return entry != nil
  }

  private struct Cancel: ScheduledTimer {
    let action: @Sendable () -> Void
    func cancel() { action() }
  }
}

/// Runs work when the test says so.
package final class QueueExecutor: TelemetrySDK.SerialExecutor {
  private let work = Guarded<[@Sendable () -> Void]>([])

  package init() {}

  package func async(_ work: @escaping @Sendable () -> Void) {
    self.work.withLock { $0.append(work) }
  }

  /// Runs everything, also what comes meanwhile.
  package func run() {
    while true {
      let next = work.withLock { work -> (@Sendable () -> Void)? in
        work.isEmpty ? nil : work.removeFirst()
      }
      guard let next else { return }
      next()
    }
  }

  package func drop() { work.withLock { $0 = [] } }
}

/// Chance that repeats: splitmix64.
package final class SeededRandom: RandomSource {
  private let state: Guarded<UInt64>

  package init(_ seed: UInt64) { state = Guarded(seed) }

  package func next(purpose: String) -> UInt64 { next() }

  package func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }

  /// Uniform in 0 ..< bound.
  package func below(_ bound: Int) -> Int {
    bound <= 1 ? 0 : Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}
