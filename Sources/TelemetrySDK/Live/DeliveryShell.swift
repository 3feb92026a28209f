/// Performs the engine's effects: the only place where delivery touches store, network and time.
///
/// Everything runs on the environment's serial executor; other threads only post. Inputs that
/// arise while effects are performed are queued and taken in order, so the engine is never
/// entered twice.
package final class DeliveryShell: @unchecked Sendable {
  // Guard: every `var` below belongs to the executor and is touched there alone; what other
  // threads read is in lock boxes.

  let configuration: TelemetryConfiguration
  let environment: TelemetryEnvironment
  let store: any EventStore
  let recorder: Recorder
  let tokenProvider: any TokenProvider
  let diagnostics: DiagnosticsHub
  let isDisabled: Bool

  /// What `status()` reads.
  struct Published: Sendable {
    var engine: DeliveryEngine
    var snapshot = StoreSnapshot()
    var lastOutcome: DeliveryOutcome?
    var requests = 0
  }
  let published: Guarded<Published>

  /// Sees every input with its moment and effects, on the executor: traces.
  package let onTrace = Guarded<Callback<(DeliveryInput, Moment, [DeliveryEffect])>?>(nil)

  var engine: DeliveryEngine
  let builder: BatchBuilder
  private var inputs: [DeliveryInput] = []
  private var isHandling = false
  private var timers: [DeliveryTimer: any ScheduledTimer] = [:]
  /// Prepared batches by number: at most the one under way and the next.
  var bodies: [UInt64: PreparedBody] = [:]
  var uploads: [UInt64: any TransportTask] = [:]
  var flushes: [Int: FlushInProgress] = [:]
  var nextFlushID = 1
  var assertions: [UInt64: Int] = [:]
  var taskCompletions: [Int: @Sendable (Bool) -> Void] = [:]
  let taskIDs = Guarded(0)
  var isOpen = false
  var hasLoadedNotes = false
  var isClosed = false
  /// Wishes that the store could not take yet.
  var purgesWanted: [@Sendable () -> Void] = []
  var rotationIsWanted = false
  var lastSessionNote: Moment?
  /// Notes that the store did not take yet.
  var unwrittenNotes: [String: [UInt8]] = [:]
  /// What the notes say of session and account.
  var notedIdentity = RecordingIdentity()

  /// A batch between preparation and settlement.
  struct PreparedBody {
    var rows: [RowReference]
    /// Emptied once the request is over.
    var gzip: [UInt8]
    /// Settling can be interrupted by a block; what is done is not done again.
    var isDeleted = false
    var reasonsDone = 0
  }

  struct FlushInProgress {
    let completion: @Sendable (FlushReport) -> Void
    let ledgerBefore: ConservationLedger
  }

  init(
    configuration: TelemetryConfiguration, environment: TelemetryEnvironment,
    store: any EventStore, recorder: Recorder, tokenProvider: any TokenProvider,
    diagnostics: DiagnosticsHub, disabled: Bool = false
  ) {
    self.configuration = configuration
    self.environment = environment
    self.store = store
    self.recorder = recorder
    self.tokenProvider = tokenProvider
    self.diagnostics = diagnostics
    isDisabled = disabled
    builder = BatchBuilder(
      envelope: configuration.envelope, gzipLevel: configuration.gzipLevel,
      wireLimitBytes: configuration.batchMeasure == .wire ? configuration.batchLimitBytes : nil)
    engine = DeliveryEngine(
      policy: DeliveryPolicy(configuration), bootID: environment.clock.bootID(),
      random: environment.random)
    var snapshot = StoreSnapshot()
    // A store may have served another shell before.
    snapshot.appended = store.appended
    published = Guarded(Published(engine: engine, snapshot: snapshot))
  }

  func start() {
    store.onEvent = { [diagnostics] event in
      if let event = DiagnosticEvent(event) { diagnostics.emit(event) }
    }
    recorder.onNews.withLock {
      $0 = Callback { [weak self] urgency in self?.takeNews(urgency) }
    }
    perform { $0.openStore() }
  }

  /// Hands an input to the engine, on the executor.
  func post(_ input: DeliveryInput) { perform { $0.receive(input) } }

  /// Runs work with the shell on the executor. Never inline: safe from every callback.
  func perform(_ work: @escaping @Sendable (DeliveryShell) -> Void) {
    environment.executor.async { work(self) }
  }

  private func takeNews(_ urgency: NewsUrgency) {
    switch urgency {
    case .now: perform { $0.takeNews() }
    case .soon: environment.executor.soon { self.takeNews() }
    }
  }

  // MARK: - On the executor

  func receive(_ input: DeliveryInput) {
    guard !isDisabled else { return }
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while !inputs.isEmpty {
      let next = inputs.removeFirst()
      let now = environment.clock.now()
      let effects = engine.handle(next, now: now)
      onTrace.withLock { $0 }?.call((next, now, effects))
      // Published first: a callback that asks for the status sees this state.
      publish()
      for effect in effects { perform(effect) }
    }
  }

  func publish() {
    published.withLock { $0.engine = engine }
  }

  /// Counts the store anew for the status.
  func refreshSnapshot() {
    var snapshot = store.snapshot()
    published.withLock { published in
      // A closed store tells nothing: what was known stands.
      if snapshot.lastSequence == 0, snapshot.blocked != nil {
        snapshot.ledger = published.snapshot.ledger
        snapshot.lastSequence = published.snapshot.lastSequence
        snapshot.appended = published.snapshot.appended
      }
      published.snapshot = snapshot
    }
    recorder.noteSequence(snapshot.lastSequence)
  }

  /// Events committed since the store was counted: none twice, and none not at all, that is
  /// committed while it is being counted, into whichever file.
  func committed(since snapshot: StoreSnapshot) -> Int64 {
    max(0, store.appended - snapshot.appended)
  }

  func setTimer(_ timer: DeliveryTimer, at moment: Moment, generation: UInt64) {
    timers[timer]?.cancel()
    timers[timer] = environment.clock.schedule(at: moment) { [weak self] in
      self?.post(.timerFired(timer, generation: generation))
    }
  }

  func cancelTimer(_ timer: DeliveryTimer) { timers.removeValue(forKey: timer)?.cancel() }

  // MARK: - From any thread

  func status() -> TelemetryStatus {
    let published = published.withLock { $0 }
    let recorded = recorder.picture()
    var status = TelemetryStatus()
    let ledger = published.snapshot.ledger
    status.ledger = ledger
    let committed = committed(since: published.snapshot)
    status.ledger.recorded += committed
    status.ledger.queued += committed
    status.queued = Int(clamping: status.ledger.queued)
    status.quarantined = Int(clamping: ledger.quarantined)
    status.unreadable = Int(clamping: published.snapshot.unknownKeyRows)
    status.inFlight = published.engine.inFlight
    status.buffered = recorded.buffered
    status.bufferedBytes = recorded.bufferedBytes
    status.bytesOnDisk = published.snapshot.bytesOnDisk
    status.oldestAgeMs = published.snapshot.oldestRecordedAtMs.map {
      max(0, environment.clock.wallMs() - $0)
    }
    status.state =
      isDisabled ? .disabled : published.engine.state(now: environment.clock.now())
    status.lastOutcome = published.lastOutcome
    status.requests = published.requests
    status.rejected = recorded.rejected
    status.sessionID = recorded.sessionID
    return status
  }
}
