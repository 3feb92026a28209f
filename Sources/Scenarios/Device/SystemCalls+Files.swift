#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Whole files.
extension SystemCalls {
  /// The file's bytes; nil where there are more than the limit.
  static func readFile(_ path: String, limit: Int64) throws -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("fstat", path) }
    guard Int64(status.st_size) <= limit else { return nil }
    let size = Int(status.st_size)
    var bytes = try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = pread(
          descriptor, buffer.baseAddress.map { $0 + count }, size - count, off_t(count))
        if got < 0 && errno == EINTR { continue }
        guard got >= 0 else { throw failure("pread", path) }
        if got == 0 { return }
        count += got
      }
    }
    // What has been added since it was measured.
    while true {
      var block = [UInt8](repeating: 0, count: 65_536)
      let got = pread(descriptor, &block, block.count, off_t(bytes.count))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw failure("pread", path) }
      if got == 0 { return bytes }
      bytes += block[..<got]
      guard Int64(bytes.count) <= limit else { return nil }
    }
  }

  /// Copies a file; nothing may stand at the target yet.
  static func copyFile(_ source: String, to target: String) throws {
    let reader = open(source, O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { throw failure("open", source) }
    defer { close(reader) }
    let writer = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard writer >= 0 else { throw failure("open", target) }
    defer { close(writer) }
    var block = [UInt8](repeating: 0, count: 262_144)
    var at = 0
    while true {
      let got = pread(reader, &block, block.count, off_t(at))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw failure("pread", source) }
      if got == 0 { return }
      guard pwrite(writer, block, got, off_t(at)) == got else { throw failure("pwrite", target) }
      at += got
    }
  }
}
