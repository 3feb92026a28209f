/// The names of a store's files. Lengths are read by `stat`: opening and closing the database or
/// the shared-memory file in this process would drop SQLite's locks on them.
struct StorePaths: Sendable {
  let directory: String
  let base: String

  init(directory: String, base: String = "queue") {
    self.directory = directory
    self.base = directory + "/" + base
  }

  private init(directory: String, path: String) {
    self.directory = directory
    base = path
  }

  var name: String { String(base.dropFirst(directory.count + 1)) }
  var database: String { base + ".sqlite" }
  var log: String { base + ".sqlite-wal" }
  var sharedMemory: String { base + ".sqlite-shm" }
  /// What SQLite makes of this database.
  var files: [String] { [database, log, sharedMemory] }
  /// A new database while a repair of this one fills it. Found at a start, it is of no use.
  var repair: StorePaths { StorePaths(directory: directory, path: base + "-repair") }
  /// The same when it holds everything: found at a start, it takes the damaged one's place.
  var repaired: String { base + "-repaired.sqlite" }

  var lock: String { directory + "/queue.lock" }
  /// Present from the decision to purge until the purge is done.
  var purgeIntent: String { directory + "/queue.purge" }
  /// A damaged database, one at most.
  var movedAside: String { directory + "/queue.damaged" }
  /// Where to record beside a database of a newer schema.
  func beside(version: Int64) -> StorePaths {
    StorePaths(directory: directory, base: "queue-v\(version)")
  }

  /// The databases that there can be: the queue, and those that this version or earlier ones
  /// recorded into beside a queue of a newer schema.
  var databases: [StorePaths] {
    [StorePaths(directory: directory)] + (1...Schema.version).map(beside(version:))
  }

  /// The names that a store's files can have in its folder; made once, for a store opens often in
  /// tests.
  static let names = Set(StorePaths(directory: "").all.map { String($0.dropFirst()) })

  /// Every file that a store may make in its folder.
  var all: [String] {
    databases.flatMap { $0.files + $0.repair.files + [$0.repaired] }
      + [lock, movedAside, purgeIntent, purgeIntent + DurableWrite.suffix]
  }
}
