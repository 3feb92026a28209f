extension QuarantineReason {
  /// The kind and status as one number, in clear; words lie under a seal.
  var code: Int64 {
    switch self {
    case .unreadable: 1
    case .tooLarge: 2
    case .rejectedByServer: 3
    case .refused(let status, _): 1000 + Int64(status)
    }
  }

  /// The server's words, cut to a bounded length.
  var detail: [UInt8] {
    switch self {
    case .unreadable, .tooLarge: []
    case .rejectedByServer(let words), .refused(_, let words):
      Array(BoundedText.prefix(words, maxBytes: QuarantineReason.maxDetailBytes).utf8)
    }
  }
  private static let maxDetailBytes = 200

  /// As it is kept: with the server's words cut.
  package var bounded: QuarantineReason { QuarantineReason(code: code, detail: detail) }

  init(code: Int64, detail: [UInt8]) {
    let words = String(decoding: detail, as: UTF8.self)
    switch code {
    case 2: self = .tooLarge
    case 3: self = .rejectedByServer(reason: words)
    case 1000...: self = .refused(status: Int(code - 1000), detail: words)
    default: self = .unreadable
    }
  }
}

/// A quarantined row as it lies in the table.
struct QuarantineRow {
  let head: RowHead
  let sealed: [UInt8]
  let code: Int64
  let detailKey: UInt64?
  let detail: [UInt8]

  init(head: RowHead, sealed: [UInt8], code: Int64, detailKey: UInt64?, detail: [UInt8]) {
    self.head = head
    self.sealed = sealed
    self.code = code
    self.detailKey = detailKey
    self.detail = detail
  }

  /// From a row of all columns, in the table's order.
  init(_ statement: SQLiteStatement) {
    self.init(
      head: RowHead(statement), sealed: statement.bytes(5), code: statement.integer(6),
      detailKey: statement.isNull(7) ? nil : statement.unsigned(7), detail: statement.bytes(8))
  }

  var bytes: Int64 { Int64(sealed.count + detail.count) }

  /// The same under another number.
  func numbered(_ sequence: Int64) -> QuarantineRow {
    QuarantineRow(
      head: head.numbered(sequence), sealed: sealed, code: code, detailKey: detailKey,
      detail: detail)
  }
}

extension StoreCore {
  /// Moves rows to quarantine and keeps it within its bound, in transactions of bounded size.
  func quarantine(_ rows: [RowHead], reason: QuarantineReason) throws {
    var start = 0
    while start < rows.count {
      var bytes = 0
      let group = rows[start...].prefix { row in
        StoreCore.takes(sealedBytes(row), &bytes)
      }
      guard logHasRoom(forBytes: bytes * 2 + StoreCore.chunkBytes) else { throw LogIsFull() }
      try quarantine(group: Array(group), bytes: bytes, reason: reason)
      start += group.count
    }
  }

  /// Counts a row into a chunk where it fits; the first always does.
  private static func takes(_ row: Int, _ bytes: inout Int) -> Bool {
    guard bytes == 0 || bytes + row <= chunkBytes else { return false }
    bytes += row
    return true
  }

  private func sealedBytes(_ row: RowHead) -> Int {
    let read = statements.readFrom
    read.bind(1, row.sequence - 1)
    read.bind(2, Int64(1))
    defer { read.reset() }
    // try? because a row that cannot be read here fails in the transaction, which reports it.
    return (try? read.step()) == true ? read.blob(5).count : 0
  }

  private func quarantine(group rows: [RowHead], bytes: Int, reason: QuarantineReason) throws {
    var evicted: Int64 = 0
    // Making room must not evict the very rows that are moved: they would count twice.
    let held = Set(rows.map(\.sequence)).subtracting(inFlight)
    inFlight.formUnion(held)
    defer { inFlight.subtract(held) }
    try makingRoom(forBytes: bytes) {
      evicted = 0
      try transaction {
        for row in rows { try insertQuarantined(row, reason: reason) }
        try delete(rows)
        evicted = try boundQuarantine()
        try saveCounts()
      }
    }
    events.append(.quarantined(count: Int64(rows.count), reason: reason))
    if evicted > 0 { events.append(.dropped(count: evicted, reason: .quarantineFull)) }
  }

