import Dispatch

/// The queue in an SQLite database: sealed rows, write-ahead log, one writing connection behind a
/// lock and one for checkpoints.
///
/// A file lock beside the database keeps other processes out. Only SQLite opens the database and
/// the shared-memory file; the log is also opened by this class, to be synced and nothing else.
package final class SQLiteEventStore: EventStore {
  /// What the store's lock guards.
  struct State {
    var core: StoreCore?
    /// Why there is no core.
    var reason = StoreBlock.notOpen
    /// Written, or refused, and to be told after the next sync.
    var answered: [AppendTicket] = []
    /// The highest sequence number that is known to be on the medium, of the file open last.
    var syncedThrough: Int64 = 0
  }

  /// What checkpoints and syncs need. Its lock is taken before the state's, never after.
  struct Upkeep {
    /// The database to checkpoint; nil while closed.
    var database: String?
    /// Made at the first checkpoint.
    var connection: SQLiteConnection?
    var log: (any SyncHandle)?
    var lock: (any FileLock)?
    /// What the lock file says by now.
    var hint: StoreHint?
  }

  /// Requests to the store's own threads.
  struct Requests {
    var isRestartAsked = false
    var isSyncAsked = false
    var waitingForSync: [@Sendable (StoreBlock?) -> Void] = []
  }

  /// Read out of a damaged database that had to go before the new one was filled.
  struct Rescued {
    let place: String
    var salvage: Salvage
    let hint: StoreHint?
  }

  struct Blocked: Error {
    let reason: StoreBlock
  }

  let configuration: StoreConfiguration
  let paths: StorePaths
  let databases: [StorePaths]
  let keyStore: any KeyStore
  let clock: any TelemetryClock
  let files: any FileOperations
  let state = Guarded(State(), waitsAreBounded: true)
  let upkeep = Guarded(Upkeep(), waitsAreBounded: true)
  let requests = Guarded(Requests())
  let rescued = Guarded<Rescued?>(nil)
  /// By database, rows beside this one that cannot be brought in before the next opening.
  let strays = Guarded<[String: Int64]>([:])
  /// Events committed by this object. Taken inside the state's lock.
  let commits = Guarded<Int64>(0)
  /// Callers of `append` that wait. Taken inside the state's lock, never around it.
  let tickets = Guarded<[AppendTicket]>([])
  private let listener = Guarded<Callback<StoreEvent>?>(nil)
  let checkpointQueue = DispatchQueue(label: "telemetry.store.checkpoint", qos: .utility)
  /// Where callers who waited no longer hear what came of their event.
  let lateQueue = DispatchQueue(label: "telemetry.store.late", qos: .utility)
  let syncQueue = DispatchQueue(label: "telemetry.store.sync", qos: .utility)
  /// Entered while a restart of the log is asked for or running.
  let restarts = DispatchGroup()

  /// Touches no file; `open` does.
  package init(
    configuration: StoreConfiguration, keyStore: any KeyStore, clock: any TelemetryClock,
    files: any FileOperations = SystemFiles()
  ) {
    self.configuration = configuration
    self.keyStore = keyStore
    self.clock = clock
    self.files = files
    paths = StorePaths(directory: configuration.directory)
    databases = paths.databases
  }

  deinit { closeFiles(reason: .notOpen) }

  package var onEvent: (@Sendable (StoreEvent) -> Void)? {
    get { listener.withLock { $0 }?.call }
    set { listener.withLock { $0 = newValue.map { Callback($0) } } }
  }

  package var appended: Int64 { commits.withLock { $0 } }

  func tell(_ events: [StoreEvent]) {
    guard !events.isEmpty, let listener = onEvent else { return }
    for event in events { listener(event) }
  }

  /// Runs the body on the open store; failures become the block they mean.
  func onCore<Value>(
    isWrite: Bool = false, _ body: (StoreCore) throws -> Value
  ) -> Result<Value, Blocked> {
    let (result, events) = state.withLock { state -> (Result<Value, Blocked>, [StoreEvent]) in
      commitWaiting(&state)
      return run(isWrite, state, body)
    }
    tell(events)
    return result
  }

  /// The same for a caller on the app's thread.
  func onCore<Value>(
    waiting patience: inout Patience, _ body: (StoreCore) throws -> Value
  ) -> Result<Value, Blocked> {
    let answer = state.withLock(waiting: &patience) { state in
      commitWaiting(&state)
      return run(false, state, body)
    }
    guard let (result, events) = answer else { return .failure(Blocked(reason: .busy)) }
    tell(events)
    return result
  }

  private func run<Value>(
    _ isWrite: Bool, _ state: State, _ body: (StoreCore) throws -> Value
  ) -> (Result<Value, Blocked>, [StoreEvent]) {
    guard let core = state.core else { return (.failure(Blocked(reason: state.reason)), []) }
    guard !core.isDamaged else { return (.failure(Blocked(reason: .notOpen)), []) }
    do {
      return (.success(try body(core)), core.takeEvents())
    } catch {
      let reason = isWrite ? core.blocked(by: error) : core.meaning(of: error)
      return (.failure(Blocked(reason: reason)), core.takeEvents())
    }
  }

  /// The same for a write of bounded size: makes room in the log first, and a success clears an
  /// earlier block.
  func writing<Value>(
    forBytes bytes: Int = SQLiteEventStore.chunkBytes, _ body: (StoreCore) throws -> Value
  ) -> Result<Value, Blocked> {
    for isSecondTry in [false, true] {
      let result = onCore(isWrite: true) { core -> Value? in
        guard core.logHasRoom(forBytes: bytes) else { return nil }
        let before = core.commits
        let value = try body(core)
        // A body that found nothing to write proves nothing.
        if core.commits != before { core.noteSuccess() }
        return value
      }
      switch result {
      case .failure(let blocked) where blocked.reason == .walBudget && !isSecondTry:
        restartLog()
      case .failure(let blocked): return .failure(blocked)
      case .success(.some(let value)):
        askForRestartIfHalfFull()
        return .success(value)
      case .success(.none):
        if isSecondTry { break }
        restartLog()
      }
    }
    return .failure(Blocked(reason: .walBudget))
  }
  /// What deleting one chunk of rows writes to the log, at most: rows of the usual size share
  /// pages, pages of large ones are freed without being written.
  static let chunkBytes = 150_000

  // MARK: - Reading

  package func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
    var reading = BatchReading(account: account, bounds: bounds)
    var hasLoadedKeys = false
    var hasRestarted = false
    while !reading.isComplete {
      let result = onCore { core -> BatchReading in
        var next = reading
        try core.readChunk(into: &next) { state.isUrgent }
        return next
      }
      switch result {
      case .success(let next): reading = next
      case .failure(let blocked) where blocked.reason == .walBudget && !hasRestarted:
        hasRestarted = true
        restartLog()
      case .failure(let blocked):
        return ReadBatch(account: account ?? "", blocked: blocked.reason)
      }
      if !reading.wantedKeys.isEmpty && !hasLoadedKeys {
        // Rows of these keys were passed over: read again once the keys are here.
        hasLoadedKeys = true
        if loadKeys(reading.wantedKeys) {
          reading = BatchReading(account: account, bounds: bounds)
        }
      }
    }
    return reading.batch
  }

  package func markInFlight(_ rows: [RowReference]) {
    _ = onCore { core in core.inFlight.formUnion(rows.map(\.sequence)) }
  }

  package func clearInFlight(_ rows: [RowReference]) {
    _ = onCore { core in core.inFlight.subtract(rows.map(\.sequence)) }
  }

  package func snapshot() -> StoreSnapshot {
    var snapshot = StoreSnapshot()
    let result = onCore { core -> StoreSnapshot in
      var snapshot = StoreSnapshot()
      snapshot.ledger = core.counts.ledger
      snapshot.lastSequence = core.counts.lastSequence
      snapshot.appended = appended
      snapshot.blocked = core.block ?? (core.keys.live == nil ? .keyUnavailable : nil)
      snapshot.oldestRecordedAtMs = try core.oldestRecordedAtMs()
      snapshot.unknownKeyRows = core.counts.queuedByKey
        .filter { core.keys.cipher($0.key) == nil }.values.reduce(Int64(core.laterRows.count), +)
      return snapshot
    }
    switch result {
    case .success(let found):
      snapshot = found
      snapshot.unknownKeyRows += unreadableStrays
    case .failure(let blocked): snapshot.blocked = blocked.reason
    }
    snapshot.bytesOnDisk = bytesOnDisk()
    return snapshot
  }

  package func accounts() -> [String] {
    // try? turns a block into no answer: the caller asks again when the store is back.
    (try? onCore { try $0.accounts() }.get()) ?? []
  }
}
