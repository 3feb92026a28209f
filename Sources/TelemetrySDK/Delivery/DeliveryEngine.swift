/// The brain of delivery: inputs and the time go in, effects come out. No I/O, no clock.
///
/// One request at a time. While it is under way, the next batch may be prepared ("ahead").
/// After every input the engine decides anew what should happen (`advance`), which timers should
/// run (`settleTimers`) and who may stop waiting (`settleWaiters`); so there is one place for
/// each of these decisions, whatever came in.
package struct DeliveryEngine: Sendable {
  package let policy: DeliveryPolicy
  let bootID: String
  let random: any RandomSource

  // What the world is like.
  var isForeground = true
  var path = NetworkPath()
  var lowPower = false
  var hasConsent: Bool
  var isShutDown = false
  var storage = StorageState.opening
  var hasRestored = false
  /// Set while the memory buffer could not be written; then it is tried again.
  var writesRetryAt: Moment?
  var writesTries = 0
  /// That try is under way.
  var isWritingBuffer = false
  /// The reason lies deeper than the one write: the store is opened anew for the next try.
  var writesNeedOpening = false

  // What waits to be sent.
  /// A trigger came, and not everything that it meant has gone.
  var isWanted = false
  /// Rows up to here are meant by the trigger.
  var drainThrough: Int64 = 0
  var lastSequence: Int64 = 0
  /// False where the queue is known to be empty: nothing is read and no token asked for then.
  var mayHaveRows = false
  /// Events recorded since the queue was last seen empty.
  var pendingEvents = 0
  var pendingBytes = 0
  var pendingSince: Moment?

  // What is under way.
  var flight = Flight.idle
  var ahead = Ahead.none
  var generation: UInt64 = 0

  // What holds delivery back.
  var token = TokenGate()
  var account: String?
  var pace = AskPace()
  /// The server's `Retry-After`.
  var serverGate: Moment?
  var backoff: Moment?
  var backoffIsFromTransport = false
  var failures = 0
  var refusal: RefusalPause
  var lesson = SizeLesson()
  var finalBodies: [FinalBody] = []
  /// Isolate mode: sizes of the parts of a refused body that are still to be tried.
  var isolation: [Int] = []
  /// The path said unsatisfied, yet a request got an answer.
  var pathIsDisproved = false
  var mayProbe = false
  var probeDue: Moment?
  var lastRestore: Moment?
  var lastAgeCheck: Moment?
  var persisted = GateRecord()

  // Who waits, and what the system granted.
  var waiters: [FlushRequestState] = []
  var tasks: [Int: Moment?] = [:]
  var assertion: UInt64?
  /// Set while in the background after everything was synced.
  var isAtRest = false

  var timers: [DeliveryTimer: TimerState] = [:]
  var dirtySince: Moment?
  var isTending = false
  var effects: [DeliveryEffect] = []

  package init(policy: DeliveryPolicy, bootID: String, random: any RandomSource) {
    self.policy = policy
    self.bootID = bootID
    self.random = random
    hasConsent = policy.consent
    refusal = RefusalPause(limits: policy.refusal)
  }

  /// The effects to perform, in order.
  package mutating func handle(_ input: DeliveryInput, now: Moment) -> [DeliveryEffect] {
    effects = []
    take(input, now: now)
    stopWithoutPermission(now: now)
    askAboutChange(now: now)
    advance(now: now)
    settleWaiters(now: now)
    // Before the process may be frozen, and the store closed for that.
    persistIfChanged(now: now)
    settleTasks(now: now)
    stopWithoutPermission(now: now)
    rest(now: now)
    settleTimers(now: now)
    defer { effects = [] }
    return effects
  }

  private mutating func take(_ input: DeliveryInput, now: Moment) {
    // After the end only answers that free something are heard.
    if isShutDown, !input.isHeardAfterShutDown { return }
    switch input {
    case .foreground: foreground(now: now)
    case .background: background(now: now)
    case .pathChanged(let path): pathChanged(path, now: now)
    case .lowPowerChanged(let on): lowPower = on
    case .consent(let given): consentChanged(given, now: now)
    case .tokenChanged: tokenChanged(now: now)
    case .flushAsked(let request): flushAsked(request, now: now)
    case .taskGranted(let id, let deadline): taskGranted(id, deadline, now: now)
    case .taskExpiring(let id): taskExpiring(id, now: now)
    case .purged: purged()
    case .shutDown: shutDown(now: now)
    case .storeOpened(let gate, let queued): storeOpened(gate, queued: queued, now: now)
    case .storeBlocked: storeBlocked(now: now)
    case .recorded(let events, let bytes, let last):
      recorded(events: events, bytes: bytes, last: last, now: now)
    case .requeued(let events): requeued(events: events, now: now)
    case .writesBlocked(let reason): writesBlocked(reason, now: now)
    case .writesRecovered: writesRecovered()
    case .upkeepDone(let more): upkeepDone(more: more, now: now)
    case .timerFired(let timer, let generation): timerFired(timer, generation, now: now)
    case .prepared(let generation, let preparation): prepared(generation, preparation, now: now)
    case .settled(let generation, let complete): settled(generation, complete, now: now)
    case .tokenAnswered(let generation, let token): tokenAnswered(generation, token)
    case .uploadEnded(let generation, let outcome): uploadEnded(generation, outcome, now: now)
    case .assertionExpiring(let generation): assertionOver(generation, wasGranted: true, now: now)
    case .assertionRefused(let generation): assertionOver(generation, wasGranted: false, now: now)
    }
  }

  mutating func nextGeneration() -> UInt64 {
    generation += 1
    return generation
  }

  mutating func emit(_ effect: DeliveryEffect) { effects.append(effect) }

  mutating func say(_ event: DiagnosticEvent) { effects.append(.diagnostic(event)) }
}

