/// How an explicit `flush` or `deliverInBackground` ended.
public struct FlushReport: Sendable, Hashable {
  /// Why the call returned.
  public enum Ending: String, Sendable, Hashable, CaseIterable {
    /// Everything recorded before the call was delivered or has left the queue.
    case drained
    /// The time given ran out.
    case timedOut
    /// The server asked for a pause (`Retry-After`) that ends after the time given.
    case gatedByServer
    /// The next try after a failure is due after the time given.
    case backingOff
    /// The network is not reachable, or not allowed by policy.
    case offline
    /// No usable token; also: the rest belongs to accounts that hold no token now.
    case waitingForToken
    /// Three bodies in a row were refused; delivery pauses.
    case pausedByRefusals
    /// The store cannot be read just now.
    case storageUnavailable
    /// Delivery is off: no consent, or an invalid configuration.
    case disabled
    /// `shutdown()` or `purge()` ended it.
    case cancelled
  }

  /// Why the call returned.
  public var ending: Ending
  /// Events acknowledged by the server during the call.
  public var sent: Int
  /// Events still queued or buffered at the end, later ones included.
  public var remaining: Int
  /// Events that went to the quarantine during the call: refused, rejected by name, too large or
  /// unreadable. They are kept; see `Telemetry.quarantined(limit:)`.
  public var quarantined: Int
  /// Events that were lost during the call, each for a reason that `diagnostics` names.
  public var dropped: Int

  /// Makes a report.
  public init(
    ending: Ending, sent: Int = 0, remaining: Int = 0, quarantined: Int = 0, dropped: Int = 0
  ) {
    self.ending = ending
    self.sent = sent
    self.remaining = remaining
    self.quarantined = quarantined
    self.dropped = dropped
  }
}
