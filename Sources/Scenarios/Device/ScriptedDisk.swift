import CDiskHooks
import TelemetrySDK

/// The disk below a device's files, as the script wants it: full, not to be opened, or with a
/// medium that forgets what was never synced. SQLite and the SDK's own file operations run their
/// real code and meet the errors of a real disk.
///
/// A sync is asked for and told, and never waits for the real medium: what it means for a power loss
/// is played, and a killed process loses nothing of what the system was given.
///
/// Thread safe.
final class ScriptedDisk: Sendable {
  /// The name of the SQLite VFS whose files this disk hears of.
  static let vfsName = "hooked"
  /// The name of the VFS for others who open such a database in this process.
  static let bystanderVFSName = "bystander"

  private let state: Guarded<DiskState>
  private let isFrozen: Guarded<Bool>
  private let medium: Medium?
  fileprivate let onGrowth: @Sendable () -> Void
  private let slot = Guarded<Int32>(-1)

  /// - Parameters:
  ///   - folder: the device's folder; it exists.
  ///   - medium: where what was synced is kept; nil where no power loss is to come.
  ///   - isFrozen: true after a death in the midst of a call: nothing reaches the files then.
  ///   - isAlone: true where no other process opens the files.
  ///   - onGrowth: called after each operation that may have made a file larger.
  init(
    folder: String, medium: String?, state: DiskState, isFrozen: Guarded<Bool>,
    isAlone: Bool = false, onGrowth: @escaping @Sendable () -> Void = {}
  ) throws {
    self.onGrowth = onGrowth
    self.state = Guarded(state)
    self.isFrozen = isFrozen
    let canonical = SystemCalls.canonical(folder) ?? folder
    self.medium = medium.map { Medium(folders: [canonical, folder], kept: $0) }
    let hooks = disk_hooks(
      context: Unmanaged.passUnretained(self).toOpaque(),
      before: { context, kind, _ in
        guard let context else { return 0 }
        return Unmanaged<ScriptedDisk>.fromOpaque(context).takeUnretainedValue().refusal(kind)
      },
      after: { context, kind, path, offset, length in
        guard let context, let path else { return }
        let disk = Unmanaged<ScriptedDisk>.fromOpaque(context).takeUnretainedValue()
        guard disk.medium != nil else { return }
        disk.tellMedium(kind, String(cString: path), offset, length)
      },
      grew: { context in
        guard let context else { return }
        Unmanaged<ScriptedDisk>.fromOpaque(context).takeUnretainedValue().onGrowth()
      }, plays_sync: 1, plays_locks: isAlone ? 1 : 0)
    let slot = disk_hooks_add(canonical, hooks)
    guard slot >= 0 else { throw RunnerFailure("no scripted disk for \(folder)") }
    self.slot.withLock { $0 = slot }
  }

  func set(_ state: DiskState) { self.state.withLock { $0 = state } }

  /// The device's files are closed: nothing comes any more.
  func close() {
    let slot = self.slot.withLock { slot -> Int32 in
      defer { slot = -1 }
      return slot
    }
    disk_hooks_remove(slot)
  }

  // SQLite's result codes.
  private static let ioError: Int32 = 10
  private static let full: Int32 = 13
  private static let notAuthorized: Int32 = 23

  private func refusal(_ kind: Int32) -> Int32 {
    if isFrozen.withLock({ $0 }) { return ScriptedDisk.ioError }
    switch (state.withLock { $0 }, Int(kind)) {
    case (.full, DISK_CREATE), (.full, DISK_WRITE): return ScriptedDisk.full
    // The files of an app that nobody has unlocked since the boot: open ones go on.
    case (.protected, DISK_OPEN), (.protected, DISK_CREATE): return ScriptedDisk.notAuthorized
    default: return 0
    }
  }

  fileprivate func happened(_ kind: Int32, _ path: String, _ offset: Int64, _ length: Int64) {
    onGrowth()
    tellMedium(kind, path, offset, length)
  }

  fileprivate func tellMedium(_ kind: Int32, _ path: String, _ offset: Int64, _ length: Int64) {
    guard let medium else { return }
    switch Int(kind) {
    case DISK_CREATE: medium.created(path)
    case DISK_WRITE: medium.wrote(path, offset..<(offset + length))
    case DISK_SYNC: medium.synced(path)
    case DISK_DELETE: medium.deleted(path)
    default: return
    }
  }

