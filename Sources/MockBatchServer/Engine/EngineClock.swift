import Dispatch
import Foundation

/// Time as the engine sees it: every delay, window, gate timeout, token expiry and `Date` header
/// is read from here, so a scripted clock makes eight hours of faults take milliseconds.
///
/// Implementations are thread safe.
public protocol EngineClock: Sendable {
  /// Nanoseconds since this clock started. Never runs backwards.
  var nowNs: Int64 { get }
  /// The wall clock, milliseconds since 1970: `Date` headers and `Retry-After` dates.
  var wallMs: Int64 { get }
  /// Calls `action` once, at or after `atNs` on this clock, on any thread and never inline. After
  /// `cancel` returned no new call starts.
  func schedule(atNs: Int64, _ action: @escaping @Sendable () -> Void) -> any EngineTimer
}

/// A call that `EngineClock.schedule` owes.
public protocol EngineTimer: Sendable {
  /// Takes the call back. Harmless when it has been made already.
  func cancel()
}

/// The real clock: a monotonic clock that starts at zero when it is made, and the system's wall
/// clock.
public final class LiveEngineClock: EngineClock {
  private let start: UInt64
  private let queue: DispatchQueue

  /// Starts the clock at zero.
  public init() {
    start = DispatchTime.now().uptimeNanoseconds
    queue = DispatchQueue(label: "mock-batch-server.clock")
  }

  /// Nanoseconds since the clock was made.
  public var nowNs: Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds &- start) }

  /// Milliseconds since 1970 by the system's clock.
  public var wallMs: Int64 {
    var time = timespec()
    // CLOCK_REALTIME with a valid pointer has no way to fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Calls `action` on the clock's own queue.
  public func schedule(
    atNs: Int64, _ action: @escaping @Sendable () -> Void
  ) -> any EngineTimer {
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    let due = UInt64(clamping: max(0, atNs)).addingReportingOverflow(start)
    timer.schedule(
      deadline: due.overflow ? .distantFuture : DispatchTime(uptimeNanoseconds: due.partialValue),
      leeway: .nanoseconds(0))
    let box = LiveTimer(source: timer)
    timer.setEventHandler {
      box.cancel()
      action()
    }
    timer.resume()
    return box
  }
}

/// Guard: a dispatch source may be cancelled from any thread.
private final class LiveTimer: EngineTimer, @unchecked Sendable {
  private let source: any DispatchSourceTimer
  init(source: any DispatchSourceTimer) { self.source = source }
  func cancel() { source.cancel() }
}
