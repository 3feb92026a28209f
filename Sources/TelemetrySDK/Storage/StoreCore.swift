/// A write of unforeseen size met the log's budget: to be tried again once the log is restarted.
struct LogIsFull: Error {}

/// An open database and all that is known about it. Reached only while holding the store's lock;
/// each extension holds one subject.
final class StoreCore {
  /// Rows per transaction when many are deleted or moved: more would hold the lock too long.
  static let chunkRows = 100

  let configuration: StoreConfiguration
  let paths: StorePaths
  let connection: SQLiteConnection
  let statements: StoreStatements
  let clock: any TelemetryClock
  let boot: UInt32
  /// Events that this and earlier cores of the store have committed.
  let appended: Guarded<Int64>
  var storeID = SIMD16<UInt8>()
  var counts = StoreCounts()
  /// The counts as of the last sync.
  var synced = StoreCounts()
  var boots = BootAnchors()
  var hasBoots = false
  var keys = KeyRing()
  var inFlight: Set<Int64> = []
  /// Queued rows that a later version wrote, as far as they were met: they wait for it.
  var laterRows: Set<Int64> = []
  /// Quarantined rows up to here were sealed anew, as far as they open.
  var resealedQuarantine = Int64.min
  /// Account names by their keyed hash and back; bounded by the accounts that have rows.
  var accountNames: [Int64: String] = [:]
  var accountTags: [String: Int64] = [:]
  /// Accounts of which no row can be read with the keys that are loaded.
  var namelessTags: Set<Int64> = []
  /// By account: no row of it that can be read stands at this place or before.
  var starts: [String: Int64] = [:]
  /// Why the last write failed: until a probe succeeds, `append` answers with it at once.
  var block: StoreBlock?
  /// The file was found damaged while open; it is repaired at the next opening.
  var isDamaged = false
  /// A row had to go while files that nobody can read any more took its room.
  var needsRoom = false
  var hasRoomToGive = false
  /// Something was committed since the last sync.
  var isDirty = false
  /// Commits since the file was opened.
  var commits: Int64 = 0
  var logFrames: Int64 = 0
  /// A caller has waited for the log's restart in vain; the next ones buffer at once.
  var hasWaitedForLog = false
  var maxPages: Int64 = 0
  /// Collected under the lock, told after it.
  var events: [StoreEvent] = []
  var head: [UInt8] = []
  var sealed: [UInt8] = []

  /// Reads what the database holds. Throws where it is damaged or cannot be read.
  init(
    configuration: StoreConfiguration, paths: StorePaths, connection: SQLiteConnection,
    clock: any TelemetryClock, appended: Guarded<Int64>
  ) throws {
    self.configuration = configuration
    self.appended = appended
    self.paths = paths
    self.connection = connection
    self.clock = clock
    boot = RecordedTime.boot(clock.bootID())
    statements = StoreStatements(connection)
    try readMeta()
    try countRows()
    guard counts.isPlausible else {
      throw SQLiteError(code: 11, operation: "open", message: "impossible counts")
    }
    synced = counts
  }

  static let readMetaSQL = """
    SELECT store, current_key, high_water, base, requeued, delivered, queue_full, too_old,
      purged, corrupt, quarantine_full, quarantine_cleared FROM meta
    """

  private func readMeta() throws {
    let statement = try connection.prepare(StoreCore.readMetaSQL)
    guard try statement.step() else {
      throw SQLiteError(code: 11, operation: "open", message: "no meta row")
    }
    storeID = statement.sixteen(0)
    keys.current = statement.isNull(1) ? nil : statement.unsigned(1)
    counts = StoreCounts(metaRow: statement)
    statement.reset()
  }

  private func countRows() throws {
    let queued = try connection.prepare(
      "SELECT key, account, count(*), max(seq) FROM events GROUP BY key, account")
    while try queued.step() {
      let count = queued.integer(2)
      counts.queued += count
      counts.queuedByKey[queued.unsigned(0), default: 0] += count
      counts.accountRows[queued.integer(1), default: 0] += count
      counts.lastSequence = max(counts.lastSequence, queued.integer(3))
    }
    let quarantine = try connection.prepare(
      "SELECT key, detail_key, length(sealed) + ifnull(length(detail), 0), tag FROM quarantine")
    while try quarantine.step() {
      counts.addQuarantined(
        key: quarantine.unsigned(0),
        detailKey: quarantine.isNull(1) ? nil : quarantine.unsigned(1),
        bytes: quarantine.integer(2))
      if !quarantine.isNull(3) { counts.quarantinedTags.insert(quarantine.bytes(3)) }
    }
    let notes = try connection.prepare("SELECT key, count(*) FROM notes GROUP BY key")
    while try notes.step() {
      counts.otherByKey[notes.unsigned(0), default: 0] += notes.integer(1)
    }
  }

