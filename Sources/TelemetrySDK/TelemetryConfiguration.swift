/// How much a receipt promises.
public enum Durability: String, Sendable, Hashable, CaseIterable {
  /// SIGKILL after the receipt loses nothing; a power loss takes at most the last 500 ms.
  case processKill
  /// Synced to the medium before `.durable`; the synchronous `record` answers
  /// `.buffered(_, .syncPending)` rather than block on the device.
  case powerLoss
}

/// The JSON around the events of a batch.
public enum BatchEnvelope: Sendable, Hashable {
  /// `{"key":[…]}`.
  case object(key: String)
  /// `[…]`.
  case array
}

/// What `batchLimitBytes` measures.
public enum BatchMeasure: String, Sendable, Hashable, CaseIterable {
  /// The JSON before compression.
  case uncompressed
  /// The gzip body as it goes over the wire.
  case wire
}

/// What to do with events of an account that is not the token's.
public enum ForeignAccountPolicy: String, Sendable, Hashable, CaseIterable {
  /// They wait for a token of theirs.
  case wait
  /// They go out under the token at hand, in batches of their own.
  case send
  /// They are deleted, counted as purged.
  case purge
}

/// Every limit and choice of the SDK. Units end the names; KB means 1,000 bytes.
///
/// The defaults are listed with their reasons in docs/reference/limits.md.
public struct TelemetryConfiguration: Sendable {
  /// Where batches are posted: an absolute `https` URL (`http` for development servers).
  public var endpoint: String
  /// Folder of the queue's files and its keys, one per process. Created when missing. On Apple's
  /// platforms both are excluded from backups and readable from the first unlock on.
  ///
  /// The keys lie in the folder as files, on Apple's platforms as well: there is no Keychain store
  /// yet. Encryption protects a queue that is copied without them, and nothing from who can read
  /// the folder.
  public var directory: String
  /// How much a receipt promises.
  public var durability = Durability.processKill

  /// Bytes on disk, everything together. Over it the oldest events go. At least 4 MB.
  public var queueCapBytes = 20_000_000
  /// Of these, bytes of quarantined events. At most half of the cap.
  public var quarantineCapBytes = 2_000_000
  /// Of these, bytes of the write-ahead log: 200 KB to a quarter of the cap. A small log bounds the
  /// single event, too: to 50 KB at the least budget, to more than a batch at the default.
  public var walBudgetBytes = 2_000_000
  /// Events older than this are dropped, on a wall clock that the server confirmed.
  public var maxAgeMs: Int64 = 30 * 86_400_000
  /// Bytes of events held in memory while the store takes no writes.
  public var memoryBufferBytes = 512_000
  /// How long `record` may wait for the store's lock.
  public var recordWaitMs: Int64 = 50
  /// How long committed events may wait for the flush to the medium.
  public var syncIntervalMs: Int64 = 500
  /// Seals under one key before a new one is made.
  public var keyMaxSeals: Int64 = 1 << 28
  /// Age of a key before a new one is made.
  public var keyMaxAgeMs: Int64 = 90 * 86_400_000
  /// True: events of old keys are sealed anew under the current one, a few at each upkeep, so that
  /// an old key is gone long before its last event is delivered. A kill in between costs nothing.
  public var resealsOldRows = false

  /// Bytes of one batch, envelope included. At least 1 KB.
  public var batchLimitBytes = 256_000
  /// What `batchLimitBytes` measures.
  public var batchMeasure = BatchMeasure.uncompressed
  /// Events of one batch.
  public var batchMaxEvents = 1_000
  /// The JSON around the events.
  public var envelope = BatchEnvelope.object(key: "events")
  /// zlib's level, 1 (fast) to 9 (small).
  public var gzipLevel = 6
  /// Levels of arrays and objects in a payload, at most 125.
  public var maxPayloadDepth = 64

  /// While active and something is queued, a batch goes out after this time.
  public var flushIntervalMs: Int64 = 30_000
  /// The same in Low Power Mode.
  public var lowPowerIntervalMs: Int64 = 300_000
  /// With an unsatisfied path, or without a usable token, a try is made after this time.
  public var probeIntervalMs: Int64 = 300_000
  /// A request without an answer is cancelled after this time, plus one second for every
  /// `slowLinkBytesPerSecond` bytes of its body.
  public var requestTimeoutMs: Int64 = 30_000
  /// The most that such an extension can reach.
  public var resourceTimeoutMs: Int64 = 120_000
  /// The slowest link for which `requestTimeoutMs` is extended.
  public var slowLinkBytesPerSecond = 2_000
  /// The provider's time to answer.
  public var tokenTimeoutMs: Int64 = 30_000
  /// The first failure waits at least this long.
  public var backoffBaseMs: Int64 = 2_000
  /// No own backoff waits longer than this.
  public var backoffCapMs: Int64 = 300_000
  /// `Retry-After` is obeyed up to this time.
  public var retryAfterCapMs: Int64 = 86_400_000
  /// Bodies in a row with a final 4xx before delivery pauses.
  public var refusalsBeforePause = 3
  /// The first pause; it doubles with each refused probe.
  public var refusalPauseMs: Int64 = 300_000
  /// The longest pause.
  public var refusalPauseCapMs: Int64 = 6 * 3_600_000
  /// Path restored and foreground cut a network delay short at most this often.
  public var restoreThrottleMs: Int64 = 30_000
  /// Spread of the try after the path came back, so that a cell's phones do not call together.
  public var restoreJitterMs: Int64 = 5_000
  /// Time in the background after which a new session begins.
  public var sessionTimeoutMs: Int64 = 30 * 60_000

  /// Splits a refused body to save the good events in it, at the price of more requests.
  public var isolatesRefusedBodies = false
  /// What happens with events of other accounts.
  public var foreignAccounts = ForeignAccountPolicy.wait
  /// Whether expensive paths (cellular, hotspot) are used.
  public var allowsExpensivePaths = true
  /// Whether constrained paths (Low Data Mode) are used.
  public var allowsConstrainedPaths = true
  /// Whether the folder is shared with other processes (an app group). The store then closes
  /// while the app is in the background, so that no file lock is held in suspension.
  public var directoryIsShared = false
  /// Whether background tasks are asked for. The app must have registered them.
  public var schedulesBackgroundTasks = false
  /// Whether recording and delivery are allowed at start; see `Telemetry.setConsent`.
  public var consent = true

  /// Sees each event before it is stored, on the thread that records it; may change it, or drop
  /// it by answering nil. May call any method of `Telemetry`; recording from inside the hook must
  /// end by itself.
  public var beforeSend: (@Sendable (TelemetryEvent) -> TelemetryEvent?)?

  /// Makes a configuration of defaults.
  public init(endpoint: String, directory: String) {
    self.endpoint = endpoint
    self.directory = directory
  }
}
