import Dispatch
import Foundation

/// The real clocks.
package final class LiveClock: TelemetryClock {
  private let queue: DispatchQueue
  private let boot: String

  /// Timers fire on the queue.
  package init(queue: DispatchQueue) {
    self.queue = queue
    boot = LiveClock.readBootID()
  }

  package func now() -> Moment {
    #if canImport(Darwin)
      // Runs while the device sleeps: `mach_continuous_time` under its portable name.
      return Moment(nanoseconds: Int64(clamping: clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)))
    #else
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    #endif
  }

  package func wallMs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  package func bootID() -> String { boot }

  package func schedule(
    at moment: Moment, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledTimer {
    let timer = DispatchTimer()
    arm(timer, at: moment, action)
    return timer
  }

  private func arm(
    _ timer: DispatchTimer, at moment: Moment, _ action: @escaping @Sendable () -> Void
  ) {
    let delayMs = min(max(0, moment.milliseconds(since: now()) + 1), LiveClock.longestStepMs)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler { [self] in
      source.cancel()
      // A dispatch timer stands still while the device sleeps, and long delays come in steps:
      // the clock decides.
      if now() < moment { arm(timer, at: moment, action) } else if timer.fire() { action() }
    }
    source.schedule(
      deadline: .now() + .milliseconds(Int(delayMs)), leeway: .milliseconds(LiveClock.leewayMs))
    guard timer.take(source) else { return source.activateAndCancel() }
    source.activate()
  }

  /// So that the system may wake up once for several timers.
  private static let leewayMs = 20
  /// An hour.
  private static let longestStepMs: Int64 = 3_600_000

  private static func readBootID() -> String {
    #if canImport(Darwin)
      var size = 0
      sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0)
      var text = [UInt8](repeating: 0, count: max(size, 1))
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
      return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    #else
      // Without the file moments of two boots cannot be told apart; what a gate granted is still
      // the most that is waited.
      let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    #endif
  }
}

/// A dispatch timer behind the seam; it may need several dispatch sources, one after the other.
private final class DispatchTimer: ScheduledTimer, @unchecked Sendable {
  // Guard: `state` is a lock box, and dispatch sources are thread safe.
  private struct State {
    var source: DispatchSourceTimer?
    var isOver = false
  }
  private let state = Guarded(State())

  /// False where the timer was cancelled already.
  func take(_ source: DispatchSourceTimer) -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.source = source
      return true
    }
  }

  /// True for the one call that may run the action.
  func fire() -> Bool {
    state.withLock { state in
      defer { state = State(source: nil, isOver: true) }
      return !state.isOver
    }
  }

  func cancel() {
    let source = state.withLock { state -> DispatchSourceTimer? in
      defer { state = State(source: nil, isOver: true) }
      return state.source
    }
    source?.cancel()
  }
}

extension DispatchSourceTimer {
  /// An inactive source must not be released: it is activated first.
  fileprivate func activateAndCancel() {
    cancel()
    activate()
  }
}
