/// Measures how long something takes, on a clock that runs while the device sleeps and knows
/// nothing of the wall clock. A value: a copy goes on by itself.
///
/// ```swift
/// var watch = telemetry.stopwatch()
/// loadOrders()
/// telemetry.recordTiming("orders.load", milliseconds: watch.lap())
/// drawOrders()
/// telemetry.recordTiming("orders.draw", milliseconds: watch.lap())
/// ```
public struct Stopwatch: Sendable {
  private let now: @Sendable () -> Moment
  /// When the current stretch began; nil while paused.
  private var since: Moment?
  /// Nanoseconds of earlier stretches.
  private var gathered: Int64 = 0
  /// `elapsed` at the last lap.
  private var lapMark: Int64 = 0

  /// A running stopwatch.
  init(now: @escaping @Sendable () -> Moment) {
    self.now = now
    since = now()
  }

  /// True unless `pause()` is in force.
  public var isRunning: Bool { since != nil }

  /// Milliseconds since the start, pauses left out; never negative.
  public var elapsedMs: Double { Double(elapsed) / 1_000_000 }

  /// Milliseconds since the last lap (the start, for the first), pauses left out.
  public mutating func lap() -> Double {
    let total = elapsed
    defer { lapMark = total }
    return Double(total - lapMark) / 1_000_000
  }

  /// Stops counting until `resume()`. Harmless while paused.
  public mutating func pause() {
    gathered = elapsed
    since = nil
  }

  /// Counts again. Harmless while running.
  public mutating func resume() { if since == nil { since = now() } }

  private var elapsed: Int64 {
    guard let since else { return gathered }
    let (stretch, overflow) = now().nanoseconds.subtractingReportingOverflow(since.nanoseconds)
    return gathered + (overflow ? 0 : max(0, stretch))
  }
}
