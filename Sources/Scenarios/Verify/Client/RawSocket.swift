#if os(macOS) || os(Linux)
  import Dispatch
  import Foundation

  /// A moment on a clock that never jumps, by which something has to be over.
  struct Deadline: Sendable {
    let atNs: UInt64

    static var nowNs: UInt64 { DispatchTime.now().uptimeNanoseconds }

    static func after(ns: Int64) -> Deadline {
      Deadline(atNs: nowNs &+ UInt64(max(ns, 0)))
    }

    /// The nearer one of both.
    func orEarlier(_ other: Deadline) -> Deadline { atNs <= other.atNs ? self : other }

    var remainingNs: Int64 {
      let now = Deadline.nowNs
      return atNs > now ? Int64(min(atNs - now, UInt64(Int64.max))) : 0
    }
    var isOver: Bool { remainingNs == 0 }

    /// For `poll`: rounded up, so that a wait never ends before the deadline.
    var remainingMs: Int32 { Int32(min((remainingNs + 999_999) / 1_000_000, 86_400_000)) }
  }

  /// Why a connection did not do what was asked.
  enum SocketFault: Error, Equatable, Sendable {
    case unresolved(String)
    case refused
    case unreachable(String)
    case timedOut
    case reset
    case tls(String)
    case other(String)

    /// The fault as the end of a sentence.
    var text: String {
      switch self {
      case .unresolved(let host): return "the name \(host) cannot be resolved"
      case .refused: return "the connection was refused"
      case .unreachable(let why): return "the host cannot be reached (\(why))"
      case .timedOut: return "nothing came within the time allowed"
      case .reset: return "the connection was reset"
      case .tls(let why): return "TLS failed: \(why)"
      case .other(let why): return why
      }
    }
  }

  /// Bytes to and from a target, each call with a deadline.
  protocol ByteStream: AnyObject {
    func send(_ bytes: ArraySlice<UInt8>, by deadline: Deadline) throws
    /// What has come, at least one byte; empty at the end of the stream.
    func receive(by deadline: Deadline) throws -> [UInt8]
    /// Ends orderly.
    func close()
    /// Ends with a reset: what the peer has not read yet is lost to it.
    func reset()
  }

  /// A connected TCP socket. The sole file of the verifier that makes socket calls.
  final class RawSocket: ByteStream {
    /// Bytes read by one call at most.
    static let chunk = 65_536

    private(set) var descriptor: Int32
    /// Came while we were still sending: a server may refuse before it has read everything.
    private var early: [UInt8] = []
    private var earlyEnd = false

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Connects to the first address of the host that takes us.
    static func connect(host: String, port: UInt16, by deadline: Deadline) throws -> RawSocket {
      var hints = addrinfo()
      #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
      #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      #endif
      var list: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, String(port), &hints, &list) == 0 else {
        throw SocketFault.unresolved(host)
      }
      defer { freeaddrinfo(list) }
      var fault = SocketFault.unresolved(host)
      var next = list
      while let address = next?.pointee {
        do { return try connect(address, by: deadline) } catch let failed as SocketFault {
          fault = failed
        }
        next = address.ai_next
      }
      throw fault
    }

    private static func connect(_ address: addrinfo, by deadline: Deadline) throws -> RawSocket {
      let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
      guard descriptor >= 0 else { throw SocketFault.other(errorText(errno)) }
      let stream = RawSocket(descriptor: descriptor)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      stream.set(Int32(IPPROTO_TCP), TCP_NODELAY)
      #if canImport(Darwin)
        stream.set(SOL_SOCKET, SO_NOSIGPIPE)
      #endif
      let result = systemConnect(descriptor, address.ai_addr, address.ai_addrlen)
      if result == 0 { return stream }
      guard errno == EINPROGRESS || errno == EINTR else { throw connectFault(errno) }
      try stream.wait(Int16(POLLOUT), by: deadline)
      var error: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      if error != 0 { throw connectFault(error) }
      return stream
    }

    private static func connectFault(_ code: Int32) -> SocketFault {
      switch code {
      case ECONNREFUSED: return .refused
      case ECONNRESET: return .reset
      case ETIMEDOUT: return .timedOut
      default: return .unreachable(errorText(code))
      }
    }

    private func set(_ level: Int32, _ option: Int32) {
      var on: Int32 = 1
      // A socket without the option is slower, not wrong.
      setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Waits until the socket can do one of `events`; says which.
    @discardableResult
    func wait(_ events: Int16, by deadline: Deadline) throws -> Int16 {
      while true {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        let count = poll(&entry, 1, deadline.remainingMs)
        if count > 0 { return entry.revents }
        if count == 0 && deadline.isOver { throw SocketFault.timedOut }
        if count < 0 && errno != EINTR { throw SocketFault.other(errorText(errno)) }
      }
    }

    func send(_ bytes: ArraySlice<UInt8>, by deadline: Deadline) throws {
      var rest = bytes
      while !rest.isEmpty {
        let ready = try wait(Int16(earlyEnd ? POLLOUT : POLLIN | POLLOUT), by: deadline)
        if ready & Int16(POLLIN) != 0 && !earlyEnd { try readEarly() }
        if ready & Int16(POLLOUT | POLLERR | POLLHUP) == 0 { continue }
        let sent = rest.withUnsafeBytes { buffer in
          systemSend(descriptor, buffer.baseAddress, min(buffer.count, RawSocket.chunk))
        }
        if sent > 0 {
          rest = rest.dropFirst(sent)
        } else if errno == EPIPE || errno == ECONNRESET {
          throw SocketFault.reset
        } else if errno != EAGAIN && errno != EINTR {
          throw SocketFault.other(errorText(errno))
        }
      }
    }

    private func readEarly() throws {
      guard let bytes = try readNow() else { return }
      early += bytes
      earlyEnd = bytes.isEmpty
    }

    func receive(by deadline: Deadline) throws -> [UInt8] {
      if !early.isEmpty {
        defer { early = [] }
        return early
      }
      if earlyEnd { return [] }
      while true {
        if let bytes = try readNow() { return bytes }
        try wait(Int16(POLLIN), by: deadline)
      }
    }

    /// What is there; empty at the end, nil where nothing has come yet.
    private func readNow() throws -> [UInt8]? {
      while true {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: RawSocket.chunk) { buffer, count in
          let got = recv(descriptor, buffer.baseAddress, buffer.count, 0)
          failure = got < 0 ? errno : 0
          count = max(0, got)
        }
        switch failure {
        case 0: return bytes
        case EINTR: continue
        case EAGAIN: return nil
        case ECONNRESET: throw SocketFault.reset
        default: throw SocketFault.other(errorText(failure))
        }
      }
    }

    func close() {
      guard descriptor >= 0 else { return }
      _ = systemClose(descriptor)
      descriptor = -1
    }

    func reset() {
      guard descriptor >= 0 else { return }
      var atOnce = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
      close()
    }

    /// Lets time pass without a sleeping call that a signal could cut short.
    static func pause(until deadline: Deadline) {
      while !deadline.isOver { poll(nil, 0, deadline.remainingMs) }
    }
  }

  private func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

  private func systemConnect(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: socklen_t
  ) -> Int32 {
    connect(descriptor, address, length)
  }

  private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
      return send(descriptor, bytes, count, 0)
    #else
      return send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
    #endif
  }

  private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