  private func insertQuarantined(_ row: RowHead, reason: QuarantineReason) throws {
    let read = statements.readFrom
    read.bind(1, row.sequence - 1)
    read.bind(2, Int64(1))
    var sealed: [UInt8] = []
    if try read.step() { sealed = read.bytes(5) }
    read.reset()
    let words = sealedWords(reason, of: row.rid)
    try insertQuarantined(
      QuarantineRow(
        head: row, sealed: sealed, code: reason.code, detailKey: words.key, detail: words.sealed))
  }

  /// The server's words under the live key, where there are some.
  func sealedWords(
    _ reason: QuarantineReason, of row: SIMD16<UInt8>
  ) -> (key: UInt64?, sealed: [UInt8]) {
    guard !reason.detail.isEmpty, let (id, cipher) = keys.live else { return (nil, []) }
    var sealed: [UInt8] = []
    let place = detailPlace(row, key: id)
    guard
      RecordSealer.seal(head: [], body: reason.detail, place: place, cipher: cipher, into: &sealed)
    else { return (nil, []) }
    keys.seals += 1
    return (id, sealed)
  }

  /// Within a transaction.
  func insertQuarantined(_ row: QuarantineRow) throws {
    let insert = statements.quarantineInsert
    insert.bind(1, row.head.sequence)
    insert.bind(2, row.head.key)
    insert.bind(3, row.head.account)
    insert.bind(4, row.head.rid)
    insert.bind(5, row.head.tag)
    insert.bind(6, row.sealed)
    insert.bind(7, row.code)
    if let key = row.detailKey { insert.bind(8, key) } else { insert.bindNull(8) }
    insert.bind(9, row.detailKey == nil ? nil : row.detail)
    try insert.run()
    if let tag = row.head.tag { counts.quarantinedTags.insert(tag) }
    counts.addQuarantined(key: row.head.key, detailKey: row.detailKey, bytes: row.bytes)
    // It may carry an old key where rows were sealed anew already.
    resealedQuarantine = min(resealedQuarantine, row.head.sequence - 1)
  }

  /// Deletes the oldest quarantined rows beyond the bound. Returns how many.
  func boundQuarantine() throws -> Int64 {
    var evicted: Int64 = 0
    while counts.quarantineBytes > configuration.effectiveQuarantineBytes {
      guard let oldest = try quarantineRows(after: .min, limit: 1).first else { break }
      try removeQuarantined(oldest)
      evicted += 1
    }
    counts.dropped[.quarantineFull, default: 0] += evicted
    return evicted
  }

  func removeQuarantined(_ row: QuarantineRow) throws {
    statements.quarantineDelete.bind(1, row.head.sequence)
    try statements.quarantineDelete.run()
    if let tag = row.head.tag { counts.quarantinedTags.remove(tag) }
    counts.removeQuarantined(
      key: row.head.key, detailKey: row.detailKey, bytes: row.bytes)
  }

  func quarantineRows(after sequence: Int64, limit: Int) throws -> [QuarantineRow] {
    let statement = statements.quarantineRead
    statement.bind(1, sequence)
    statement.bind(2, Int64(limit))
    defer { statement.reset() }
    var rows: [QuarantineRow] = []
    while try statement.step() { rows.append(QuarantineRow(statement)) }
    return rows
  }

  func quarantinedEvents(limit: Int) throws -> [QuarantinedEvent] {
    try quarantineRows(after: .min, limit: limit).map { row in
      let found = openQuarantined(row)
      let rowID = EventID(bytes: row.head.rid)
      let id = found?.record.id(rowID: rowID) ?? rowID
      return QuarantinedEvent(
        row: RowReference(sequence: row.head.sequence, id: id, rowID: rowID),
        reason: QuarantineReason(code: row.code, detail: openDetail(row)), json: found?.json)
    }
  }

  private func openQuarantined(_ row: QuarantineRow) -> (record: EventRecord, json: [UInt8])? {
    guard let cipher = keys.cipher(row.head.key) else { return nil }
    let place = eventPlace(row.head)
    let record = row.sealed.withUnsafeBytes {
      RecordSealer.open($0, place: place, cipher: cipher).flatMap(EventRecord.init)
    }
    guard let record, let json = record.json(rowID: EventID(bytes: row.head.rid)) else {
      return nil
    }
    return (record, json)
  }

