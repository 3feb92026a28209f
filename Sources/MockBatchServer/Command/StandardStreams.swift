#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The descriptors that a shell hands to a command. They may be closed, full, or a pipe whose
/// reader is gone; none of that may end a server.
package enum StandardStreams {
  /// Opens `/dev/null` in place of a standard descriptor that is closed, so that no socket or file
  /// gets its number and then somebody's messages. Ignores SIGPIPE. Call it first.
  package static func makeSafe() {
    signal(SIGPIPE, SIG_IGN)
    for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is the one that is missing.
      let opened = open("/dev/null", O_RDWR)
      if opened > 2 { close(opened) }
    }
  }

  /// Raises the soft limit of open descriptors to the hard one: a shell's usual 1,024 would be the
  /// limit of connections.
  static func raiseDescriptorLimit() {
    var limit = rlimit()
    #if canImport(Glibc)
      let kind = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    #else
      let kind = RLIMIT_NOFILE
    #endif
    guard getrlimit(kind, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    // Where it is refused, fewer connections fit; the server lives with that.
    _ = setrlimit(kind, &limit)
  }

  /// Writes all of it, or gives up: false when the stream does not take it.
  @discardableResult
  package static func write(_ text: String, to descriptor: Int32) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { raw -> Int in
        #if canImport(Darwin)
          return Darwin.write(descriptor, raw.baseAddress, raw.count)
        #elseif canImport(Musl)
          return Musl.write(descriptor, raw.baseAddress, raw.count)
        #else
          return Glibc.write(descriptor, raw.baseAddress, raw.count)
        #endif
      }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  package static let output: Int32 = 1
  package static let error: Int32 = 2
}
