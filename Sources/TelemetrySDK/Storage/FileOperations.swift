#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed file operation: what was tried, and the system's error number.
package struct FileError: Error, Sendable, Equatable {
  package let operation: String
  /// `errno`.
  package let code: Int32
  package var isNotFound: Bool { code == ENOENT }
  package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
  package init(operation: String, code: Int32) {
    self.operation = operation
    self.code = code
  }
}

/// Size and kind of a file, by `stat` alone: the file is not opened.
package struct FileStatus: Sendable, Equatable {
  package var bytes: Int64
  package var isDirectory: Bool
  package init(bytes: Int64, isDirectory: Bool) {
    self.bytes = bytes
    self.isDirectory = isDirectory
  }
}

/// A lock on a side file, held until `release`. It goes with the process.
package protocol FileLock: Sendable {
  /// Overwrites the file's bytes in place, unsynced.
  func write(_ bytes: [UInt8])
  func read() -> [UInt8]
  func release()
}

/// A descriptor of a file that is only synced, never read or written.
package protocol SyncHandle: Sendable {
  /// Forces the file's bytes to the medium.
  func sync() throws
  func close()
}

/// The few files that are not SQLite's: keys, locks, purge intents, files moved aside. A protocol
/// so that tests can count, fail and kill each operation.
package protocol FileOperations: Sendable {
  /// Makes the folder and those above it, mode 0700; one that exists is no error.
  func createDirectory(_ path: String) throws
  func list(_ directory: String) throws -> [String]
  func read(_ path: String) throws -> [UInt8]
  /// Creates or empties the file, mode 0600, and writes the bytes, unsynced.
  func write(_ path: String, _ bytes: [UInt8]) throws
  /// Forces a file's bytes to the medium.
  func sync(_ path: String) throws
  func remove(_ path: String) throws
  /// Removes a folder with all that is in it.
  func removeTree(_ path: String) throws
  func rename(_ from: String, to: String) throws
  func truncate(_ path: String, bytes: Int64) throws
  func syncDirectory(_ path: String) throws
  /// Nil where there is nothing.
  func status(_ path: String) -> FileStatus?
  /// Nil where another holder has it.
  func lock(_ path: String) throws -> (any FileLock)?
  func openForSync(_ path: String) throws -> any SyncHandle
}

/// What a file is called until it is whole.
enum DurableWrite {
  static let suffix = ".new"
}

extension FileOperations {
  /// Writes aside, syncs, renames, syncs the folder: whole and durable, or absent.
  package func writeDurably(_ path: String, _ bytes: [UInt8]) throws {
    let aside = path + DurableWrite.suffix
    try write(aside, bytes)
    try sync(aside)
    try rename(aside, to: path)
    try syncDirectory(folder(of: path))
  }

  private func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
