import Foundation
import XCTest

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A client that writes and reads plain bytes and sees exactly how a connection ends. Blocking,
/// with a generous guard whose expiry is a failure.
///
/// Guard: one thread at a time uses it.
final class RawClient: @unchecked Sendable {
  /// How reading came to its end.
  enum End: Equatable {
    case endOfFile
    case reset
    case guardExpired
    case failed(Int32)
  }

  let descriptor: Int32
  private static let guardSeconds = 60

  init(port: Int, host: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
    let isV6 = host.contains(":")
    #if canImport(Glibc)
      descriptor = socket(isV6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(isV6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)
    #endif
    var limit = timeval(tv_sec: RawClient.guardSeconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
    }
    let result = isV6 ? connect6(host, port) : connect4(host, port)
    if result != 0 {
      let code = errno
      close(descriptor)
      throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  private func connect4(_ host: String, _ port: Int) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func connect6(_ host: String, _ port: Int) -> Int32 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = UInt16(port).bigEndian
    inet_pton(AF_INET6, host, &address.sin6_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc_send(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// A socket that is not connected yet, for tests that run out of descriptors.
  static func bareSocket() -> Int32 {
    #if canImport(Glibc)
      return socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      return socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  static func connectBare(_ descriptor: Int32, port: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Closes with an RST.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Reads everything up to the end of the connection.
  func readToEnd() -> (text: String, end: End) {
    var all: [UInt8] = []
    while true {
      switch readSome() {
      case .success(let piece): all += piece
      case .failure(let end): return (String(decoding: all, as: UTF8.self), end.end)
      }
    }
  }

  struct Stop: Error { let end: End }

  /// One read.
  func readSome(_ limit: Int = 65_536) -> Result<[UInt8], Stop> {
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &buffer, limit, 0)
    if count > 0 { return .success(Array(buffer[..<count])) }
    if count == 0 { return .failure(Stop(end: .endOfFile)) }
    switch errno {
    case ECONNRESET: return .failure(Stop(end: .reset))
    case EAGAIN: return .failure(Stop(end: .guardExpired))
    default: return .failure(Stop(end: .failed(errno)))
    }
  }

  private var buffered: [UInt8] = []

  /// Reads one answer with a `Content-Length` (or none), and leaves the connection open.
  func readResponse(isHead: Bool = false) throws -> (status: Int, head: String, body: [UInt8]) {
    while true {
      if let end = RawClient.endOfHead(buffered) {
        let head = String(decoding: buffered[..<end], as: UTF8.self)
        let length = isHead ? 0 : RawClient.contentLength(head)
        while buffered.count < end + length { buffered += try readSome().get() }
        let body = Array(buffered[end..<(end + length)])
        buffered.removeFirst(end + length)
        return (Int(head.split(separator: " ")[1]) ?? 0, head, body)
      }
      buffered += try readSome().get()
    }
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    for index in 0...(bytes.count - 4)
    where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13
      && bytes[index + 3] == 10
    {
      return index + 4
    }
    return nil
  }

  private static func contentLength(_ head: String) -> Int {
    for line in head.lowercased().split(whereSeparator: \.isNewline)
    where line.hasPrefix("content-length:") {
      return Int(line.dropFirst(15).filter(\.isNumber)) ?? 0
    }
    return 0
  }
}

private func Glibc_send(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
  #if canImport(Glibc)
    return Glibc.send(descriptor, base, count, Int32(MSG_NOSIGNAL))
  #else
    return Darwin.send(descriptor, base, count, 0)
  #endif
}
