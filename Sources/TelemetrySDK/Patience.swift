#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The one wait that a caller on the app's thread grants: whatever it waits for and however
/// often, all its waits together end by the same moment.
///
/// Counts on a clock of its own that does not jump with the wall clock: a lock is waited for in
/// real time, also where a scripted host stops the SDK's clock.
package struct Patience: Sendable {
  private let limitNs: Int64
  private var deadlineNs: Int64?

  /// - Parameter limitMs: 0 never waits; more than a day counts as a day.
  package init(limitMs: Int64) {
    limitNs = min(max(0, limitMs), Patience.mostMs) * 1_000_000
  }

  /// True where some of it has been asked for: whoever never waits reads no clock.
  package var isBegun: Bool { deadlineNs != nil }

  /// False where waiting was never granted: such a call only tries.
  package var mayWait: Bool { limitNs > 0 }

  /// When the wait is over; the first call starts it.
  mutating func deadline() -> Int64 {
    if let deadlineNs { return deadlineNs }
    let deadline = Patience.nowNs() + limitNs
    deadlineNs = deadline
    return deadline
  }

  /// Nanoseconds left, at least 0; the first call starts the wait.
  package mutating func leftNs() -> Int64 { max(0, deadline() - Patience.nowNs()) }

  static func nowNs() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static let mostMs: Int64 = 86_400_000
}
