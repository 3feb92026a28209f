/// Names one stored row: its place in the queue, checked against its id before any delete.
///
/// Rows are deleted by sequence number *and* row id, never by position, count or time range, so that
/// a row that moved or came back can never take another one with it.
package struct RowReference: Hashable, Sendable {
  /// The row's sequence number: unique in the file, ascending in the order of recording.
  package let sequence: Int64
  /// The event's id as it goes over the wire.
  package let id: EventID
  /// The row's own random id, which the row is known by: the event's id unless the caller chose
  /// that one.
  package let rowID: EventID

  package init(sequence: Int64, id: EventID, rowID: EventID? = nil) {
    self.sequence = sequence
    self.id = id
    self.rowID = rowID ?? id
  }
}

/// One event, encoded once, on its way into the store.
package struct NewEvent: Sendable {
  package let id: EventID
  /// True where the caller chose the id: the store then drops a second insert of the same id.
  package let idIsFromCaller: Bool
  /// The account the event belongs to; `""` where the app names none.
  package let account: String
  /// The whole event. What is read back is its JSON, whatever form it is stored in.
  package let content: EventContent
  /// The wall clock at recording, milliseconds since 1970: for the age limit, and for the stamp of
  /// an event in compact form.
  package let recordedAtMs: Int64

  package init(
    id: EventID, idIsFromCaller: Bool = false, account: String, content: EventContent,
    recordedAtMs: Int64
  ) {
    self.id = id
    self.idIsFromCaller = idIsFromCaller
    self.account = account
    self.content = content
    self.recordedAtMs = recordedAtMs
  }

  /// An event that is one JSON object already, UTF-8.
  package init(
    id: EventID, idIsFromCaller: Bool = false, account: String, json: [UInt8], recordedAtMs: Int64
  ) {
    self.init(
      id: id, idIsFromCaller: idIsFromCaller, account: account,
      content: EventContent(json: json), recordedAtMs: recordedAtMs)
  }

  /// Bytes that the store has to find room for.
  var storedBytes: Int { content.bytes.count }
}

/// An event read back for delivery: opened, its JSON exactly that which was recorded.
package struct StoredEvent: Sendable {
  package let row: RowReference
  package let json: [UInt8]
  package init(row: RowReference, json: [UInt8]) {
    self.row = row
    self.json = json
  }
}

/// Why the store cannot take a write just now. Always temporary: the event is buffered, not lost.
package enum StoreBlock: String, Sendable, Equatable, CaseIterable {
  case notOpen, busy, diskFull, keyUnavailable, locked, ioError, suspended, walBudget
}

/// The store's answer to one append.
package enum AppendOutcome: Sendable, Equatable {
  /// Committed. SIGKILL cannot take it; power loss cannot either at `powerLoss` durability.
  case durable(sequence: Int64)
  /// `powerLoss` durability only: committed, the device flush is still to come.
  case syncPending(sequence: Int64)
  /// A row with the caller's id is stored already; nothing was written.
  case duplicate
  /// Not written; to be kept in memory and tried again.
  case blocked(StoreBlock)

  /// The outcome after a device flush, or the same where that failed.
  package func synced(unless block: StoreBlock?) -> AppendOutcome {
    guard block == nil, case .syncPending(let sequence) = self else { return self }
    return .durable(sequence: sequence)
  }
}

/// Told once what became of an event that was being written when its caller's patience ended.
package typealias LateAnswer = @Sendable (AppendOutcome) -> Void

/// Why an event left the queue without being delivered. One case per reason, each counted.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
  /// Oldest rows evicted at the disk cap.
  case queueFull
  /// Older than the age limit on a confirmed wall clock.
  case tooOld
  /// The app purged its data, or logged an account out.
  case purged
  /// Lost with a damaged database file.
  case corruptFile
  /// Oldest quarantined events evicted at the quarantine's own bound.
  case quarantineFull
  /// The app cleared the quarantine.
  case quarantineCleared
}

/// Why an event lies in quarantine.
package enum QuarantineReason: Sendable, Hashable {
  /// The seal does not open: altered, swapped, or from another store.
  case unreadable
  /// A final HTTP status, with the server's words where it sent some (at most 200 bytes).
  case refused(status: Int, detail: String)
  /// Named under `rejected` in a 2xx answer.
  case rejectedByServer(reason: String)
  /// Alone in a body and still answered with 413.
  case tooLarge
}

