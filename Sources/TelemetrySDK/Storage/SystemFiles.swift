#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The file operations of the operating system. Every descriptor is closed on exec.
package struct SystemFiles: FileOperations {
  package init() {}

  package func createDirectory(_ path: String) throws {
    try makeDirectory(path)
    #if canImport(Darwin)
      try SystemFiles.keepPrivate(path)
    #endif
  }

  private func makeDirectory(_ path: String) throws {
    if status(path)?.isDirectory == true { return }
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      throw FileError(operation: "mkdir", code: errno)
    }
    try makeDirectory(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw FileError(operation: "mkdir", code: errno)
    }
  }

  package func list(_ directory: String) throws -> [String] {
    guard let stream = opendir(directory) else {
      throw FileError(operation: "opendir", code: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  package func read(_ path: String) throws -> [UInt8] {
    let descriptor = try SystemFiles.open(path, O_RDONLY)
    defer { close(descriptor) }
    return try SystemFiles.readAll(descriptor)
  }

  package func write(_ path: String, _ bytes: [UInt8]) throws {
    let descriptor = try SystemFiles.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    try SystemFiles.writeAll(descriptor, bytes)
  }

  package func sync(_ path: String) throws {
    let descriptor = try SystemFiles.open(path, O_RDONLY)
    defer { close(descriptor) }
    try SystemFiles.flush(descriptor)
  }

  package func remove(_ path: String) throws {
    guard unlink(path) == 0 else { throw FileError(operation: "unlink", code: errno) }
  }

  package func removeTree(_ path: String) throws {
    guard status(path)?.isDirectory == true else { return try remove(path) }
    for name in try list(path) { try removeTree(path + "/" + name) }
    guard rmdir(path) == 0 else { throw FileError(operation: "rmdir", code: errno) }
  }

  package func rename(_ from: String, to: String) throws {
    #if canImport(Darwin)
      let result = Darwin.rename(from, to)
    #else
      let result = Glibc.rename(from, to)
    #endif
    guard result == 0 else { throw FileError(operation: "rename", code: errno) }
  }

  package func truncate(_ path: String, bytes: Int64) throws {
    let descriptor = try SystemFiles.open(path, O_WRONLY)
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(bytes)) == 0 else {
      throw FileError(operation: "ftruncate", code: errno)
    }
  }

  package func syncDirectory(_ path: String) throws {
    let descriptor = try SystemFiles.open(path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    try SystemFiles.flush(descriptor)
  }

  package func status(_ path: String) -> FileStatus? {
    var information = stat()
    guard lstat(path, &information) == 0 else { return nil }
    return FileStatus(
      bytes: Int64(information.st_size), isDirectory: information.st_mode & S_IFMT == S_IFDIR)
  }

  package func lock(_ path: String) throws -> (any FileLock)? {
    let descriptor = try SystemFiles.open(path, O_RDWR | O_CREAT)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw FileError(operation: "flock", code: code)
    }
    return DescriptorLock(descriptor: descriptor)
  }

  package func openForSync(_ path: String) throws -> any SyncHandle {
    DescriptorSync(descriptor: try SystemFiles.open(path, O_RDONLY))
  }

  private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = Darwin.open(path, flags | O_CLOEXEC, 0o600)
      #else
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
      #endif
      if descriptor >= 0 { return descriptor }
      if errno != EINTR { throw FileError(operation: "open", code: errno) }
    }
  }

  fileprivate static func readAll(_ descriptor: Int32) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = block.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(bytes.count))
      }
      if count == 0 { return bytes }
      if count > 0 { bytes.append(contentsOf: block[..<count]) }
      if count < 0 && errno != EINTR { throw FileError(operation: "read", code: errno) }
    }
  }

  fileprivate static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(
          descriptor, $0.baseAddress?.advanced(by: written), $0.count - written, off_t(written))
      }
      if count > 0 { written += count }
      if count == 0 { throw FileError(operation: "write", code: EIO) }
      if count < 0 && errno != EINTR { throw FileError(operation: "write", code: errno) }
    }
  }

  /// To the medium: on Apple platforms `fsync` stops at the drive's cache.
  fileprivate static func flush(_ descriptor: Int32) throws {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) != -1 { return }
    #endif
    guard fsync(descriptor) == 0 else { throw FileError(operation: "fsync", code: errno) }
  }

  private struct DescriptorLock: FileLock {
    let descriptor: Int32

    func write(_ bytes: [UInt8]) {
      // try? because the bytes are a hint that is checked when read: a missing one costs a count.
      try? writeAll(descriptor, bytes)
    }

    func read() -> [UInt8] {
      // try? because an unreadable hint is the same as none.
      (try? readAll(descriptor)) ?? []
    }

    func release() { close(descriptor) }
  }

  private struct DescriptorSync: SyncHandle {
    let descriptor: Int32
    func sync() throws { try flush(descriptor) }
    func close() { _ = Self.closeDescriptor(descriptor) }
    private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
      #if canImport(Darwin)
        Darwin.close(descriptor)
      #else
        Glibc.close(descriptor)
      #endif
    }
  }
}
