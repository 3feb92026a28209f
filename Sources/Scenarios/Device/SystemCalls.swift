#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A system call that failed.
package struct SystemCallError: Error, Sendable, CustomStringConvertible {
  package var call: String
  package var code: Int32
  package var subject: String
  package var description: String {
    let reason = String(cString: strerror(code))
    return "\(subject.isEmpty ? call : subject): \(reason) (\(call), error \(code))"
  }
}

/// The module's only system calls on descriptors and processes: one place to audit.
enum SystemCalls {
  /// Children find their channels from here on; everything of the parent lies above.
  private static let lowestOwnDescriptor: Int32 = 20

  static func failure(_ call: String, _ subject: String = "") -> SystemCallError {
    SystemCallError(call: call, code: errno, subject: subject)
  }

  /// Two connected stream sockets, both close-on-exec, both above every fixed descriptor.
  static func socketPair() throws -> (ours: Int32, theirs: Int32) {
    var pair: [Int32] = [-1, -1]
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #endif
    guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw failure("socketpair") }
    return (try raise(pair[0]), try raise(pair[1]))
  }

  /// Moves a descriptor above the fixed ones, so that `dup2` onto 3, 4, 5 never hits a source.
  private static func raise(_ descriptor: Int32) throws -> Int32 {
    let raised = fcntl(descriptor, F_DUPFD_CLOEXEC, lowestOwnDescriptor)
    let error = failure("fcntl")
    close(descriptor)
    guard raised >= 0 else { throw error }
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(raised, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return raised
  }

  static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }

  /// Ends both directions; a thread blocked in `read` returns.
  static func shutdown(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.shutdown(descriptor, SHUT_RDWR)
    #else
      _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
    #endif
  }

  /// Reads what is there, at most `limit` bytes. Empty at the end of the stream, also where the
  /// peer died with unread input (a reset).
  static func read(_ descriptor: Int32, limit: Int = 65_536) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      while true {
        #if canImport(Darwin)
          let got = Darwin.read(descriptor, buffer.baseAddress, limit)
        #else
          let got = Glibc.read(descriptor, buffer.baseAddress, limit)
        #endif
        if got < 0 && errno == EINTR { continue }
        count = max(0, got)
        return
      }
    }
  }

  /// Writes everything to a socket. Throws where the peer is gone; never raises SIGPIPE.
  static func send(_ descriptor: Int32, _ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      let sent = bytes.withUnsafeBytes { buffer -> Int in
        let start = buffer.baseAddress.map { $0 + done }
        #if canImport(Darwin)
          return Darwin.send(descriptor, start, bytes.count - done, 0)
        #else
          return Glibc.send(descriptor, start, bytes.count - done, Int32(MSG_NOSIGNAL))
        #endif
      }
      if sent < 0 && errno == EINTR { continue }
      guard sent > 0 else { throw failure("send") }
      done += sent
    }
  }

  /// Sends SIGKILL. A process that is gone already is no error.
  static func sigkill(_ pid: pid_t) { _ = kill(pid, SIGKILL) }

  /// SIGKILL to this very process. Does not return.
  static func killSelf() -> Never {
    _ = kill(getpid(), SIGKILL)
    while true { pause() }
  }

  /// Waits until the child is dead and leaves it to be reaped.
  static func awaitDeath(_ pid: pid_t) {
    var info = siginfo_t()
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  }

  /// Reaps a child and says how it ended.
  static func reap(_ pid: pid_t) -> ChildEnd {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      guard errno == EINTR else { return .unknown(errno) }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }

  /// Opens /dev/null on every standard descriptor that is closed, so that no later file gets one
  /// of their numbers. SIGPIPE becomes an error of the write.
  static func prepareStandardDescriptors() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      let opened = open("/dev/null", O_RDWR)
      if opened >= 0 && opened != descriptor {
        dup2(opened, descriptor)
        close(opened)
      }
    }
    signal(SIGPIPE, SIG_IGN)
  }

  // MARK: Files of a scripted disk

  /// The path without symbolic links, doubled slashes and dots; nil where there is nothing.
  static func canonical(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Makes an empty file with the folders above it; one that is there stays as it is.
  static func makeFile(_ path: String) {
    let descriptor = openForWriting(path)
    if descriptor >= 0 { close(descriptor) }
  }

  static func renameFile(_ from: String, to: String) { _ = rename(from, to) }

  /// Brings the second file to the first one's bytes: within the ranges, or everywhere where there
  /// are none; and to its length.
  static func copyRanges(_ ranges: [Range<Int64>]?, from source: String, to target: String) {
    let reader = open(source, O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { return }
    defer { close(reader) }
    let writer = openForWriting(target)
    guard writer >= 0 else { return }
    defer { close(writer) }
    var information = stat()
    guard fstat(reader, &information) == 0 else { return }
    let size = Int64(information.st_size)
    for range in ranges ?? [0..<size] { copy(range.clamped(to: 0..<size), reader, writer) }
    _ = ftruncate(writer, off_t(size))
  }

  private static func copy(_ range: Range<Int64>, _ reader: Int32, _ writer: Int32) {
    var block = [UInt8](repeating: 0, count: 65_536)
    var at = range.lowerBound
    while at < range.upperBound {
      let wanted = Int(min(Int64(block.count), range.upperBound - at))
      let got = pread(reader, &block, wanted, off_t(at))
      guard got > 0, pwrite(writer, block, got, off_t(at)) == got else { return }
      at += Int64(got)
    }
  }

  private static func openForWriting(_ path: String) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC
    let descriptor = open(path, flags, 0o600)
    guard descriptor < 0, errno == ENOENT, let slash = path.lastIndex(of: "/") else {
      return descriptor
    }
    makeFolder(String(path[..<slash]))
    return open(path, flags, 0o600)
  }

  private static func makeFolder(_ path: String) {
    if mkdir(path, 0o700) == 0 || errno != ENOENT { return }
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    makeFolder(String(path[..<slash]))
    _ = mkdir(path, 0o700)
  }

  static func ignoreSignal(_ number: Int32) { signal(number, SIG_IGN) }

  /// The system's words for an error number.
  static func words(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// Tells versions of a file apart without opening it; nil where there is none.
  static func stamp(_ path: String) -> FileStamp? {
    var information = stat()
    guard stat(path, &information) == 0 else { return nil }
    #if canImport(Darwin)
      let changed = information.st_mtimespec
    #else
      let changed = information.st_mtim
    #endif
    return FileStamp(
      changedNs: Int64(changed.tv_sec) * 1_000_000_000 + Int64(changed.tv_nsec),
      bytes: Int64(information.st_size), number: UInt64(information.st_ino))
  }

  static func abortNow() -> Never { abort() }
  /// SIGKILL to this very process.
  static func killSelf() { sigkill(getpid()) }
  static func exitNow(_ code: Int32) -> Never { _exit(code) }
}

/// How a child process ended.
package enum ChildEnd: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)
  case unknown(Int32)
}

/// A child to start: its descriptors are dropped onto fixed numbers, everything else is closed.
struct ChildProcess {
  var executable: String
  var arguments: [String]
  /// Source descriptor → number in the child.
  var descriptors: [(source: Int32, number: Int32)]
  /// Takes standard output and error, appended.
  var logFile: String

  func spawn() throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, logFile, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    for (source, number) in descriptors {
      posix_spawn_file_actions_adddup2(&actions, source, number)
    }
    var flags: Int32 = Int32(POSIX_SPAWN_SETSIGDEF)
    #if canImport(Darwin)
      flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
    #endif
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
    var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, executable, &actions, &attributes, words, environ)
    guard code == 0 else {
      throw SystemCallError(call: "posix_spawn", code: code, subject: executable)
    }
    return pid
  }
}
