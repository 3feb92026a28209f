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
    readRows(connection)
  }

  private mutating func readMeta(_ connection: SQLiteConnection) throws {
    let statement = try connection.prepare(StoreCore.readMetaSQL)
    guard try statement.step() else { return }
    defer { statement.reset() }
    storeID = statement.sixteen(0)
    currentKey = statement.isNull(1) ? nil : statement.unsigned(1)
    counts = StoreCounts(metaRow: statement)
  }

  private mutating func readNotes(_ connection: SQLiteConnection) throws {
    let statement = try connection.prepare("SELECT name, key, sealed FROM notes")
    while try statement.step() {
      notes.append((statement.text(0), statement.unsigned(1), statement.bytes(2)))
    }
  }

  /// From both ends: a damaged page in the middle hides only itself.
  private mutating func readRows(_ connection: SQLiteConnection) {
    let columns = "SELECT seq,key,account,rid,tag,sealed FROM events"
    let upward = Salvage.rows(connection, columns + " ORDER BY seq")
    if upward.isComplete {
      rows = upward.rows
      return
    }
    let last = upward.rows.last?.head.sequence ?? .min
    let downward = Salvage.rows(connection, columns + " WHERE seq>\(last) ORDER BY seq DESC")
    rows = upward.rows + downward.rows.reversed()
  }

  private static func rows(
    _ connection: SQLiteConnection, _ sql: String
  ) -> (rows: [Row], isComplete: Bool) {
    var rows: [Row] = []
    do {
      let statement = try connection.prepare(sql)
      while try statement.step() {
        rows.append(Row(head: RowHead(statement), sealed: statement.bytes(5)))
      }
      return (rows, true)
    } catch {
      return (rows, false)  // The damage begins here.
    }
  }
}