  /// The same for the files that are not SQLite's, with the system's error numbers.
  fileprivate func check(_ kind: Int, _ operation: String) throws {
    switch refusal(Int32(kind)) {
    case 0: return
    case ScriptedDisk.full: throw FileError(operation: operation, code: 28)  // ENOSPC
    case ScriptedDisk.notAuthorized: throw FileError(operation: operation, code: 1)  // EPERM
    default: throw FileError(operation: operation, code: 5)  // EIO
    }
  }

  fileprivate func renamed(_ from: String, _ to: String) { medium?.renamed(from, to) }

  /// The SDK's file operations on this disk.
  var files: any FileOperations { DiskFiles(disk: self) }
}

/// The system's files on a scripted disk.
private struct DiskFiles: FileOperations {
  let disk: ScriptedDisk
  let system = SystemFiles()

  func createDirectory(_ path: String) throws { try system.createDirectory(path) }
  func list(_ directory: String) throws -> [String] { try system.list(directory) }
  func status(_ path: String) -> FileStatus? { system.status(path) }

  func read(_ path: String) throws -> [UInt8] {
    try disk.check(DISK_OPEN, "open")
    return try system.read(path)
  }

  func write(_ path: String, _ bytes: [UInt8]) throws {
    try disk.check(DISK_CREATE, "open")
    try system.write(path, bytes)
    disk.happened(Int32(DISK_CREATE), path, 0, 0)
    disk.happened(Int32(DISK_WRITE), path, 0, Int64(bytes.count))
  }

  func sync(_ path: String) throws {
    try checkSync(path)
    disk.tellMedium(Int32(DISK_SYNC), path, 0, 0)
  }

  private func checkSync(_ path: String) throws {
    try disk.check(DISK_SYNC, "fsync")
    guard system.status(path) != nil else { throw FileError(operation: "open", code: 2) }  // ENOENT
  }

  func remove(_ path: String) throws {
    try disk.check(DISK_DELETE, "unlink")
    try system.remove(path)
    disk.tellMedium(Int32(DISK_DELETE), path, 0, 0)
  }

  func removeTree(_ path: String) throws {
    try disk.check(DISK_DELETE, "unlink")
    try system.removeTree(path)
    disk.tellMedium(Int32(DISK_DELETE), path, 0, 0)
  }

  func rename(_ from: String, to: String) throws {
    try disk.check(DISK_DELETE, "rename")
    try system.rename(from, to: to)
    disk.renamed(from, to)
  }

  func truncate(_ path: String, bytes: Int64) throws {
    try disk.check(DISK_TRUNCATE, "ftruncate")
    try system.truncate(path, bytes: bytes)
    disk.happened(Int32(DISK_TRUNCATE), path, bytes, 0)
  }

  func syncDirectory(_ path: String) throws { try checkSync(path) }

  func lock(_ path: String) throws -> (any FileLock)? {
    let isNew = system.status(path) == nil
    try disk.check(isNew ? DISK_CREATE : DISK_OPEN, "open")
    guard let lock = try system.lock(path) else { return nil }
    if isNew { disk.happened(Int32(DISK_CREATE), path, 0, 0) }
    return DiskLock(disk: disk, path: path, system: lock)
  }

  func openForSync(_ path: String) throws -> any SyncHandle {
    try disk.check(DISK_OPEN, "open")
    return DiskSync(disk: disk, path: path, system: try system.openForSync(path))
  }
}

private struct DiskLock: FileLock {
  let disk: ScriptedDisk
  let path: String
  let system: any FileLock

  func write(_ bytes: [UInt8]) {
    // A hint that is checked when read: one that cannot be written is as good as an old one.
    guard (try? disk.check(DISK_WRITE, "write")) != nil else { return }
    let size = SystemCalls.stamp(path)?.bytes ?? 0
    system.write(bytes)
    disk.tellMedium(Int32(DISK_WRITE), path, 0, Int64(bytes.count))
    if SystemCalls.stamp(path)?.bytes ?? 0 > size { disk.onGrowth() }
  }
  func read() -> [UInt8] { system.read() }
  func release() { system.release() }
}

private struct DiskSync: SyncHandle {
  let disk: ScriptedDisk
  let path: String
  let system: any SyncHandle

  func sync() throws {
    try disk.check(DISK_SYNC, "fsync")
    disk.tellMedium(Int32(DISK_SYNC), path, 0, 0)
  }
  func close() { system.close() }
}