/// One quarantined event, as the app may inspect it. `json` is nil where the seal does not open.
package struct QuarantinedEvent: Sendable {
  package let row: RowReference
  package let reason: QuarantineReason
  package let json: [UInt8]?
  package init(row: RowReference, reason: QuarantineReason, json: [UInt8]?) {
    self.row = row
    self.reason = reason
    self.json = json
  }
}

/// Where every committed event went. Written in the same transactions as the rows.
///
/// Invariant, at every moment and after every kill:
/// `recorded == delivered + queued + quarantined + Σ dropped`.
public struct ConservationLedger: Sendable, Hashable {
  /// Events committed to this store since it (or the file it replaced) was made.
  public var recorded: Int64 = 0
  /// Deleted after the server's acknowledgement.
  public var delivered: Int64 = 0
  /// Waiting in the queue now, rows of an unknown key included.
  public var queued: Int64 = 0
  /// Lying in quarantine now.
  public var quarantined: Int64 = 0
  /// Gone for a named reason. Keys are names of ``DropReason``.
  public var dropped: [String: Int64] = [:]

  /// True where the invariant holds.
  public var balances: Bool {
    recorded == delivered + queued + quarantined + dropped.values.reduce(0, +)
  }

  /// An empty ledger.
  public init() {}
}

/// What the store tells about itself: for `status()` and for decisions.
package struct StoreSnapshot: Sendable {
  package var ledger = ConservationLedger()
  /// The highest sequence number ever given; 0 where there is none, or the store is not open.
  package var lastSequence: Int64 = 0
  /// `appended` at the moment at which the ledger was counted.
  package var appended: Int64 = 0
  /// Bytes on disk: db + wal + shm + quarantine + a moved-aside file together.
  package var bytesOnDisk: Int64 = 0
  /// The wall-clock stamp of the first queued row that can be read, milliseconds since 1970.
  package var oldestRecordedAtMs: Int64?
  /// Rows whose key is not known, or which a later version wrote, as far as they were met (kept
  /// until the age limit).
  package var unknownKeyRows: Int64 = 0
  /// Nil where the store takes writes.
  package var blocked: StoreBlock?
  package init() {}
}

/// Something the store did on its own that must not pass in silence.
package enum StoreEvent: Sendable, Equatable {
  case opened(recoveredRows: Int64)
  case blocked(StoreBlock)
  case unblocked
  case dropped(count: Int64, reason: DropReason)
  case quarantined(count: Int64, reason: QuarantineReason)
  /// The damaged file was moved aside; `lost` counts what was in it and could not be read.
  case movedCorruptFileAside(lost: Int64)
  case newerSchemaLeftAlone(version: Int)
  case keyRotated
  case walRestarted
}

/// Bounds of one batch.
package struct BatchBounds: Sendable, Equatable {
  package var maxEvents: Int
  /// Uncompressed JSON bytes of the whole body, envelope and commas included.
  package var maxBytes: Int
  /// Bytes of the envelope around the events, e.g. `{"events":[` and `]}`.
  package var envelopeBytes: Int
  package init(maxEvents: Int, maxBytes: Int, envelopeBytes: Int) {
    self.maxEvents = maxEvents
    self.maxBytes = maxBytes
    self.envelopeBytes = envelopeBytes
  }
}

