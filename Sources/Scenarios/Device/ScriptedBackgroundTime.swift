import TelemetrySDK

/// The system's part of background time: grants it, takes it back when it is used up or the script
/// says so, and tells each turn.
///
/// Thread safe.
final class ScriptedBackgroundTime: BackgroundAssertions {
  private struct State {
    var last = 0
    /// What tells the SDK that the time is over; nil once it was told.
    var assertions: [Int: (@Sendable () -> Void)?] = [:]
    var tasks: [Int: @Sendable () -> Void] = [:]
    var timers: [Int: any ScheduledTimer] = [:]
  }
  private let clock: ScriptedClock
  private let incarnation: Int
  /// How long an assertion lasts, milliseconds; 0: none is granted.
  private let assertionMs: Int64
  private let say: @Sendable (_ kind: String, _ what: String) -> Void
  private let state = Guarded(State())

  /// How long a background task may run, milliseconds: what the system usually grants.
  private static let taskMs: Int64 = 30_000

  init(
    clock: ScriptedClock, incarnation: Int, assertionMs: Int64,
    say: @escaping @Sendable (_ kind: String, _ what: String) -> Void
  ) {
    self.clock = clock
    self.incarnation = incarnation
    self.assertionMs = assertionMs
    self.say = say
  }

  // MARK: Assertions, which the SDK asks for

  func begin(_ expiring: @escaping @Sendable () -> Void) -> Int? {
    guard assertionMs > 0 else { return nil }
    let id = state.withLock { state -> Int in
      state.last += 1
      state.assertions[state.last] = .some(expiring)
      return state.last
    }
    tell("assertion", id, "begun")
    expire(id, afterMs: assertionMs) { [weak self] in self?.expireAssertion(id) }
    return id
  }

  /// Also said of one that was ended before: whether it was is the checker's to judge.
  func end(_ id: Int) {
    state.withLock { state -> (any ScheduledTimer)? in
      state.assertions[id] = nil
      return state.timers.removeValue(forKey: id)
    }?.cancel()
    tell("assertion", id, "ended")
  }

  private func expireAssertion(_ id: Int) {
    let expiring = state.withLock { state -> (@Sendable () -> Void)? in
      guard let known = state.assertions[id], let expiring = known else { return nil }
      state.assertions[id] = .some(nil)
      return expiring
    }
    guard let expiring else { return }
    tell("assertion", id, "expiring")
    expiring()
  }

  // MARK: Tasks, which the system wakes the app for

  /// - Parameter start: hands the task to the SDK, with what is to be called at its end; returns
  ///   what tells that the time is over.
  func grantTask(
    _ start: (_ completion: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void
  ) {
    let id = state.withLock { state -> Int in
      state.last += 1
      return state.last
    }
    tell("task", id, "begun")
    let expire = start { [weak self] _ in self?.taskEnded(id) }
    state.withLock { $0.tasks[id] = expire }
    self.expire(id, afterMs: ScriptedBackgroundTime.taskMs) { [weak self] in self?.expireTask(id) }
  }

  private func taskEnded(_ id: Int) {
    state.withLock { state -> (any ScheduledTimer)? in
      state.tasks[id] = nil
      return state.timers.removeValue(forKey: id)
    }?.cancel()
    tell("task", id, "ended")
  }

  private func expireTask(_ id: Int) {
    guard let expire = state.withLock({ $0.tasks.removeValue(forKey: id) }) else { return }
    tell("task", id, "expiring")
    expire()
  }

  // MARK: The system's will

  /// Takes back all that is held.
  func expireAll() {
    let (assertions, tasks) = state.withLock {
      ($0.assertions.keys.sorted(), $0.tasks.keys.sorted())
    }
    for id in assertions { expireAssertion(id) }
    for id in tasks { expireTask(id) }
  }

  private func expire(_ id: Int, afterMs: Int64, _ action: @escaping @Sendable () -> Void) {
    let timer = clock.schedule(at: clock.now().adding(milliseconds: afterMs), action)
    let isHeld = state.withLock { state -> Bool in
      state.timers[id] = timer
      return state.assertions[id] != nil || state.tasks[id] != nil
    }
    if !isHeld { timer.cancel() }
  }

  private func tell(_ kind: String, _ id: Int, _ what: String) {
    say(kind, "\(incarnation).\(id) \(what)")
  }
}
