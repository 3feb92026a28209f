import StorageShim
import TelemetrySDK

/// The few files that are not SQLite's, in the storage shim's memory: for one thread, and for
/// crash images by the thousand. Folders are implied by the paths.
package struct MemoryFiles: FileOperations {
  private static let notFound: Int32 = 2

  package init() {}

  private func demand(_ status: Int32, _ operation: String) throws {
    guard status == 0 else { throw FileError(operation: operation, code: MemoryFiles.notFound) }
  }

  package func createDirectory(_ path: String) throws {}

  private static func paths() -> [String] {
    var paths: [String] = []
    while let name = memory_name(paths.count) { paths.append(String(cString: name)) }
    return paths
  }

  package func list(_ directory: String) throws -> [String] {
    // By bytes: images are opened by the ten thousand.
    let folder = Array((directory + "/").utf8)
    return MemoryFiles.paths().compactMap { path in
      guard path.utf8.starts(with: folder) else { return nil }
      let name = path.utf8.dropFirst(folder.count)
      return name.contains(0x2f) ? nil : String(name)
    }
  }

  package func read(_ path: String) throws -> [UInt8] {
    let size = memory_size(path)
    try demand(size < 0 ? -1 : 0, "open")
    return [UInt8](UnsafeBufferPointer(start: memory_bytes(path), count: Int(size)))
  }

  package func write(_ path: String, _ bytes: [UInt8]) throws {
    memory_write(path, 0, 0, nil)
    _ = memory_truncate(path, 0)
    memory_write(path, 0, Int64(bytes.count), bytes)
  }

  package func sync(_ path: String) throws { try demand(memory_size(path) < 0 ? -1 : 0, "open") }
  package func remove(_ path: String) throws { try demand(memory_remove(path), "unlink") }

  package func removeTree(_ path: String) throws {
    let found = MemoryFiles.paths().filter { $0 == path || $0.hasPrefix(path + "/") }
    try demand(found.isEmpty ? -1 : 0, "unlink")
    for file in found { _ = memory_remove(file) }
  }

  package func rename(_ from: String, to: String) throws {
    try demand(memory_rename(from, to), "rename")
  }

  package func truncate(_ path: String, bytes: Int64) throws {
    try demand(memory_truncate(path, bytes), "ftruncate")
  }

  package func syncDirectory(_ path: String) throws {}

  package func status(_ path: String) -> FileStatus? {
    let size = memory_size(path)
    return size < 0 ? nil : FileStatus(bytes: size, isDirectory: false)
  }

  package func lock(_ path: String) throws -> (any FileLock)? {
    memory_lock(path).map(Lock.init)
  }

  package func openForSync(_ path: String) throws -> any SyncHandle {
    try demand(memory_size(path) < 0 ? -1 : 0, "open")
    return Handle()
  }

  private struct Lock: FileLock, @unchecked Sendable {
    // Guard: whoever uses these files does so from one thread.
    let file: OpaquePointer

    func write(_ bytes: [UInt8]) { memory_file_write(file, Int64(bytes.count), bytes) }
    func read() -> [UInt8] {
      var count: Int64 = 0
      let bytes = memory_file_bytes(file, &count)
      return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
    func release() { memory_unlock(file) }
  }

  private struct Handle: SyncHandle {
    func sync() throws {}
    func close() {}
  }
}
