#if DEBUG
  import TelemetrySDK

  /// A store that hands everything on; broken ones override what they break.
  ///
  /// Thread safe as the store behind it.
  class ForwardingStore: EventStore, @unchecked Sendable {
    // Guard: no state of its own; `inner` never changes.
    let inner: any EventStore
    init(_ inner: any EventStore) { self.inner = inner }

    var onEvent: (@Sendable (StoreEvent) -> Void)? {
      get { inner.onEvent }
      set { inner.onEvent = newValue }
    }
    var appended: Int64 { inner.appended }
    func open() -> StoreBlock? { inner.open() }

    /// An event on its way into the store, whichever way it takes.
    func arrives(_ event: NewEvent) {}

    func append(_ event: NewEvent) -> AppendOutcome {
      arrives(event)
      return inner.append(event)
    }
    func append(
      _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
    ) -> AppendOutcome? {
      arrives(event)
      return inner.append(event, patience: &patience, late: late)
    }
    func appendDurably(
      _ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void
    ) {
      arrives(event)
      inner.appendDurably(event, callback)
    }
    func append(batch events: [NewEvent]) -> [AppendOutcome] {
      events.forEach(arrives)
      return inner.append(batch: events)
    }
    func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome] {
      events.forEach(arrives)
      return inner.append(batch: events, patience: &patience)
    }

    func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) {
      inner.whenSynced(callback)
    }
    func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
      inner.readBatch(account: account, bounds: bounds)
    }
    func markInFlight(_ rows: [RowReference]) { inner.markInFlight(rows) }
    func clearInFlight(_ rows: [RowReference]) { inner.clearInFlight(rows) }
    func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? { inner.deleteDelivered(rows) }
    func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? {
      inner.quarantine(rows, reason: reason)
    }
    func dropAll(account: String?) -> StoreBlock? { inner.dropAll(account: account) }
    func quarantinedEvents(limit: Int) -> [QuarantinedEvent] {
      inner.quarantinedEvents(limit: limit)
    }
    func requeueQuarantined() -> Int { inner.requeueQuarantined() }
    func clearQuarantine() -> Int { inner.clearQuarantine() }
    func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) {
      inner.enforceAge(confirmedNowMs: confirmedNowMs, maxAgeMs: maxAgeMs)
    }
    func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? { inner.setNote(key, value) }
    func note(_ key: String) -> [UInt8]? { inner.note(key) }
    func snapshot() -> StoreSnapshot { inner.snapshot() }
    func accounts() -> [String] { inner.accounts() }
    func rotateKey() -> StoreBlock? { inner.rotateKey() }
    func purge() -> StoreBlock? { inner.purge() }
    func maintain() -> Bool { inner.maintain() }
    func sync() -> StoreBlock? { inner.sync() }
    func suspend() { inner.suspend() }
    func resume() -> StoreBlock? { inner.resume() }
    func close() { inner.close() }
  }
#endif