  /// Runs the body as one transaction. Where it fails, the counts are as before.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    let before = counts
    try statements.begin.run()
    do {
      let result = try body()
      try statements.commit.run()
      noteCommit()
      return result
    } catch {
      counts = before
      // try? because the first error is the one to report; SQLite may have rolled back itself.
      if connection.isInTransaction { try? statements.rollback.run() }
      throw error
    }
  }

  /// Writes ledger and high-water mark; part of every transaction that removes or moves rows.
  func saveCounts() throws {
    let statement = statements.saveCounts
    statement.bind(1, counts.lastSequence)
    statement.bind(2, counts.base)
    statement.bind(3, counts.requeued)
    statement.bind(4, counts.delivered)
    for (offset, reason) in StoreCounts.reasonColumns.enumerated() {
      statement.bind(5 + Int32(offset), counts.dropped[reason] ?? 0)
    }
    try statement.run()
  }

  /// Writes one page and changes nothing. SQLite leaves a page alone that an update would not
  /// change, so the row is changed and changed back.
  func writeForTrial() throws {
    try transaction {
      counts.requeued += 1
      try saveCounts()
      counts.requeued -= 1
      try saveCounts()
    }
  }

  func noteCommit() {
    isDirty = true
    commits += 1
    logFrames = Int64(connection.framesAfterLastCommit)
  }

  /// What a failed write means, remembered: later appends do not wait for the same again.
  func blocked(by error: any Error) -> StoreBlock { note(meaning(of: error)) }

  /// What a failure means. Damage is remembered in any case.
  func meaning(of error: any Error) -> StoreBlock {
    if error is LogIsFull { return .walBudget }
    guard let error = error as? SQLiteError else { return .ioError }
    switch error.meaning {
    case .block(let block): return block
    case .constraint: return .ioError
    case .damaged:
      isDamaged = true
      return .notOpen
    }
  }

  private func note(_ reason: StoreBlock) -> StoreBlock {
    // The log's budget is asked before each write anyway.
    if reason == .walBudget { return reason }
    if block != reason { events.append(.blocked(reason)) }
    if block == nil && reason == .locked { connection.setBusyMs(0) }
    block = reason
    return reason
  }

  /// A write went through: the store is itself again.
  func noteSuccess() {
    guard block != nil else { return }
    block = nil
    connection.setBusyMs(Int32(clamping: configuration.appendWaitMs))
    events.append(.unblocked)
  }

  /// Runs a write for a caller who has waited already: another connection's lock is waited for
  /// only as long as is left.
  func waiting(atMost patience: Patience, _ write: () -> Void) {
    var patience = patience
    guard patience.isBegun, block == nil else { return write() }
    connection.setBusyMs(Int32(clamping: patience.leftNs() / 1_000_000))
    write()
    // One that met a lock has set it to nothing.
    if block != .locked { connection.setBusyMs(Int32(clamping: configuration.appendWaitMs)) }
  }

  func takeEvents() -> [StoreEvent] {
    guard !events.isEmpty else { return [] }
    defer { events = [] }
    return events
  }

  var logBytes: Int64 { logFrames * Schema.frameBytes + 32 }
  var isLogHalfFull: Bool { logBytes >= configuration.effectiveWALBudget / 2 }

  /// False where a transaction that writes so many bytes could exceed the log's budget. The pages
  /// on the way to the leaf, the ledger and the pointer maps come on top.
  func logHasRoom(forBytes bytes: Int) -> Bool {
    let pages = Int64(bytes / 4000 + StoreCore.pagesBesideTheRow)
    return logBytes + pages * Schema.frameBytes <= configuration.effectiveWALBudget
  }
  static let pagesBesideTheRow = 10

  /// The smallest budget under which everything that is written at once finds room in an empty log.
  static var smallestLogBudget: Int64 {
    32 + Int64(SQLiteEventStore.chunkBytes / 4000 + pagesBesideTheRow) * Schema.frameBytes
  }

  /// The longest event that such a log can take, move to quarantine and make room for at the cap:
  /// a longer one would hold up everything behind it for ever.
  static func largestEventBytes(logBudget: Int64) -> Int {
    let pages = Int(clamping: (logBudget - 32) / Schema.frameBytes) - pagesBesideTheRow
    let room = pages * 4000
    return max(0, min((room - chunkBytes) / 2, room - 2 * chunkBytes) - bytesBesideEvent)
  }
  /// Seal, account, time and the server's words about a refusal.
  private static let bytesBesideEvent = 1_000

  /// Bytes of rows that one transaction moves, at most, unless a single row is larger.
  static let chunkBytes = 48_000
}