// MARK: - The parts of the state

extension DeliveryEngine {
  enum StorageState: Sendable, Equatable {
    /// The shell is opening it, or was asked to.
    case opening
    case open
    /// So many tries in a row failed; the next one is due then, or under way.
    case blocked(tries: Int, next: Moment?)
    /// Closed by ourselves, for suspension.
    case closed
  }

  /// The one place of a batch on its way.
  enum Flight: Sendable, Equatable {
    case idle
    case preparing(UInt64)
    case ready(Batch)
    case sending(Upload)
    case settling(Settling)
  }

  enum Ahead: Sendable, Equatable {
    case none
    case preparing(UInt64)
    case ready(Batch)
  }

  /// A prepared batch; its number is the generation of the effect that prepared it.
  struct Batch: Sendable, Equatable {
    var number: UInt64
    var summary: BatchSummary
  }

  struct Upload: Sendable, Equatable {
    var generation: UInt64
    var batch: Batch
    var token: AccessToken
    var deadline: Moment
    var retriedQuickly: Bool
    /// The next batch was asked for once.
    var triedAhead = false
  }

  struct Settling: Sendable, Equatable {
    var generation: UInt64
    var batch: Batch
    var settlement: Settlement
    /// Set while the store does not take the delete; then it is tried again.
    var retryAt: Moment?
    var tries = 0
  }

  struct FlushRequestState: Sendable, Equatable {
    var request: FlushRequest
    var deadline: Moment
  }

  struct TimerState: Sendable, Equatable {
    var at: Moment
    var generation: UInt64
  }

  /// A body with a final answer; never sent again.
  typealias FinalBody = GateRecord.FinalBody
}

extension DeliveryInput {
  /// Answers that end something which the engine, or the system, still holds.
  var isHeardAfterShutDown: Bool {
    switch self {
    case .assertionExpiring, .taskExpiring, .taskGranted, .flushAsked: return true
    default: return false
    }
  }
}
