/// Everything that can happen to the delivery engine.
///
/// Answers to effects carry the generation of the effect that asked, so that late ones are
/// recognised and ignored.
package enum DeliveryInput: Sendable, Equatable {
  // What the host and the phone say.
  case foreground
  case background
  case pathChanged(NetworkPath)
  case lowPowerChanged(Bool)
  case consent(Bool)
  case tokenChanged
  case flushAsked(FlushRequest)
  /// The system granted a background task; `deadline` nil where it named none.
  case taskGranted(id: Int, deadline: Moment?)
  case taskExpiring(id: Int)
  case purged
  case shutDown

  // What the recorder and the store say.
  /// The store is open: what it kept, and how much waits in it.
  case storeOpened(gate: GateRecord?, queued: Int)
  case storeBlocked
  /// Events were committed: how many, their bytes of JSON, the highest sequence number so far.
  case recorded(events: Int, bytes: Int, lastSequence: Int64)
  /// Rows came back into the queue from the quarantine.
  case requeued(events: Int)
  /// Events went to the memory buffer because the store takes no writes, and why it does not.
  case writesBlocked(BufferReason)
  /// The memory buffer is empty again.
  case writesRecovered
  /// The store was tended; `more` where it has more to do.
  case upkeepDone(more: Bool)

  // Answers to effects.
  case timerFired(DeliveryTimer, generation: UInt64)
  case prepared(generation: UInt64, Preparation)
  case settled(generation: UInt64, complete: Bool)
  case tokenAnswered(generation: UInt64, AccessToken?)
  case uploadEnded(generation: UInt64, UploadOutcome)
  /// Background time was refused (nil of the system), or runs out.
  case assertionExpiring(generation: UInt64)
  case assertionRefused(generation: UInt64)
}

/// An explicit `flush`, or a delivery within time granted by the host.
package struct FlushRequest: Sendable, Equatable {
  package var id: Int
  package var timeoutMs: Int64
  /// Rows up to this sequence number are meant.
  package var throughSequence: Int64
  /// True where the host granted background time until the timeout.
  package var grantsTime: Bool

  package init(id: Int, timeoutMs: Int64, throughSequence: Int64, grantsTime: Bool = false) {
    self.id = id
    self.timeoutMs = timeoutMs
    self.throughSequence = throughSequence
    self.grantsTime = grantsTime
  }
}

/// What preparing a batch found.
package enum Preparation: Sendable, Equatable {
  case batch(BatchSummary)
  /// Nothing eligible for these accounts; `others` where rows of other accounts wait.
  case nothing(others: Bool)
  case blocked
}

/// A batch as the engine sees it: identities and sizes; the body stays with the shell.
package struct BatchSummary: Sendable, Equatable {
  package var account: String
  package var rows: [RowReference]
  /// Bytes of JSON, envelope included, and of the gzip body.
  package var jsonBytes: Int
  package var wireBytes: Int
  /// True where more eligible rows wait behind these.
  package var hasMore: Bool

  package init(
    account: String, rows: [RowReference], jsonBytes: Int, wireBytes: Int, hasMore: Bool
  ) {
    self.account = account
    self.rows = rows
    self.jsonBytes = jsonBytes
    self.wireBytes = wireBytes
    self.hasMore = hasMore
  }
}

/// How a request ended.
package enum UploadOutcome: Sendable, Equatable {
  case answered(AnswerFacts)
  case failed(code: Int, lostReusedConnection: Bool)
}

/// What of an answer delivery decides on.
package struct AnswerFacts: Sendable, Equatable {
  package var status: Int
  package var isHTML = false
  /// All `Retry-After` values, in order.
  package var retryAfter: [String] = []
  /// The answer's `Date`, milliseconds since 1970.
  package var dateMs: Int64?
  /// The own wall clock when the answer came: for an answer without `Date`.
  package var receivedMs: Int64 = 0
  /// Ids under `rejected` with their reasons (2xx only).
  package var rejected: [RejectedEvent] = []
  /// A success whose body is torn JSON.
  package var isUnreadable = false
  /// The server's words about a refusal, at most 200 bytes.
  package var detail = ""

  package init(status: Int) { self.status = status }

  /// The time that server and phone agree on, the one confirming the other; nil where one of them
  /// must be wrong. A gateway with a wrong clock would else age the whole backlog at once.
  package var confirmedMs: Int64? {
    guard let dateMs else { return nil }
    let (apartMs, overflows) = dateMs.subtractingReportingOverflow(receivedMs)
    return overflows || apartMs.magnitude > AnswerFacts.agreementMs ? nil : dateMs
  }
  private static let agreementMs: UInt64 = 86_400_000
}

/// An event that the server names as not taken.
package struct RejectedEvent: Sendable, Equatable {
  package var id: EventID
  package var reason: String

  package init(id: EventID, reason: String) {
    self.id = id
    self.reason = reason
  }
}

/// The engine's timers; each is set at most once at a time.
package enum DeliveryTimer: String, Sendable, CaseIterable {
  /// A batch is due although not full.
  case flush
  /// A delay or pause ends.
  case retry
  /// A try although the path lies, or without a usable token.
  case probe
  /// The request has had its time.
  case request
  /// The provider has had its time, or may be asked about a change.
  case token
  /// A delete is tried again.
  case settle
  /// The store is opened, or the memory buffer written, again.
  case storage
  /// The earliest flush waiter's time ends.
  case waiter
  /// The log is synced and the file tended.
  case upkeep
}
