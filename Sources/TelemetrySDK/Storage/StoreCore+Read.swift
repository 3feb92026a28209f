/// A batch being read: state between the chunks, for the lock is let go after each.
struct BatchReading {
  let account: String?
  let bounds: BatchBounds
  var batch: ReadBatch
  var bytes: Int
  var cursor = Int64.min
  var isComplete = false
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

  mutating func add(_ row: RowReference, _ json: [UInt8]) {
    bytes += json.count + (batch.events.isEmpty ? 0 : 1)
    batch.events.append(StoredEvent(row: row, json: json))
  }
}

extension StoreCore {
  /// Reads one chunk of rows into the batch. Rows that do not open go to quarantine.
  func readChunk(into reading: inout BatchReading) throws {
    let statement = statements.readFrom
    statement.bind(1, reading.cursor)
    statement.bind(2, Int64(StoreCore.chunkRows))
    var unreadable: [RowHead] = []
    var rows = 0
    do {
      defer { statement.reset() }
      while !reading.isComplete, try statement.step() {
        rows += 1
        reading.cursor = statement.integer(0)
        if !take(statement, into: &reading) { unreadable.append(RowHead(statement)) }
      }
    }
    if rows < StoreCore.chunkRows && !reading.isComplete { reading.isComplete = true }
    if !unreadable.isEmpty { try quarantine(unreadable, reason: .unreadable) }
  }

  /// False where the row's seal does not open under its own key, or there is no JSON under it: one
  /// such text would spoil its whole batch for the server.
  private func take(_ statement: SQLiteStatement, into reading: inout BatchReading) -> Bool {
    let sequence = statement.integer(0)
    if inFlight.contains(sequence) { return true }
    let tag = statement.integer(2)
    let wanted = reading.batch.events.isEmpty ? reading.account : reading.batch.account
    if let wanted, let name = accountNames[tag], name != wanted { return true }
    let keyID = statement.unsigned(1)
    guard let cipher = keys.cipher(keyID) else {
      if !keys.missing.contains(keyID) { reading.wantedKeys.insert(keyID) }
      return true
    }
    guard let record = open(statement, cipher: cipher), record.holdsJSON else { return false }
    accountNames[tag] = record.account
    if let wanted, record.account != wanted { return true }
    guard reading.takes(record.json) else {
      reading.batch.hasMore = true
      reading.isComplete = true
      return true
    }
    reading.batch.account = record.account
    let rowID = EventID(bytes: statement.sixteen(3))
    let id = record.callerID.map(EventID.init(bytes:)) ?? rowID
    reading.add(RowReference(sequence: sequence, id: id, rowID: rowID), record.json)
    return true
  }

  /// Opens the row that stands ready in a statement of `seq, key, account, rid, tag, sealed`.
  func open(_ statement: SQLiteStatement, cipher: AESGCM) -> EventRecord? {
    let place = SealPlace(
      domain: configuration.domain, store: storeID, account: statement.integer(2),
      keyID: statement.unsigned(1), row: statement.sixteen(3))
    return RecordSealer.open(statement.blob(5), place: place, cipher: cipher)
      .flatMap(EventRecord.init)
  }

  /// The stamp of the oldest queued row that can be read, among the first few.
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
    for tag in counts.accountRows.keys where accountNames[tag] == nil {
      try learnName(of: tag)
    }
    return Array(Set(counts.accountRows.keys.compactMap { accountNames[$0] })).sorted()
  }

  /// The hashes of an account: more than one where the secret was lost in between.
  func tags(ofAccount name: String) throws -> [Int64] {
    _ = try accounts()
    return counts.accountRows.keys.filter { accountNames[$0] == name }
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
