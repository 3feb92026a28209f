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
package final class DispatchExecutor: SerialExecutor {
  package let queue: DispatchQueue

  package init(label: String) { queue = DispatchQueue(label: label, qos: .utility) }

  package func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
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
