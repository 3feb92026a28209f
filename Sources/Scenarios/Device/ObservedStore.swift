import TelemetrySDK

/// What the store did with which events: for the life stories of a run.
enum StoreSighting: Sendable {
  case becameDurable([EventID])
  case acknowledged([EventID])
  case erased([EventID])
  case quarantined([EventID], reason: String)
}

/// What `when` steps count of a store: calls that write, sync or delete, each counted before the
/// store does anything.
enum StorageOperation: String, Sendable, CaseIterable {
  case write, sync, delete
}

/// The SDK's store, with somebody looking on.
///
/// Thread safe as the store behind it; `isFrozen` is guarded.
final class ObservedStore: EventStore {
  let inner: any EventStore
  private let pendingSync = Guarded<[EventID]>([])
  /// True after the device died in the midst of a call: what follows on its stack changes no file.
  private let isFrozen: Guarded<Bool>
  private let onSighting: @Sendable (StoreSighting) -> Void
  private let onOperation: @Sendable (StorageOperation) -> Void

  init(
    _ inner: any EventStore, isFrozen: Guarded<Bool>,
    onSighting: @escaping @Sendable (StoreSighting) -> Void,
    onOperation: @escaping @Sendable (StorageOperation) -> Void
  ) {
    self.isFrozen = isFrozen
    self.onOperation = onOperation
    self.inner = inner
    self.onSighting = onSighting
  }

  /// Counts the operation, then says what keeps it from happening, if anything does.
  private func obstacle(to operation: StorageOperation) -> StoreBlock? {
    onOperation(operation)
    return obstacle
  }

  /// What keeps every write from happening, if anything does.
  private var obstacle: StoreBlock? { isFrozen.withLock { $0 } ? .ioError : nil }

  var onEvent: (@Sendable (StoreEvent) -> Void)? {
    get { inner.onEvent }
    set { inner.onEvent = newValue }
  }

  var appended: Int64 { inner.appended }

  func open() -> StoreBlock? {
    if isFrozen.withLock({ $0 }) { return .ioError }
    return inner.open()
  }

  // MARK: Events on their way in

  func append(_ event: NewEvent) -> AppendOutcome {
    if let obstacle = obstacle(to: .write) { return .blocked(obstacle) }
    let outcome = inner.append(event)
    wrote(event, outcome)
    return outcome
  }

  func append(
    _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
  ) -> AppendOutcome? {
    if let obstacle = obstacle(to: .write) { return .blocked(obstacle) }
    let outcome = inner.append(
      event, patience: &patience,
      late: {
        let answer = late()
        return { [weak self] outcome in
          self?.wroteUnnoticed([event], [outcome])
          answer(outcome)
        }
      })
    if let outcome { wrote(event, outcome) }
    return outcome
  }

  func appendDurably(
    _ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void
  ) {
    if let obstacle = obstacle(to: .write) { return callback(.blocked(obstacle)) }
    inner.appendDurably(event) { [weak self] outcome in
      self?.wrote(event, outcome)
      callback(outcome)
    }
  }

  func append(batch events: [NewEvent]) -> [AppendOutcome] {
    if let obstacle = obstacle(to: .write) { return [.blocked(obstacle)] }
    let outcomes = inner.append(batch: events)
    wroteUnnoticed(events, outcomes)
    return outcomes
  }

  func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome] {
    if let obstacle = obstacle(to: .write) { return [.blocked(obstacle)] }
    let outcomes = inner.append(batch: events, patience: &patience)
    wroteUnnoticed(events, outcomes)
    return outcomes
  }

  /// The caller's receipt tells what became of it.
  private func wrote(_ event: NewEvent, _ outcome: AppendOutcome) {
    if case .syncPending = outcome { pendingSync.withLock { $0.append(event.id) } }
  }

  /// Their receipts were given before.
  private func wroteUnnoticed(_ events: [NewEvent], _ outcomes: [AppendOutcome]) {
    var durable: [EventID] = []
    for (event, outcome) in zip(events, outcomes) {
      if case .durable = outcome { durable.append(event.id) }
      wrote(event, outcome)
    }
    if !durable.isEmpty { onSighting(.becameDurable(durable)) }
  }

  private func synced(_ block: StoreBlock?) {
    guard block == nil else { return }
    let ids = pendingSync.withLock { pending -> [EventID] in
      defer { pending = [] }
      return pending
    }
    if !ids.isEmpty { onSighting(.becameDurable(ids)) }
  }

  func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) {
    if let obstacle = obstacle(to: .sync) { return callback(obstacle) }
    inner.whenSynced { [weak self] block in
      self?.synced(block)
      callback(block)
    }
  }

  func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
    if isFrozen.withLock({ $0 }) { return ReadBatch(blocked: .ioError) }
    return inner.readBatch(account: account, bounds: bounds)
  }

  func markInFlight(_ rows: [RowReference]) { inner.markInFlight(rows) }
  func clearInFlight(_ rows: [RowReference]) { inner.clearInFlight(rows) }

  func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? {
    onSighting(.acknowledged(rows.map(\.id)))
    if let obstacle = obstacle(to: .delete) { return obstacle }
    let block = inner.deleteDelivered(rows)
    if block == nil { onSighting(.erased(rows.map(\.id))) }
    return block
  }

  func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? {
    if let obstacle = obstacle(to: .write) { return obstacle }
    let block = inner.quarantine(rows, reason: reason)
    if block == nil {
      onSighting(.quarantined(rows.map(\.id), reason: ObservedStore.name(reason)))
    }
    return block
  }

  static func name(_ reason: QuarantineReason) -> String {
    switch reason {
    case .unreadable: return "unreadable"
    case .refused(let status, _): return "refused \(status)"
    case .rejectedByServer: return "rejectedByServer"
    case .tooLarge: return "tooLarge"
    }
  }

  func dropAll(account: String?) -> StoreBlock? {
    obstacle(to: .delete) ?? inner.dropAll(account: account)
  }
  func quarantinedEvents(limit: Int) -> [QuarantinedEvent] {
    inner.quarantinedEvents(limit: limit)
  }
  func requeueQuarantined() -> Int {
    obstacle(to: .write) == nil ? inner.requeueQuarantined() : 0
  }
  func clearQuarantine() -> Int { obstacle(to: .delete) == nil ? inner.clearQuarantine() : 0 }
  func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) {
    guard obstacle(to: .delete) == nil else { return }
    inner.enforceAge(confirmedNowMs: confirmedNowMs, maxAgeMs: maxAgeMs)
  }
  func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? {
    obstacle(to: .write) ?? inner.setNote(key, value)
  }
  func note(_ key: String) -> [UInt8]? { inner.note(key) }
  func snapshot() -> StoreSnapshot {
    var snapshot = inner.snapshot()
    snapshot.blocked = obstacle ?? snapshot.blocked
    return snapshot
  }
  func accounts() -> [String] { inner.accounts() }
  func rotateKey() -> StoreBlock? { obstacle(to: .write) ?? inner.rotateKey() }
  func purge() -> StoreBlock? { obstacle(to: .delete) ?? inner.purge() }
  func maintain() -> Bool { obstacle(to: .sync) == nil && inner.maintain() }
  func sync() -> StoreBlock? {
    let block = obstacle(to: .sync) ?? inner.sync()
    synced(block)
    return block
  }
  func suspend() { inner.suspend() }
  func resume() -> StoreBlock? { inner.resume() }
  func close() { inner.close() }
}
