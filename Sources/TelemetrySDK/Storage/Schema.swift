/// The database's tables, versions and migrations.
///
/// Version 1 kept no words with a quarantined event; version 2 keeps them sealed.
enum Schema {
  static let version: Int64 = 2
  static let pageBytes: Int64 = 4096
  /// A frame of the write-ahead log: a page and its header.
  static let frameBytes: Int64 = pageBytes + 24

  /// Settings that must precede the first table. `secure_delete` is off because some builds
  /// default to on, and rows are sealed anyway.
  static let creationSettings = """
    PRAGMA page_size=4096;
    PRAGMA auto_vacuum=INCREMENTAL;
    """

  /// Settings of every connection.
  static let settings = """
    PRAGMA secure_delete=OFF;
    PRAGMA temp_store=MEMORY;
    PRAGMA cell_size_check=ON;
    PRAGMA fullfsync=ON;
    PRAGMA checkpoint_fullfsync=ON;
    """

  /// `rid` is the row's random id, also inside the seal's additional data; `tag` a keyed hash of
  /// an id that the caller chose. No column tells a time, a name or a kind.
  static let creation = """
    CREATE TABLE meta(
      id INTEGER PRIMARY KEY CHECK(id = 1), store BLOB NOT NULL, current_key INTEGER,
      high_water INTEGER NOT NULL DEFAULT 0, base INTEGER NOT NULL DEFAULT 0,
      requeued INTEGER NOT NULL DEFAULT 0, delivered INTEGER NOT NULL DEFAULT 0,
      queue_full INTEGER NOT NULL DEFAULT 0, too_old INTEGER NOT NULL DEFAULT 0,
      purged INTEGER NOT NULL DEFAULT 0, corrupt INTEGER NOT NULL DEFAULT 0,
      quarantine_full INTEGER NOT NULL DEFAULT 0, quarantine_cleared INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE events(
      seq INTEGER PRIMARY KEY, key INTEGER NOT NULL, account INTEGER NOT NULL,
      rid BLOB NOT NULL, tag BLOB, sealed BLOB NOT NULL);
    CREATE UNIQUE INDEX events_tag ON events(tag) WHERE tag IS NOT NULL;
    CREATE TABLE quarantine(
      seq INTEGER PRIMARY KEY, key INTEGER NOT NULL, account INTEGER NOT NULL,
      rid BLOB NOT NULL, tag BLOB, sealed BLOB NOT NULL, code INTEGER NOT NULL,
      detail_key INTEGER, detail BLOB);
    CREATE TABLE notes(name TEXT PRIMARY KEY, key INTEGER NOT NULL, sealed BLOB NOT NULL);
    """

  /// From the version of the index to the next one. Each runs in one transaction.
  static let migrations: [Int64: String] = [
    1: """
    ALTER TABLE quarantine ADD COLUMN detail_key INTEGER;
    ALTER TABLE quarantine ADD COLUMN detail BLOB;
    """
  ]

  /// Makes or migrates the tables, under full sync: with less, a power loss can leave a database
  /// without tables. Returns false where the file is of a newer version.
  static func prepare(_ connection: SQLiteConnection) throws -> Bool {
    let found = try connection.integer("PRAGMA user_version") ?? 0
    // No version of ours: a bit of the header has turned.
    guard found >= 0 else {
      throw SQLiteError(code: 11, operation: "open", message: "impossible version")
    }
    if found > version { return false }
    if found == 0 {
      // Rows without a version are not ours.
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
        throw SQLiteError(code: 26, operation: "open", message: "foreign tables")
      }
      try connection.execute(creationSettings)
    }
    try connection.execute(settings)
    try connection.execute("PRAGMA journal_mode=WAL")
    guard found < version else { return true }
    try connection.execute("PRAGMA synchronous=FULL")
    try connection.execute("BEGIN IMMEDIATE")
    do {
      if found == 0 {
        try connection.execute(creation)
        guard let store = SystemRandom.shared.sixteen() else {
          throw SQLiteError(code: 10, operation: "create", message: "no randomness")
        }
        let insert = try connection.prepare("INSERT INTO meta(id, store) VALUES(1, ?1)")
        insert.bind(1, store)
        try insert.run()
      } else {
        for step in found..<version {
          if let sql = migrations[step] { try connection.execute(sql) }
        }
      }
      try connection.execute("PRAGMA user_version=\(version)")
      try connection.execute("COMMIT")
    } catch {
      // try? because the first error is the one to report; a failed rollback ends with the close.
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
    _ = try connection.checkpointTruncate()
    return true
  }
}
