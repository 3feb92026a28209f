/// The prepared statements of the writing connection.
struct StoreStatements {
  let begin: SQLiteStatement
  let commit: SQLiteStatement
  let rollback: SQLiteStatement
  let insert: SQLiteStatement
  let readFrom: SQLiteStatement
  let inspectRange: SQLiteStatement
  let deleteOne: SQLiteStatement
  let deleteRange: SQLiteStatement
  let hasTag: SQLiteStatement
  let saveCounts: SQLiteStatement
  let quarantineInsert: SQLiteStatement
  let quarantineRead: SQLiteStatement
  let quarantineDelete: SQLiteStatement
  let noteRead: SQLiteStatement
  let noteWrite: SQLiteStatement
  let noteDelete: SQLiteStatement
  let noteNames: SQLiteStatement
  let setCurrentKey: SQLiteStatement
  let setStore: SQLiteStatement
  let firstOfKey: SQLiteStatement
  let rowsOfKey: SQLiteStatement
  let reseal: SQLiteStatement

  init(_ connection: SQLiteConnection) throws {
    begin = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
    insert = try connection.prepare(
      "INSERT INTO events(seq,key,account,rid,tag,sealed) VALUES(?1,?2,?3,?4,?5,?6)")
    readFrom = try connection.prepare(
      """
      SELECT seq,key,account,rid,tag,sealed FROM events WHERE seq>?1 ORDER BY seq LIMIT ?2
      """)
    inspectRange = try connection.prepare(
      "SELECT seq,key,account,rid,tag FROM events WHERE seq>=?1 AND seq<=?2 ORDER BY seq")
    deleteOne = try connection.prepare("DELETE FROM events WHERE seq=?1")
    deleteRange = try connection.prepare("DELETE FROM events WHERE seq>=?1 AND seq<=?2")
    hasTag = try connection.prepare("SELECT 1 FROM quarantine WHERE tag=?1 LIMIT 1")
    saveCounts = try connection.prepare(
      """
      UPDATE meta SET high_water=?1, base=?2, requeued=?3, delivered=?4, queue_full=?5,
        too_old=?6, purged=?7, corrupt=?8, quarantine_full=?9, quarantine_cleared=?10
      """)
    quarantineInsert = try connection.prepare(
      "INSERT INTO quarantine VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)")
    quarantineRead = try connection.prepare(
      """
      SELECT seq,key,account,rid,tag,sealed,code,detail_key,detail FROM quarantine
      WHERE seq>?1 ORDER BY seq LIMIT ?2
      """)
    quarantineDelete = try connection.prepare("DELETE FROM quarantine WHERE seq=?1")
    noteRead = try connection.prepare("SELECT key, sealed FROM notes WHERE name=?1")
    noteWrite = try connection.prepare(
      "INSERT OR REPLACE INTO notes(name,key,sealed) VALUES(?1,?2,?3)")
    noteDelete = try connection.prepare("DELETE FROM notes WHERE name=?1")
    noteNames = try connection.prepare("SELECT name FROM notes ORDER BY name")
    setCurrentKey = try connection.prepare("UPDATE meta SET current_key=?1")
    setStore = try connection.prepare("UPDATE meta SET store=?1")
    firstOfKey = try connection.prepare(
      "SELECT seq FROM events WHERE key=?1 ORDER BY seq LIMIT 1")
    rowsOfKey = try connection.prepare(
      """
      SELECT seq,key,account,rid,tag,sealed FROM events WHERE key=?1 ORDER BY seq LIMIT ?2
      """)
    reseal = try connection.prepare("UPDATE events SET key=?1, sealed=?2 WHERE seq=?3")
  }
}
