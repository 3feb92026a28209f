/// Pauses delivery when body after body is refused for good: a gateway that answers 403 for an
/// hour must not pour the queue into the quarantine.
package struct RefusalPause: Sendable, Equatable {
  package struct Limits: Sendable, Equatable {
    /// Refused bodies in a row, without a 2xx between, before the first pause.
    package var bodies: Int
    package var firstMs: Int64
    package var capMs: Int64

    package init(bodies: Int, firstMs: Int64, capMs: Int64) {
      self.bodies = max(1, bodies)
      self.firstMs = max(1, firstMs)
      self.capMs = max(self.firstMs, capMs)
    }
  }

  /// Events of the body that probes whether the server takes some again.
  package static let probeEvents = 10

  package let limits: Limits
  package var inRow = 0
  /// How many pauses came without a 2xx between.
  package var level = 0
  package var until: Moment?

  package init(limits: Limits) { self.limits = limits }

  /// True after a pause, until a 2xx: bodies are small then.
  package var isProbing: Bool { level > 0 }

  /// A body was refused and its rows went to quarantine. Returns the pause where one begins.
  package mutating func refused(now: Moment) -> Int64? {
    inRow = min(inRow + 1, limits.bodies)
    guard isProbing || inRow >= limits.bodies else { return nil }
    let pauseMs = RetrySchedule(baseMs: limits.firstMs, capMs: limits.capMs)
      .ceilingMs(failures: level)
    level = min(level + 1, RefusalPause.maxLevel)
    until = now.adding(milliseconds: pauseMs)
    return pauseMs
  }

  package mutating func accepted() {
    inRow = 0
    level = 0
    until = nil
  }

  private static let maxLevel = 62
}