  func openDetail(_ row: QuarantineRow) -> [UInt8] {
    guard let place = detailPlace(row), let cipher = keys.cipher(place.keyID) else { return [] }
    return row.detail.withUnsafeBytes {
      RecordSealer.open($0, place: place, cipher: cipher) ?? []
    }
  }

  /// Where the event of a row belongs, queued or in quarantine.
  func eventPlace(_ head: RowHead) -> SealPlace {
    SealPlace(
      domain: configuration.domain, store: storeID, account: head.account, keyID: head.key,
      row: head.rid)
  }

  /// Where the words of a quarantined row belong; nil where it has none.
  func detailPlace(_ row: QuarantineRow) -> SealPlace? {
    row.detailKey.map { detailPlace(row.head.rid, key: $0) }
  }

  private func detailPlace(_ row: SIMD16<UInt8>, key: UInt64) -> SealPlace {
    SealPlace(domain: .quarantineDetail, store: storeID, account: 0, keyID: key, row: row)
  }

  /// Puts one chunk back at the end of the queue, except rows whose seal does not open: they
  /// would only come back. Returns how many were put back and where to go on; nil at the end.
  func requeueChunk(after sequence: Int64) throws -> (requeued: Int, next: Int64)? {
    var bytes = 0
    let rows = try quarantineRows(after: sequence, limit: StoreCore.chunkRows).prefix { row in
      StoreCore.takes(row.sealed.count, &bytes)
    }
    guard let last = rows.last else { return nil }
    guard logHasRoom(forBytes: bytes * 2 + StoreCore.chunkBytes) else { throw LogIsFull() }
    let readable = rows.filter { openQuarantined($0) != nil }
    guard !readable.isEmpty else { return (0, last.head.sequence) }
    try makingRoom(forBytes: readable.reduce(0) { $0 + $1.sealed.count }) {
      try transaction {
        for row in readable {
          try removeQuarantined(row)
          try insertAgain(row.head, sealed: row.sealed)
        }
        try saveCounts()
      }
    }
    return (readable.count, last.head.sequence)
  }

  /// Deletes an account's quarantined events, or everybody's, among the next ones behind a place.
  /// Returns where to go on; nil at the end.
  func dropQuarantined(account: Int64?, after place: Int64, reason: DropReason) throws -> Int64? {
    guard counts.quarantined > 0 else { return nil }
    let found = try quarantineRows(after: place, limit: StoreCore.chunkRows)
    let rows = found.filter { account == nil || $0.head.account == account }
    if !rows.isEmpty {
      try transaction {
        for row in rows { try removeQuarantined(row) }
        counts.dropped[reason, default: 0] += Int64(rows.count)
        try saveCounts()
      }
      events.append(.dropped(count: Int64(rows.count), reason: reason))
    }
    return found.last?.head.sequence
  }

  /// The hashes of the accounts that have quarantined events, with the names that can be told.
  func learnQuarantinedAccounts() throws -> Set<Int64> {
    var tags: Set<Int64> = []
    var place = Int64.min
    while counts.quarantined > 0 {
      let rows = try quarantineRows(after: place, limit: StoreCore.chunkRows)
      guard let last = rows.last else { break }
      place = last.head.sequence
      for row in rows {
        tags.insert(row.head.account)
        if accountNames[row.head.account] == nil, let found = openQuarantined(row) {
          accountNames[row.head.account] = found.record.account
        }
      }
    }
    return tags
  }

  /// Deletes one chunk. Returns how many.
  func clearQuarantineChunk(reason: DropReason) throws -> Int {
    let rows = try quarantineRows(after: .min, limit: StoreCore.chunkRows)
    guard !rows.isEmpty else { return 0 }
    try transaction {
      for row in rows { try removeQuarantined(row) }
      counts.dropped[reason, default: 0] += Int64(rows.count)
      try saveCounts()
    }
    events.append(.dropped(count: Int64(rows.count), reason: reason))
    return rows.count
  }
}
