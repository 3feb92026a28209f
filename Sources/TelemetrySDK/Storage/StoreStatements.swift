/// The statements of the writing connection, each prepared at its first use and kept.
struct StoreStatements {
  let begin: SQLiteStatement
  let commit: SQLiteStatement
  let rollback: SQLiteStatement
  let insert: SQLiteStatement
  let readFrom: SQLiteStatement
  let inspectRange: SQLiteStatement
  let deleteOne: SQLiteStatement
  let deleteRange: SQLiteStatement
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
  let quarantineReseal: SQLiteStatement
  /// Of a table that is made when there is something to write to it.
  let strayRead: SQLiteStatement
  let strayWrite: SQLiteStatement

  init(_ connection: SQLiteConnection) {
    begin = connection.later("BEGIN IMMEDIATE")
    commit = connection.later("COMMIT")
    rollback = connection.later("ROLLBACK")
    insert = connection.later(
      "INSERT INTO events(seq,key,account,rid,tag,sealed) VALUES(?1,?2,?3,?4,?5,?6)")
    readFrom = connection.later(
      """
      SELECT seq,key,account,rid,tag,sealed FROM events WHERE seq>?1 ORDER BY seq LIMIT ?2
      """)
    inspectRange = connection.later(
      "SELECT seq,key,account,rid,tag FROM events WHERE seq>=?1 AND seq<=?2 ORDER BY seq")
    deleteOne = connection.later("DELETE FROM events WHERE seq=?1")
    deleteRange = connection.later("DELETE FROM events WHERE seq>=?1 AND seq<=?2")
    saveCounts = connection.later(
      """
      UPDATE meta SET high_water=?1, base=?2, requeued=?3, delivered=?4, queue_full=?5,
        too_old=?6, purged=?7, corrupt=?8, quarantine_full=?9, quarantine_cleared=?10
      """)
    quarantineInsert = connection.later(
      "INSERT INTO quarantine VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)")
    quarantineRead = connection.later(
      """
      SELECT seq,key,account,rid,tag,sealed,code,detail_key,detail FROM quarantine
      WHERE seq>?1 ORDER BY seq LIMIT ?2
      """)
    quarantineDelete = connection.later("DELETE FROM quarantine WHERE seq=?1")
    noteRead = connection.later("SELECT key, sealed FROM notes WHERE name=?1")
    noteWrite = connection.later(
      "INSERT OR REPLACE INTO notes(name,key,sealed) VALUES(?1,?2,?3)")
    noteDelete = connection.later("DELETE FROM notes WHERE name=?1")
    noteNames = connection.later("SELECT name FROM notes ORDER BY name")
    setCurrentKey = connection.later("UPDATE meta SET current_key=?1")
    setStore = connection.later("UPDATE meta SET store=?1")
    firstOfKey = connection.later(
      "SELECT seq FROM events WHERE key=?1 ORDER BY seq LIMIT 1")
    rowsOfKey = connection.later(
      """
      SELECT seq,key,account,rid,tag,sealed FROM events WHERE key=?1 ORDER BY seq LIMIT ?2
      """)
    reseal = connection.later("UPDATE events SET key=?1, sealed=?2 WHERE seq=?3")
    strayRead = connection.later("SELECT mark FROM strays WHERE name=?1")
    strayWrite = connection.later("INSERT OR REPLACE INTO strays(name,mark) VALUES(?1,?2)")
    quarantineReseal = connection.later(
      "UPDATE quarantine SET key=?1, sealed=?2, detail_key=?3, detail=?4 WHERE seq=?5")
  }
}
