#if os(Linux)
  import CEpoll
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A system call that failed: which one, on what, and why.
public struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call, such as `bind`.
  public let operation: String
  /// The system's error number.
  public let code: Int32
  /// What it was about, such as `127.0.0.1:8080`.
  public let subject: String

  /// One line for a person.
  public var description: String {
    let cause = code == EADDRINUSE ? "the port is in use" : String(cString: strerror(code))
    return "\(operation) \(subject): \(cause)"
  }

  /// Whether the host simply has no such address, or no IPv6 at all.
  var meansNoSuchAddress: Bool { code == EADDRNOTAVAIL || code == EAFNOSUPPORT }
}

/// One socket descriptor: the only place of this module that calls the socket API. It is closed
/// exactly once, by `close` or `reset`, and never used after, so a number that the system has
/// given to somebody else meanwhile is never touched.
///
/// Belongs to one thread at a time.
final class Socket {
  /// The descriptor; negative once closed.
  private(set) var descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close() }

  /// What one read or write came to.
  enum Transfer: Equatable {
    case bytes(Int)
    /// The peer sent its end of file (reads only).
    case endOfFile
    /// Nothing can be done now; wait for readiness.
    case wouldBlock
    /// The connection is broken.
    case failed(Int32)
  }

  // MARK: Data

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .endOfFile }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
    }
  }

  /// Sends without ever raising SIGPIPE.
  func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    while true {
      #if canImport(Darwin)
        let count = Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
      #elseif canImport(Musl)
        let count = Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      #else
        let count = Glibc.send(
          descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      #endif
      if count >= 0 { return .bytes(count) }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
    }
  }

  // MARK: Ends

  /// Sends our end of file; reading goes on.
  func shutdownSending() {
    guard descriptor >= 0 else { return }
    // ENOTCONN is the one possible error: the peer was faster.
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  func close() {
    guard descriptor >= 0 else { return }
    let closing = descriptor
    descriptor = -1
    // Linux frees the descriptor even on EINTR; a second close could hit a foreign one.
    #if canImport(Darwin)
      _ = Darwin.close(closing)
    #elseif canImport(Musl)
      _ = Musl.close(closing)
    #else
      _ = Glibc.close(closing)
    #endif
  }

  /// Closes with a real RST: what is unsent is dropped.
  func reset() {
    guard descriptor >= 0 else { return }
    setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    close()
  }

  // MARK: Options and addresses

  @discardableResult
  func setOption<Value>(_ level: Int32, _ name: Int32, _ value: Value) -> Bool {
    withUnsafeBytes(of: value) {
      setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count)) == 0
    }
  }

  /// The port this socket is bound to.
  var localPort: Int {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &length) == 0 else { return 0 }
        return SocketAddress.port(of: address)
      }
    }
  }

  /// A stream socket, close-on-exec and non-blocking.
  static func stream(family: Int32) throws -> Socket {
    #if canImport(Darwin)
      let made = socket(family, SOCK_STREAM, 0)
    #elseif canImport(Musl)
      let made = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
    #else
      let kind =
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue)
      let made = socket(family, kind, 0)
    #endif
    guard made >= 0 else { throw SocketError(operation: "socket", code: errno, subject: "tcp") }
    prepare(made)
    return Socket(descriptor: made)
  }

  private static func prepare(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  // MARK: Listening

  /// Binds without listening: holds the port, while connects to it are refused.
  static func bound(to address: SocketAddress) throws -> Socket {
    let socket = try stream(family: address.family)
    let on: Int32 = 1
    socket.setOption(SOL_SOCKET, SO_REUSEADDR, on)
    if address.family == AF_INET6 { socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, on) }
    let result = address.withPointer { bind(socket.descriptor, $0, $1) }
    guard result == 0 else {
      throw SocketError(operation: "bind", code: errno, subject: address.description)
    }
    return socket
  }

  /// Listens, or changes the backlog of a socket that listens already.
  func listen(backlog: Int32, subject: String) throws {
    #if canImport(Darwin)
      let result = Darwin.listen(descriptor, backlog)
    #elseif canImport(Musl)
      let result = Musl.listen(descriptor, backlog)
    #else
      let result = Glibc.listen(descriptor, backlog)
    #endif
    guard result == 0 else {
      throw SocketError(operation: "listen", code: errno, subject: subject)
    }
  }

  /// Begins to connect; completion is not waited for.
  func beginConnecting(to address: SocketAddress) {
    // EINPROGRESS is the normal result; any other error shows as a connection that never is.
    _ = address.withPointer { connect(descriptor, $0, $1) }
  }

  /// What accepting came to.
  enum Accepted {
    case socket(Socket, peer: SocketAddress)
    case nothing
    /// The process or the system has no descriptor left.
    case noDescriptors
  }

  func acceptOne() -> Accepted {
    while true {
      var storage = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let taken = withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
          #if canImport(Darwin)
            return accept(descriptor, address, &length)
          #elseif canImport(Musl)
            return accept4(descriptor, address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK)
          #else
            return accept4(
              descriptor, address, &length,
              Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue))
          #endif
        }
      }
      if taken >= 0 {
        Socket.prepare(taken)
        let socket = Socket(descriptor: taken)
        let on: Int32 = 1
        socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, on)
        return .socket(socket, peer: SocketAddress(storage))
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .noDescriptors
      default: return .nothing
      }
    }
  }

  /// A descriptor on `/dev/null`, kept so that one can be given up when none is left.
  static func reserve() -> Socket? {
    let opened = open("/dev/null", O_RDONLY | O_CLOEXEC)
    return opened >= 0 ? Socket(descriptor: opened) : nil
  }
}
