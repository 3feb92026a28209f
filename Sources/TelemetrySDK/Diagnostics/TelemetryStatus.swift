/// What delivery is doing, or what it waits for.
public enum DeliveryState: Sendable, Hashable {
  /// Nothing to send, or waiting for a trigger.
  case idle
  /// A batch is being prepared, sent or settled.
  case sending
  /// After a failure; the next try is due in so many milliseconds.
  case backingOff(remainingMs: Int64)
  /// The server asked for a pause (`Retry-After`).
  case gatedByServer(remainingMs: Int64)
  /// The provider is being asked, or gave no usable token.
  case waitingForToken
  /// Three bodies in a row were refused.
  case pausedByRefusals(remainingMs: Int64)
  /// The path is unsatisfied, or forbidden by policy (expensive, constrained).
  case offline
  /// Low Power Mode stretches the timers; something waits.
  case lowPower
  /// In the background without time granted.
  case suspended
  /// The store cannot be opened or read just now.
  case storageUnavailable
  /// No consent, shut down, or an invalid configuration.
  case disabled
}

/// How the latest request ended.
public enum DeliveryOutcome: Sendable, Hashable {
  /// An HTTP answer came.
  case answered(status: Int)
  /// None came; the code is `URLError.Code.rawValue`.
  case failed(code: Int)
}

/// A picture of the queue and of delivery. Cheap; from any thread; never blocks on the disk.
public struct TelemetryStatus: Sendable, Hashable {
  /// Events in the queue, those in flight included.
  public var queued = 0
  /// Of these, events whose key is not there just now, or that a later version of the SDK stored:
  /// they wait for it until the age limit.
  public var unreadable = 0
  /// Events in the request under way.
  public var inFlight = 0
  /// Events in the memory buffer: a kill loses these.
  public var buffered = 0
  /// Bytes in the memory buffer.
  public var bufferedBytes = 0
  /// Events in quarantine.
  public var quarantined = 0
  /// Bytes on disk: database, write-ahead log, shared memory and quarantine together.
  public var bytesOnDisk: Int64 = 0
  /// Age of the oldest queued event by the wall clock, milliseconds. Nil where nothing is queued.
  public var oldestAgeMs: Int64?
  /// What delivery is doing.
  public var state = DeliveryState.idle
  /// The latest answer or failure of this process.
  public var lastOutcome: DeliveryOutcome?
  /// Where every committed event went; survives kills.
  public var ledger = ConservationLedger()
  /// Events that `record` did not take, by reason, since `start`.
  public var rejected: [RejectReason: Int] = [:]
  /// Requests sent since `start`.
  public var requests = 0
  /// The session that events carry now. Nil until the store has told whether to continue one.
  public var sessionID: String?

  /// An empty picture.
  public init() {}
}