/// The queue's contract. One contract test suite runs against every implementation.
///
/// Thread safety: `append` may be called from any thread; with a `patience` it waits no longer.
/// All other members are called from the SDK's one store queue. No member throws to the host:
/// trouble is an answer (`blocked`) or a `StoreEvent`.
package protocol EventStore: AnyObject, Sendable {
  /// Called on the store's own threads, outside its locks. Set once, before `open`.
  var onEvent: (@Sendable (StoreEvent) -> Void)? { get set }

  /// How many events this object has committed, whatever file they went into; counted before the
  /// outcome is given. Never waits, from any thread: with a snapshot it tells what was recorded
  /// since. Rows that move, come back or are repaired do not count.
  var appended: Int64 { get }

  /// Opens, creates, migrates or repairs the file; finishes a purge that a kill interrupted.
  /// Safe to call again after a block. Returns nil where the store is ready.
  func open() -> StoreBlock?

  /// Commits one event. From `.durable` on SIGKILL cannot lose it.
  func append(_ event: NewEvent) -> AppendOutcome

  /// The same for a caller on the app's thread, who waits for other holders of the store no
  /// longer than `patience` grants. Nil where the event is being written at that moment: the
  /// answer that `late` makes is called once, later, on another thread.
  func append(_ event: NewEvent, patience: inout Patience, late: () -> LateAnswer)
    -> AppendOutcome?

  /// Commits one event together with those of others that wait, and calls back, on any thread,
  /// with `.durable` once it is on the medium: `.syncPending` says that the device flush failed.
  /// Whatever is called on the store after this sees the event committed.
  func appendDurably(_ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void)

  /// Commits many in one transaction (the memory buffer's drain). Answers for a prefix: a first
  /// `.blocked` ends the list.
  func append(batch events: [NewEvent]) -> [AppendOutcome]

  /// The same for a caller on the app's thread.
  func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome]

  /// Calls back, on any thread, once everything committed so far is on the medium (device flush).
  func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void)

  /// Reads the oldest rows of an account within the bounds, in sequence order, skipping rows in
  /// flight and rows of unknown keys. Rows that do not open, or hold no event, go to quarantine on
  /// the way.
  /// A nil account reads rows of any one account: that of the oldest eligible row.
  func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch

  /// Marks rows as in flight, in memory only: eviction skips them, `readBatch` too.
  func markInFlight(_ rows: [RowReference])
  /// Takes the marks back, e.g. after a failed upload.
  func clearInFlight(_ rows: [RowReference])

  /// Deletes delivered rows, in transactions of at most 100, and counts them as delivered.
  /// Not-nil: some rows are still there (the marks too); call again before anything is sent.
  func deleteDelivered(_ rows: [RowReference]) -> StoreBlock?
  /// Moves rows to quarantine with the reason, in transactions of at most 100.
  func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock?
  /// Deletes an account's rows and quarantined events, counted as purged. Nil: everybody's.
  func dropAll(account: String?) -> StoreBlock?

  func quarantinedEvents(limit: Int) -> [QuarantinedEvent]
  /// Puts quarantined events back at the end of the queue. Returns how many.
  func requeueQuarantined() -> Int
  func clearQuarantine() -> Int

  /// Deletes rows older than `maxAgeMs` at the confirmed time. Called only with a wall clock that
  /// a server's `Date` confirmed.
  func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64)

  /// Small values that survive a kill (retry gate, session, lessons). At most 4 KB each, sealed.
  /// Keys are short ASCII names.
  func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock?
  func note(_ key: String) -> [UInt8]?

  func snapshot() -> StoreSnapshot
  /// Distinct accounts with queued rows or quarantined events.
  func accounts() -> [String]

  /// New rows use a new key from now on. Old keys live until no row uses them.
  func rotateKey() -> StoreBlock?
  /// Durable intent, keys first, then rows and notes; `open` finishes it after a kill. The note
  /// of delivery's gate stays: a purge is no way around a pause that the server asked for.
  func purge() -> StoreBlock?

  /// Background housekeeping: syncs the WAL, checkpoints, restarts it at its budget, shrinks the
  /// file, destroys unused keys. Bounded work per call; true where more is waiting.
  func maintain() -> Bool
  /// Fsync of what is committed.
  func sync() -> StoreBlock?
  /// Syncs and closes files and locks, so that no lock is held while the process is suspended.
  func suspend()
  /// Opens again after `suspend`.
  func resume() -> StoreBlock?
  func close()
}

/// A store that nobody holds for long: what waits a bounded time elsewhere does not wait here.
///
/// For stores of their own only. A wrapper that took these forms for its own would swallow the
/// patience on its way to the store behind it, so `EventStore` itself has none of them.
package protocol UncontendedEventStore: EventStore {}

extension UncontendedEventStore {
  package func appendDurably(
    _ event: NewEvent, _ callback: @escaping @Sendable (AppendOutcome) -> Void
  ) {
    let outcome = append(event)
    guard case .syncPending = outcome else { return callback(outcome) }
    whenSynced { callback(outcome.synced(unless: $0)) }
  }

  package func append(
    _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
  ) -> AppendOutcome? {
    append(event)
  }

  package func append(batch events: [NewEvent], patience: inout Patience) -> [AppendOutcome] {
    append(batch: events)
  }
}

/// What `readBatch` found.
package struct ReadBatch: Sendable {
  package var account: String
  package var events: [StoredEvent]
  /// True where more eligible rows of that account wait behind these.
  package var hasMore: Bool
  /// Set where the store could not be read just now; `events` is then empty.
  package var blocked: StoreBlock?
  package init(
    account: String = "", events: [StoredEvent] = [], hasMore: Bool = false,
    blocked: StoreBlock? = nil
  ) {
    self.account = account
    self.events = events
    self.hasMore = hasMore
    self.blocked = blocked
  }
}
