/// A moment on a clock that runs while the device sleeps and knows nothing of the wall clock
/// (`mach_continuous_time`, `CLOCK_BOOTTIME`), in nanoseconds since boot.
public struct Moment: Hashable, Comparable, Sendable {
  /// Nanoseconds since boot.
  public var nanoseconds: Int64
  /// Makes a moment from nanoseconds since boot.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
  /// Orders by time.
  public static func < (left: Moment, right: Moment) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
  /// Saturating, so that absurd delays never trap.
  package func adding(milliseconds: Int64) -> Moment {
    let (product, productOverflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    guard !productOverflow else { return Moment(nanoseconds: milliseconds < 0 ? .min : .max) }
    let (sum, overflow) = nanoseconds.addingReportingOverflow(product)
    return Moment(nanoseconds: overflow ? (product < 0 ? .min : .max) : sum)
  }
  /// Whole milliseconds from `earlier` to here, saturating.
  package func milliseconds(since earlier: Moment) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    guard !overflow else { return nanoseconds < earlier.nanoseconds ? .min : .max }
    return difference / 1_000_000
  }
}

/// Time as the SDK sees it. Implementations are thread safe.
package protocol TelemetryClock: Sendable {
  /// The monotonic clock: durations, delays, deadlines.
  func now() -> Moment
  /// The wall clock, milliseconds since 1970: stamps events, reads HTTP dates, nothing else.
  func wallMs() -> Int64
  /// Names this boot of the device; moments of different boots are not comparable.
  func bootID() -> String
  /// Calls back once at or after the moment, on any thread. The returned timer can be cancelled;
  /// after `cancel` returns no new call starts.
  func schedule(at moment: Moment, _ action: @escaping @Sendable () -> Void) -> ScheduledTimer
}

/// A timer that `TelemetryClock.schedule` made.
package protocol ScheduledTimer: Sendable {
  func cancel()
}

/// Chance as the SDK sees it: jitter and sampling. Never used for nonces or keys.
package protocol RandomSource: Sendable {
  /// Uniform in 0 ..< 2⁶⁴. `purpose` names the draw, so that a scripted run can key it.
  func next(purpose: String) -> UInt64
}

/// The serial executor that owns the SDK's loop. The live one is a dispatch queue; scripted hosts
/// bring their own so that they can tell when no work is left.
package protocol SerialExecutor: Sendable {
  /// Runs later, in order, one at a time. Never inline.
  func async(_ work: @escaping @Sendable () -> Void)
  /// The same for work that nobody waits for: it may come a few milliseconds later, though before
  /// whatever is handed to `async` afterwards.
  func soon(_ work: @escaping @Sendable () -> Void)
}

extension SerialExecutor {
  /// At once, where waking up costs nothing.
  package func soon(_ work: @escaping @Sendable () -> Void) { async(work) }
}

/// Everything that reaches the SDK from outside: time, chance, network, keys, threads.
package struct TelemetryEnvironment: Sendable {
  package var clock: any TelemetryClock
  package var random: any RandomSource
  package var keyStore: any KeyStore
  package var transport: any BatchTransport
  package var executor: any SerialExecutor
  /// Nil where the platform grants no time in the background.
  package var assertions: (any BackgroundAssertions)?
  /// Nil where the platform wakes no app.
  package var taskScheduling: (any BackgroundTaskScheduling)?
  /// Whether the store may use threads of its own for checkpoints and syncs. A scripted host says
  /// no, so that all work happens within its calls.
  package var storeUsesThreads: Bool

  package init(
    clock: any TelemetryClock, random: any RandomSource, keyStore: any KeyStore,
    transport: any BatchTransport, executor: any SerialExecutor,
    assertions: (any BackgroundAssertions)? = nil,
    taskScheduling: (any BackgroundTaskScheduling)? = nil, storeUsesThreads: Bool = true
  ) {
    self.assertions = assertions
    self.taskScheduling = taskScheduling
    self.storeUsesThreads = storeUsesThreads
    self.clock = clock
    self.random = random
    self.keyStore = keyStore
    self.transport = transport
    self.executor = executor
  }
}
