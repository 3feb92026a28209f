import StorageShim
import TelemetrySDK

/// Files behind the storage shim: each operation is counted, may fail or end the process, and is
/// recorded, like SQLite's own.
package struct ShimFiles: FileOperations {
  private let system: any FileOperations
  private let skipsSyncs: Bool

  /// - Parameters:
  ///   - skipsSyncs: True where nothing is at stake and the time is: syncs are counted.
  ///   - system: The files behind the shim.
  package init(skipsSyncs: Bool, system: any FileOperations = SystemFiles()) {
    self.skipsSyncs = skipsSyncs
    self.system = system
    _ = shim_register()
  }

  fileprivate static func step(_ kind: Int, _ operation: String) throws {
    switch Int(shim_step(Int32(kind))) {
    case Int(SHIM_GO_ON): return
    case Int(SHIM_ENOSPC): throw FileError(operation: operation, code: 28)
    default: throw FileError(operation: operation, code: 5)
    }
  }

  fileprivate static func note(
    _ kind: Int, _ path: String, offset: Int64 = 0, length: Int64 = 0, bytes: [UInt8]? = nil
  ) {
    shim_note(Int32(kind), path, offset, length, bytes)
  }

  package func createDirectory(_ path: String) throws { try system.createDirectory(path) }
  package func list(_ directory: String) throws -> [String] { try system.list(directory) }
  package func read(_ path: String) throws -> [UInt8] { try system.read(path) }
  package func status(_ path: String) -> FileStatus? { system.status(path) }

  package func write(_ path: String, _ bytes: [UInt8]) throws {
    try ShimFiles.step(Int(SHIM_CREATE), "create")
    try system.write(path, [])
    ShimFiles.note(Int(SHIM_CREATE), path)
    try ShimFiles.step(Int(SHIM_WRITE), "write")
    try system.write(path, bytes)
    ShimFiles.note(Int(SHIM_WRITE), path, length: Int64(bytes.count), bytes: bytes)
  }

  package func sync(_ path: String) throws {
    try ShimFiles.step(Int(SHIM_SYNC), "fsync")
    if !skipsSyncs { try system.sync(path) }
    ShimFiles.note(Int(SHIM_SYNC), path, length: 2)
  }

  package func remove(_ path: String) throws {
    try ShimFiles.step(Int(SHIM_DELETE), "unlink")
    try system.remove(path)
    ShimFiles.note(Int(SHIM_DELETE), path)
  }

  package func removeTree(_ path: String) throws {
    try ShimFiles.step(Int(SHIM_DELETE), "unlink")
    try system.removeTree(path)
    ShimFiles.note(Int(SHIM_DELETE), path)
  }

  package func rename(_ from: String, to: String) throws {
    try ShimFiles.step(Int(SHIM_RENAME), "rename")
    try system.rename(from, to: to)
    let name = Array(to.utf8)
    ShimFiles.note(Int(SHIM_RENAME), from, length: Int64(name.count), bytes: name)
  }

  package func truncate(_ path: String, bytes: Int64) throws {
    try ShimFiles.step(Int(SHIM_TRUNCATE), "ftruncate")
    try system.truncate(path, bytes: bytes)
    ShimFiles.note(Int(SHIM_TRUNCATE), path, offset: bytes)
  }

  package func syncDirectory(_ path: String) throws {
    try ShimFiles.step(Int(SHIM_SYNC_FOLDER), "fsync")
    if !skipsSyncs { try system.syncDirectory(path) }
    ShimFiles.note(Int(SHIM_SYNC_FOLDER), path, length: 2)
  }

  package func lock(_ path: String) throws -> (any FileLock)? {
    let isNew = system.status(path) == nil
    if isNew { try ShimFiles.step(Int(SHIM_CREATE), "create") }
    guard let lock = try system.lock(path) else { return nil }
    if isNew { ShimFiles.note(Int(SHIM_CREATE), path) }
    return Lock(path: path, system: lock)
  }

  package func openForSync(_ path: String) throws -> any SyncHandle {
    Handle(path: path, skips: skipsSyncs, system: try system.openForSync(path))
  }

  private struct Lock: FileLock {
    let path: String
    let system: any FileLock

    func write(_ bytes: [UInt8]) {
      guard shim_step(Int32(SHIM_WRITE)) == Int32(SHIM_GO_ON) else { return }
      system.write(bytes)
      ShimFiles.note(Int(SHIM_WRITE), path, length: Int64(bytes.count), bytes: bytes)
    }
    func read() -> [UInt8] { system.read() }
    func release() { system.release() }
  }

  private struct Handle: SyncHandle {
    let path: String
    let skips: Bool
    let system: any SyncHandle

    func sync() throws {
      try ShimFiles.step(Int(SHIM_SYNC), "fsync")
      if !skips { try system.sync() }
      ShimFiles.note(Int(SHIM_SYNC), path, length: 2)
    }
    func close() { system.close() }
  }
}
