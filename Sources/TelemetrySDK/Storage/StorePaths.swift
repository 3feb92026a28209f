/// The names of a store's files. Lengths are read by `stat`: opening and closing the database or
/// the shared-memory file in this process would drop SQLite's locks on them.
struct StorePaths: Sendable {
  let directory: String
  let base: String

  init(directory: String, base: String = "queue") {
    self.directory = directory
    self.base = directory + "/" + base
  }

  var database: String { base + ".sqlite" }
  var log: String { base + ".sqlite-wal" }
  var sharedMemory: String { base + ".sqlite-shm" }
  var lock: String { directory + "/queue.lock" }
  /// Present from the decision to purge until the purge is done.
  var purgeIntent: String { directory + "/queue.purge" }
  /// A damaged database, one at most.
  var movedAside: String { directory + "/queue.damaged" }
  /// A new database while a repair fills it. Found at a start, it is of no use.
  var repair: StorePaths { StorePaths(directory: directory, base: "queue-repair") }
  /// The same when it holds everything: found at a start, it takes the damaged one's place.
  var repaired: String { directory + "/queue-repaired.sqlite" }
  /// Where to record beside a database of a newer schema.
  func beside(version: Int) -> StorePaths {
    StorePaths(directory: directory, base: "queue-v\(version)")
  }
}
