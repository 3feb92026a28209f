import TelemetrySDK

/// A clock that stands where a test sets it: both hands, and the boot. It has no timers.
package final class SettableClock: TelemetryClock {
  package struct Hands: Sendable {
    package var sinceBootMs: Int64
    package var wallMs: Int64
    package var boot: String

    package init(sinceBootMs: Int64, wallMs: Int64, boot: String) {
      self.sinceBootMs = sinceBootMs
      self.wallMs = wallMs
      self.boot = boot
    }
  }

  private let hands: Guarded<Hands>

  package init(sinceBootMs: Int64 = 1_000, wallMs: Int64 = 1_767_600_000_000, boot: String = "b") {
    hands = Guarded(Hands(sinceBootMs: sinceBootMs, wallMs: wallMs, boot: boot))
  }

  /// Moves the hands.
  package func set(_ body: (inout Hands) -> Void) { hands.withLock { body(&$0) } }

  /// Lets time pass on both clocks.
  package func advance(ms: Int64) {
    set {
      $0.sinceBootMs += ms
      $0.wallMs += ms
    }
  }

  package func now() -> Moment {
    Moment(nanoseconds: hands.withLock { $0.sinceBootMs } * 1_000_000)
  }
  package func wallMs() -> Int64 { hands.withLock { $0.wallMs } }
  package func bootID() -> String { hands.withLock { $0.boot } }

  package func schedule(
    at moment: Moment, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledTimer {
    NoTimer()
  }

  private struct NoTimer: ScheduledTimer {
    func cancel() {}
  }
}
