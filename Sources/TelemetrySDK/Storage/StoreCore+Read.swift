/// A batch being read: state between the chunks, for the lock is let go after each.
struct BatchReading {
  let account: String?
  let bounds: BatchBounds
  var batch: ReadBatch
  var bytes: Int
  var cursor = Int64.min
  var isComplete = false
  /// The first row that is the account's, or may be.
  private(set) var firstSeen: Int64?
  /// Keys that rows named and that are not loaded.
  var wantedKeys: Set<UInt64> = []

  init(account: String?, bounds: BatchBounds) {
    self.account = account
    self.bounds = bounds
    batch = ReadBatch(account: account ?? "")
    bytes = bounds.envelopeBytes
  }

  /// True where the event still fits. One that fits no batch at all goes alone: the server
  /// decides about it.
  func takes(_ event: [UInt8]) -> Bool {
    if batch.events.isEmpty { return true }
    return batch.events.count < bounds.maxEvents && bytes + 1 + event.count <= bounds.maxBytes
  }

  mutating func sees(_ sequence: Int64) { firstSeen = firstSeen ?? sequence }

  mutating func add(_ row: RowReference, _ json: [UInt8]) {
    bytes += json.count + (batch.events.isEmpty ? 0 : 1)
    batch.events.append(StoredEvent(row: row, json: json))
  }
}

extension StoreCore {
  /// Reads one chunk of rows into the batch, a short one where somebody on the app's thread waits
  /// for the lock. Rows that do not open go to quarantine.
  func readChunk(into reading: inout BatchReading, isUrgent: () -> Bool = { false }) throws {
    if reading.cursor == .min, let account = reading.account {
      guard mayHaveRows(of: account) else { return reading.isComplete = true }
      reading.cursor = starts[account] ?? .min
    }
    let statement = statements.readFrom
    statement.bind(1, reading.cursor)
    statement.bind(2, Int64(StoreCore.chunkRows))
    var unreadable: [RowHead] = []
    var rows = 0
    var isCut = false
    do {
      defer { statement.reset() }
      while !reading.isComplete, !isCut, try statement.step() {
        rows += 1
        isCut = rows % StoreCore.rowsBetweenLooks == 0 && isUrgent()
        reading.cursor = statement.integer(0)
        if !take(statement, into: &reading) { unreadable.append(RowHead(statement)) }
      }
    }
    if rows < StoreCore.chunkRows, !isCut { reading.isComplete = true }
    noteStart(of: reading)
    if !unreadable.isEmpty { try quarantine(unreadable, reason: .unreadable) }
  }

  private static let rowsBetweenLooks = 8

  /// Other accounts' rows before this one's are not walked over again for each batch.
  private func noteStart(of reading: BatchReading) {
    guard let account = reading.account else { return }
    if starts.count >= StoreCore.maxRememberedAccounts, starts[account] == nil { starts = [:] }
    starts[account] = reading.firstSeen.map { $0 - 1 } ?? reading.cursor
  }

  /// False where every queued row is known to be another account's.
  private func mayHaveRows(of account: String) -> Bool {
    counts.accountRows.keys.contains { tag in
      accountNames[tag].map { $0 == account } ?? !namelessTags.contains(tag)
    }
  }

  /// A key that was not loaded: its rows can be read from now on.
  func load(_ id: UInt64, _ cipher: AESGCM) {
    keys.add(id, cipher)
    starts = [:]
    namelessTags = []
  }

  /// False where the row's seal does not open under its own key, or there is no event under it: one
  /// such text would spoil its whole batch for the server.
  private func take(_ statement: SQLiteStatement, into reading: inout BatchReading) -> Bool {
    let sequence = statement.integer(0)
    let tag = statement.integer(2)
    let wanted = reading.batch.events.isEmpty ? reading.account : reading.batch.account
    if let wanted, let name = accountNames[tag], name != wanted { return true }
    let keyID = statement.unsigned(1)
    guard let cipher = keys.cipher(keyID) else {
      if !keys.missing.contains(keyID) { reading.wantedKeys.insert(keyID) }
      return true
    }
    if inFlight.contains(sequence) {
      reading.sees(sequence)
      return true
    }
    let rowID = EventID(bytes: statement.sixteen(3))
    guard let plain = unsealed(statement, cipher: cipher) else { return false }
    guard let record = EventRecord(plain), let json = record.json(rowID: rowID) else {
      guard EventRecord.isOfLaterVersion(plain) else { return false }
      laterRows.insert(sequence)
      return true
    }
    accountNames[tag] = record.account
    if let wanted, record.account != wanted { return true }
    reading.sees(sequence)
    guard reading.takes(json) else {
      reading.batch.hasMore = true
      reading.isComplete = true
      return true
    }
    reading.batch.account = record.account
    reading.add(
      RowReference(sequence: sequence, id: record.id(rowID: rowID), rowID: rowID), json)
    return true
  }

  /// Opens the row that stands ready in a statement of `seq, key, account, rid, tag, sealed`.
  func open(_ statement: SQLiteStatement, cipher: AESGCM) -> EventRecord? {
    unsealed(statement, cipher: cipher).flatMap(EventRecord.init)
  }

  private func unsealed(_ statement: SQLiteStatement, cipher: AESGCM) -> [UInt8]? {
    let place = SealPlace(
      domain: configuration.domain, store: storeID, account: statement.integer(2),
      keyID: statement.unsigned(1), row: statement.sixteen(3))
    return RecordSealer.open(statement.blob(5), place: place, cipher: cipher)
  }

  /// The stamp of the first queued row that can be read, among the first few.
  func oldestRecordedAtMs() throws -> Int64? {
    let statement = statements.readFrom
    statement.bind(1, Int64.min)
    statement.bind(2, Int64(StoreCore.chunkRows))
    defer { statement.reset() }
    while try statement.step() {
      if let cipher = keys.cipher(statement.unsigned(1)),
        let record = open(statement, cipher: cipher)
      {
        return record.time.wallMs
      }
    }
    return nil
  }

  /// Names of the accounts that have rows; those whose rows cannot be read have none to tell.
  func accounts() throws -> [String] {
    Array(Set(try accountsWithEvents().compactMap { accountNames[$0] })).sorted()
  }

  /// The hashes of an account: more than one where the secret was lost in between.
  func tags(ofAccount name: String) throws -> [Int64] {
    try accountsWithEvents().filter { accountNames[$0] == name }
  }

  /// The hashes of all accounts in queue and quarantine, after their names were learnt.
  private func accountsWithEvents() throws -> Set<Int64> {
    for tag in counts.accountRows.keys
    where accountNames[tag] == nil && !namelessTags.contains(tag) {
      try learnName(of: tag)
      // Asked again once another key is loaded: the look goes through the whole table.
      if accountNames[tag] == nil { namelessTags.insert(tag) }
    }
    return try learnQuarantinedAccounts().union(counts.accountRows.keys)
  }

  private func learnName(of tag: Int64) throws {
    let statement = statements.readFrom
    statement.bind(1, Int64.min)
    statement.bind(2, Int64(-1))
    defer { statement.reset() }
    while try statement.step() {
      guard statement.integer(2) == tag, let cipher = keys.cipher(statement.unsigned(1)),
        let record = open(statement, cipher: cipher)
      else { continue }
      accountNames[tag] = record.account
      return
    }
  }
}
