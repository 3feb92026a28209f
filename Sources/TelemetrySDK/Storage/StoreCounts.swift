/// Everything the store counts, as one value: a transaction that fails puts the old one back.
struct StoreCounts: Sendable, Equatable {
  /// The last sequence number that was ever committed.
  var lastSequence: Int64 = 0
  /// Events recorded into files that this one replaced.
  var base: Int64 = 0
  /// Sequence numbers taken by events put back from quarantine: not recorded a second time.
  var requeued: Int64 = 0
  var delivered: Int64 = 0
  var dropped: [DropReason: Int64] = [:]
  var quarantined: Int64 = 0
  var quarantineBytes: Int64 = 0
  /// The keyed hashes of callers' ids in quarantine: asked for at each event with such an id.
  var quarantinedTags: Set<[UInt8]> = []
  var queued: Int64 = 0
  /// Queued rows by account.
  var accountRows: [Int64: Int64] = [:]
  /// Queued rows by key.
  var queuedByKey: [UInt64: Int64] = [:]
  /// Uses of a key in quarantine and notes.
  var otherByKey: [UInt64: Int64] = [:]

  /// In the order of the columns of `meta`.
  static let reasonColumns: [DropReason] = [
    .queueFull, .tooOld, .purged, .corruptFile, .quarantineFull, .quarantineCleared,
  ]

  init() {}

  /// From a row that `StoreCore.readMetaSQL` selected.
  init(metaRow statement: SQLiteStatement) {
    lastSequence = statement.integer(2)
    base = statement.integer(3)
    requeued = statement.integer(4)
    delivered = statement.integer(5)
    for (offset, reason) in StoreCounts.reasonColumns.enumerated() {
      dropped[reason] = statement.integer(6 + Int32(offset))
    }
  }

  /// What a count or a sequence number can be: a damaged page can hold any number, and sums of
  /// extremes would end the process.
  static let plausible: ClosedRange<Int64> = 0...(1 << 53)

  var isPlausible: Bool {
    let all = [lastSequence, base, requeued, delivered] + dropped.values
    return all.allSatisfy(StoreCounts.plausible.contains)
  }

  /// Goes on with a ledger of which only the hint is left; what lay in the file is not counted.
  mutating func takeOver(_ hint: StoreHint) {
    base = hint.recorded - lastSequence
    requeued = 0
    delivered = hint.delivered
    for (reason, count) in zip(DropReason.allCases, hint.dropped) { dropped[reason] = count }
  }

  var recorded: Int64 { base + lastSequence - requeued }

  var ledger: ConservationLedger {
    var ledger = ConservationLedger()
    ledger.recorded = recorded
    ledger.delivered = delivered
    ledger.queued = queued
    ledger.quarantined = quarantined
    for (reason, count) in dropped where count != 0 { ledger.dropped[reason.rawValue] = count }
    return ledger
  }

  /// Keys that a row or a note was sealed with.
  var usedKeys: Set<UInt64> { Set(queuedByKey.keys).union(otherByKey.keys) }

  /// True where a row or note sealed with the key exists in this file.
  func uses(key: UInt64) -> Bool {
    (queuedByKey[key] ?? 0) > 0 || (otherByKey[key] ?? 0) > 0
  }

  var hasSealedRows: Bool {
    queued > 0 || quarantined > 0 || otherByKey.values.contains { $0 > 0 }
  }

  mutating func addQueued(key: UInt64, account: Int64) {
    queued += 1
    accountRows[account, default: 0] += 1
    queuedByKey[key, default: 0] += 1
  }

  mutating func removeQueued(key: UInt64, account: Int64) {
    queued -= 1
    StoreCounts.decrement(&accountRows, account)
    StoreCounts.decrement(&queuedByKey, key)
  }

  mutating func addQuarantined(key: UInt64, detailKey: UInt64?, bytes: Int64) {
    quarantined += 1
    quarantineBytes += bytes
    otherByKey[key, default: 0] += 1
    if let detailKey { otherByKey[detailKey, default: 0] += 1 }
  }

  mutating func removeQuarantined(key: UInt64, detailKey: UInt64?, bytes: Int64) {
    quarantined -= 1
    quarantineBytes -= bytes
    StoreCounts.decrement(&otherByKey, key)
    if let detailKey { StoreCounts.decrement(&otherByKey, detailKey) }
  }

  mutating func forgetRows() {
    queued = 0
    quarantined = 0
    quarantineBytes = 0
    quarantinedTags = []
    accountRows = [:]
    queuedByKey = [:]
    otherByKey = [:]
  }

  mutating func addNote(key: UInt64) { otherByKey[key, default: 0] += 1 }
  mutating func removeNote(key: UInt64) { StoreCounts.decrement(&otherByKey, key) }

  private static func decrement<Key>(_ counts: inout [Key: Int64], _ key: Key) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}
