import Dispatch

extension TelemetryEnvironment {
  /// The real clock, randomness, keys, network and threads of this platform.
  package static func live(configuration: TelemetryConfiguration) -> TelemetryEnvironment {
    let executor = DispatchExecutor(label: "telemetry")
    return TelemetryEnvironment(
      clock: LiveClock(queue: executor.queue), random: SystemRandomSource(),
      keyStore: StoreFactory.keyStore(configuration), transport: URLSessionTransport(configuration),
      executor: executor)
  }
}

/// The serial executor of the live SDK.
///
/// Waking its thread for each recorded event would cost the recording thread more than a tenth of
/// its time: what need not run at once is gathered for `gatheringMs`.
package final class DispatchExecutor: SerialExecutor {
  package let queue: DispatchQueue
  private let postponed = Guarded<[@Sendable () -> Void]>([])

  package init(label: String) { queue = DispatchQueue(label: label, qos: .utility) }

  package func async(_ work: @escaping @Sendable () -> Void) {
    // Within the lock, so that none who comes later is handed over before.
    postponed.withLock { postponed in
      for earlier in postponed { queue.async(execute: earlier) }
      postponed = []
      queue.async(execute: work)
    }
  }

  package func soon(_ work: @escaping @Sendable () -> Void) {
    let isFirst = postponed.withLock { postponed -> Bool in
      postponed.append(work)
      return postponed.count == 1
    }
    guard isFirst else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(DispatchExecutor.gatheringMs)) { [self] in
      for work in postponed.withLock({ postponed -> [@Sendable () -> Void] in
        defer { postponed = [] }
        return postponed
      }) { work() }
    }
  }

  private static let gatheringMs = 5
}

/// Chance from the operating system's source.
package struct SystemRandomSource: RandomSource {
  package init() {}

  package func next(purpose: String) -> UInt64 {
    var word: UInt64 = 0
    let filled = withUnsafeMutableBytes(of: &word) { SystemRandom.shared.fill($0) }
    // Without system randomness Swift's own generator still never repeats within a process; these
    // draws name events and spread retries, they protect nothing.
    return filled ? word : UInt64.random(in: .min ... .max)
  }
}
