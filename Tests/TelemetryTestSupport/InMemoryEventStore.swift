import TelemetrySDK

/// The queue's contract in memory: for tests of what lies above the store. It keeps nothing when
/// the object goes.
package final class InMemoryEventStore: UncontendedEventStore {
  private struct Row {
    var event: NewEvent
    var sequence: Int64
    var reason: QuarantineReason?
    var bytes: Int { event.content.jsonBytes }
    var json: [UInt8]? { event.content.json(id: event.id, wallMs: event.recordedAtMs) }
    var reference: RowReference { RowReference(sequence: sequence, id: event.id) }
  }

  /// What a test can order.
  package struct Orders: Sendable {
    /// Answers to coming writes, used up one by one.
    package var nextBlocks: [StoreBlock] = []
    package var isSyncPending = false
    /// Why the store does not open; nil where it does.
    package var opening: StoreBlock?
  }

  private struct State {
    var isOpen = false
    var reason = StoreBlock.notOpen
    var rows: [Row] = []
    var quarantine: [Row] = []
    var notes: [String: [UInt8]] = [:]
    var inFlight: Set<Int64> = []
    var lastSequence: Int64 = 0
    var appended: Int64 = 0
    var requeued: Int64 = 0
    var ledger = ConservationLedger()
    var orders = Orders()
  }

  private let state = Guarded(State())
  private let listener = Guarded<Callback<StoreEvent>?>(nil)
  private let maxBytes: Int

  /// - Parameter maxBytes: Bound on the JSON bytes of queued events; the oldest go beyond it.
  package init(maxBytes: Int = 20_000_000) { self.maxBytes = maxBytes }

  package var onEvent: (@Sendable (StoreEvent) -> Void)? {
    get { listener.withLock { $0 }?.call }
    set { listener.withLock { $0 = newValue.map { Callback($0) } } }
  }

  package var appended: Int64 { state.withLock { $0.appended } }

  /// Called when the store is about to be counted.
  package let onSnapshot = Guarded<Callback<Void>?>(nil)

  /// Changes what the store answers.
  package func order(_ body: (inout Orders) -> Void) { state.withLock { body(&$0.orders) } }

  private func block(_ state: inout State) -> StoreBlock? {
    guard state.isOpen else { return state.reason }
    return state.orders.nextBlocks.isEmpty ? nil : state.orders.nextBlocks.removeFirst()
  }

  private func tell(_ events: [StoreEvent]) {
    guard let listener = onEvent else { return }
    for event in events { listener(event) }
  }

  package func open() -> StoreBlock? {
    let result = state.withLock { state -> (block: StoreBlock?, count: Int64) in
      state.isOpen = state.orders.opening == nil
      if let block = state.orders.opening { state.reason = block }
      return (state.orders.opening, Int64(state.rows.count))
    }
    if let block = result.block {
      tell([.blocked(block)])
      return block
    }
    tell([.opened(recoveredRows: result.count)])
    return nil
  }

  package func append(_ event: NewEvent) -> AppendOutcome { append(batch: [event])[0] }

  package func append(batch events: [NewEvent]) -> [AppendOutcome] {
    var outcomes: [AppendOutcome] = []
    var dropped: Int64 = 0
    state.withLock { state in
      for event in events {
        if let block = block(&state) {
          outcomes.append(.blocked(block))
          return
        }
        let isKnown = (state.rows + state.quarantine).contains { $0.event.id == event.id }
        if event.idIsFromCaller && isKnown {
          outcomes.append(.duplicate)
          continue
        }
        state.lastSequence += 1
        state.appended += 1
        state.ledger.recorded += 1
        state.rows.append(Row(event: event, sequence: state.lastSequence))
        outcomes.append(
          state.orders.isSyncPending
            ? .syncPending(sequence: state.lastSequence)
            : .durable(sequence: state.lastSequence))
        dropped += evict(&state)
      }
    }
    if dropped > 0 { tell([.dropped(count: dropped, reason: .queueFull)]) }
    return outcomes
  }

  private func evict(_ state: inout State) -> Int64 {
    var bytes = state.rows.reduce(0) { $0 + $1.bytes }
    var dropped: Int64 = 0
    while bytes > maxBytes,
      let index = state.rows.firstIndex(where: { !state.inFlight.contains($0.sequence) })
    {
      bytes -= state.rows.remove(at: index).bytes
      dropped += 1
    }
    count(dropped, .queueFull, &state)
    return dropped
  }

  private func count(_ number: Int64, _ reason: DropReason, _ state: inout State) {
    if number > 0 { state.ledger.dropped[reason.rawValue, default: 0] += number }
  }

  package func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) {
    callback(sync())
  }

  package func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
    state.withLock { state in
      guard state.isOpen else {
        return ReadBatch(account: account ?? "", blocked: state.reason)
      }
      let free = state.rows.filter { !state.inFlight.contains($0.sequence) }
      guard let name = account ?? free.first?.event.account else { return ReadBatch() }
      let rows = free.filter { $0.event.account == name }
      var batch = ReadBatch(account: name)
      var bytes = bounds.envelopeBytes
      var unreadable: [RowReference] = []
      defer { hold(unreadable, .unreadable, &state) }
      for row in rows {
        guard let json = row.json else {
          unreadable.append(row.reference)
          continue
        }
        let next = bytes + row.bytes + (batch.events.isEmpty ? 0 : 1)
        let fits = batch.events.count < bounds.maxEvents && next <= bounds.maxBytes
        guard fits || batch.events.isEmpty else { break }
        bytes = next
        batch.events.append(StoredEvent(row: row.reference, json: json))
      }
      batch.hasMore = batch.events.count + unreadable.count < rows.count
      return batch
    }
  }

  package func markInFlight(_ rows: [RowReference]) {
    state.withLock { $0.inFlight.formUnion(rows.map(\.sequence)) }
  }

  package func clearInFlight(_ rows: [RowReference]) {
    state.withLock { $0.inFlight.subtract(rows.map(\.sequence)) }
  }

  private func take(_ rows: [RowReference], _ state: inout State) -> [Row] {
    let wanted = Set(rows)
    let taken = state.rows.filter { wanted.contains($0.reference) }
    state.rows.removeAll { wanted.contains($0.reference) }
    state.inFlight.subtract(rows.map(\.sequence))
    return taken
  }

  package func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? {
    state.withLock { state in
      if let block = block(&state) { return block }
      state.ledger.delivered += Int64(take(rows, &state).count)
      return nil
    }
  }

  package func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? {
    let result = state.withLock { state -> (block: StoreBlock?, count: Int) in
      if let block = block(&state) { return (block, 0) }
      return (nil, hold(rows, reason, &state))
    }
    if result.count > 0 { tell([.quarantined(count: Int64(result.count), reason: reason)]) }
    return result.block
  }

  @discardableResult
  private func hold(
    _ rows: [RowReference], _ reason: QuarantineReason, _ state: inout State
  ) -> Int {
    guard !rows.isEmpty else { return 0 }
    let taken = take(rows, &state).map { row in
      Row(event: row.event, sequence: row.sequence, reason: reason.bounded)
    }
    state.quarantine += taken
    return taken.count
  }

  package func dropAll(account: String?) -> StoreBlock? {
    let result = state.withLock { state -> (block: StoreBlock?, count: Int64) in
      if let block = block(&state) { return (block, 0) }
      let before = state.rows.count + state.quarantine.count
      state.rows.removeAll {
        (account == nil || $0.event.account == account) && !state.inFlight.contains($0.sequence)
      }
      state.quarantine.removeAll { account == nil || $0.event.account == account }
      let gone = Int64(before - state.rows.count - state.quarantine.count)
      count(gone, .purged, &state)
      return (nil, gone)
    }
    if result.count > 0 { tell([.dropped(count: result.count, reason: .purged)]) }
    return result.block
  }

  package func quarantinedEvents(limit: Int) -> [QuarantinedEvent] {
    state.withLock { state in
      state.quarantine.prefix(limit).map {
        QuarantinedEvent(
          row: $0.reference, reason: $0.reason ?? .unreadable, json: $0.json)
      }
    }
  }

  package func requeueQuarantined() -> Int {
    state.withLock { state in
      for row in state.quarantine {
        state.lastSequence += 1
        state.rows.append(Row(event: row.event, sequence: state.lastSequence))
      }
      defer { state.quarantine = [] }
      return state.quarantine.count
    }
  }

  package func clearQuarantine() -> Int {
    let number = state.withLock { state -> Int in
      defer { state.quarantine = [] }
      count(Int64(state.quarantine.count), .quarantineCleared, &state)
      return state.quarantine.count
    }
    if number > 0 { tell([.dropped(count: Int64(number), reason: .quarantineCleared)]) }
    return number
  }

  package func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) {
    let number = state.withLock { state -> Int64 in
      let limit = confirmedNowMs - maxAgeMs
      let before = state.rows.count
      state.rows.removeAll {
        $0.event.recordedAtMs < limit && !state.inFlight.contains($0.sequence)
      }
      count(Int64(before - state.rows.count), .tooOld, &state)
      return Int64(before - state.rows.count)
    }
    if number > 0 { tell([.dropped(count: number, reason: .tooOld)]) }
  }

  package func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? {
    state.withLock { state in
      if let block = block(&state) { return block }
      state.notes[key] = value
      return nil
    }
  }

  package func note(_ key: String) -> [UInt8]? { state.withLock { $0.notes[key] } }

  package func snapshot() -> StoreSnapshot {
    onSnapshot.withLock { $0 }?.call(())
    return state.withLock { state in
      var snapshot = StoreSnapshot()
      snapshot.ledger = state.ledger
      snapshot.lastSequence = state.lastSequence
      snapshot.appended = state.appended
      snapshot.ledger.queued = Int64(state.rows.count)
      snapshot.ledger.quarantined = Int64(state.quarantine.count)
      snapshot.bytesOnDisk = Int64(state.rows.reduce(0) { $0 + $1.bytes })
      snapshot.oldestRecordedAtMs = state.rows.first?.event.recordedAtMs
      snapshot.blocked = state.isOpen ? state.orders.nextBlocks.first : state.reason
      return snapshot
    }
  }

  package func accounts() -> [String] {
    state.withLock { Array(Set(($0.rows + $0.quarantine).map(\.event.account))).sorted() }
  }

  package func rotateKey() -> StoreBlock? {
    tell([.keyRotated])
    return nil
  }

  package func purge() -> StoreBlock? {
    let number = state.withLock { state -> Int64 in
      let number = Int64(state.rows.count + state.quarantine.count)
      count(number, .purged, &state)
      state.rows = []
      state.quarantine = []
      state.notes = state.notes.filter { $0.key == GateRecord.noteKey }
      state.inFlight = []
      return number
    }
    if number > 0 { tell([.dropped(count: number, reason: .purged)]) }
    return nil
  }

  package func maintain() -> Bool { false }
  package func sync() -> StoreBlock? { state.withLock { $0.isOpen ? nil : $0.reason } }

  package func suspend() {
    state.withLock {
      $0.isOpen = false
      $0.reason = .suspended
    }
  }

  package func resume() -> StoreBlock? { open() }

  package func close() {
    state.withLock {
      $0.isOpen = false
      $0.reason = .notOpen
    }
  }
}
