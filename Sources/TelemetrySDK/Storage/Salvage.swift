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

  /// Reads as much as will come; a file that is no database gives nothing. The files stay as
  /// they are.
  init(path: String, vfs: String?) {
    // try? because whatever cannot be read here is counted as lost by the caller.
    guard let connection = try? SQLiteConnection(path: path, vfs: vfs, busyMs: 0) else { return }
    defer { connection.closeUntouched() }
    try? readMeta(connection)  // Lost with the rest where it fails.
    try? readNotes(connection)  // Likewise.
    rows = Salvage.bothWays(
      connection, "SELECT seq,key,account,rid,tag,sealed FROM events",
      sequence: \.head.sequence
    ) { Row(head: RowHead($0), sealed: $0.bytes(5)) }
    quarantine = Salvage.bothWays(
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
  ) -> [Found] {
    let upward = found(connection, sql + " ORDER BY seq", make)
    if upward.isComplete { return upward.rows }
    let last = upward.rows.last?[keyPath: sequence] ?? .min
    let downward = found(connection, sql + " WHERE seq>\(last) ORDER BY seq DESC", make)
    return upward.rows + downward.rows.reversed()
  }

  private static func found<Found>(
    _ connection: SQLiteConnection, _ sql: String, _ make: (SQLiteStatement) -> Found
  ) -> (rows: [Found], isComplete: Bool) {
    var rows: [Found] = []
    do {
      let statement = try connection.prepare(sql)
      while try statement.step() {
        if StoreCounts.plausible.contains(statement.integer(0)) { rows.append(make(statement)) }
      }
      return (rows, true)
    } catch {
      return (rows, false)  // The damage begins here.
    }
  }
}
