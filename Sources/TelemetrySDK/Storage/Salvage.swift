/// What could be read out of a damaged database.
struct Salvage {
  /// A queued row as it lay there, its seal unopened.
  struct Row {
    let head: RowHead
    let sealed: [UInt8]
  }

  var storeID: SIMD16<UInt8>?
  var currentKey: UInt64?
  var rows: [Row] = []
  var quarantine: [QuarantineRow] = []
  var notes: [(name: String, key: UInt64, sealed: [UInt8])] = []
  /// The ledger's counts, where its row could be read.
  var counts: StoreCounts?
  /// What of it a new file has by now: its ledger, and so many rows.
  var hasLedgerBegun = false
  var rowsTaken = 0
  var quarantineTaken = 0

  /// Reads as much as will come; a file that is no database gives nothing. The files stay as
  /// they are. Throws where something keeps it from reading that may pass: what is there must not be
  /// taken for lost.
  init(path: String, vfs: String?) throws {
    let connection = try SQLiteConnection(path: path, vfs: vfs, busyMs: 0)
    defer { connection.closeUntouched() }
    try Salvage.asFarAsItGoes { try readMeta(connection) }
    try Salvage.asFarAsItGoes { try readNotes(connection) }
    rows = try Salvage.bothWays(
      connection, "SELECT seq,key,account,rid,tag,sealed FROM events",
      sequence: \.head.sequence
    ) { Row(head: RowHead($0), sealed: $0.bytes(5)) }
    quarantine = try Salvage.bothWays(
      connection,
      "SELECT seq,key,account,rid,tag,sealed,code,detail_key,detail FROM quarantine",
      sequence: \.head.sequence, QuarantineRow.init)
    dropRepeated()
  }

  /// Events that were found, queued or in quarantine.
  var eventCount: Int { rows.count + quarantine.count }

  /// What a new database with all of it takes, at most.
  var estimatedFileBytes: Int64 {
    func pages(_ rowBytes: Int64) -> Int64 {
      // Long rows end in pages of their own; short ones leave a part of theirs empty.
      let bytes = rowBytes + Salvage.bytesBesideRow
      return bytes > 1_000 ? bytes + 2 * Schema.pageBytes : bytes * 4 / 3
    }
    return rows.reduce(0) { $0 + pages(Int64($1.sealed.count)) }
      + quarantine.reduce(0) { $0 + pages($1.bytes) }
      + notes.reduce(0) { $0 + pages(Int64($1.sealed.count)) }
      + Salvage.emptyFilePages * Schema.pageBytes
  }
  private static let bytesBesideRow: Int64 = 100
  private static let emptyFilePages: Int64 = 64

  var lastSequence: Int64 {
    max(rows.last?.head.sequence ?? 0, quarantine.last?.head.sequence ?? 0)
  }

  /// A damaged tree can show a row twice, and a lost page of the log an event in both tables.
  private mutating func dropRepeated() {
    var seen: Set<SIMD16<UInt8>> = []
    quarantine = quarantine.filter { seen.insert($0.head.rid).inserted }
    rows = rows.filter { seen.insert($0.head.rid).inserted }
  }

  private mutating func readMeta(_ connection: SQLiteConnection) throws {
    let statement = try connection.prepare(StoreCore.readMetaSQL)
    guard try statement.step() else { return }
    defer { statement.reset() }
    storeID = statement.sixteen(0)
    currentKey = statement.isNull(1) ? nil : statement.unsigned(1)
    let found = StoreCounts(metaRow: statement)
    if found.isPlausible { counts = found }
  }

  private mutating func readNotes(_ connection: SQLiteConnection) throws {
    let statement = try connection.prepare("SELECT name, key, sealed FROM notes")
    while try statement.step() {
      notes.append((statement.text(0), statement.unsigned(1), statement.bytes(2)))
    }
  }

  /// From both ends: a damaged page in the middle hides only itself.
  private static func bothWays<Found>(
    _ connection: SQLiteConnection, _ sql: String, sequence: KeyPath<Found, Int64>,
    _ make: (SQLiteStatement) -> Found
  ) throws -> [Found] {
    let upward = try found(connection, sql + " ORDER BY seq", make)
    if upward.isComplete { return upward.rows }
    let last = upward.rows.last?[keyPath: sequence] ?? .min
    let downward = try found(connection, sql + " WHERE seq>\(last) ORDER BY seq DESC", make)
    return upward.rows + downward.rows.reversed()
  }

  private static func found<Found>(
    _ connection: SQLiteConnection, _ sql: String, _ make: (SQLiteStatement) -> Found
  ) throws -> (rows: [Found], isComplete: Bool) {
    var rows: [Found] = []
    let isComplete = try asFarAsItGoes {
      let statement = try connection.prepare(sql)
      while try statement.step() {
        if StoreCounts.plausible.contains(statement.integer(0)) { rows.append(make(statement)) }
      }
    }
    return (rows, isComplete)
  }

  /// False where damage ended it: what lies behind is counted as lost by the caller.
  @discardableResult
  private static func asFarAsItGoes(_ read: () throws -> Void) throws -> Bool {
    do {
      try read()
      return true
    } catch let error as SQLiteError where error.isOfTheFile {
      return false
    }
  }
}
