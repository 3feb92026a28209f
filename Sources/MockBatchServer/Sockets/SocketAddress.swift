#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A numeric IPv4 or IPv6 address with a port. Names are not looked up, except `localhost`, which
/// `resolve` turns into both loopback addresses.
struct SocketAddress: CustomStringConvertible {
  private var storage: sockaddr_storage

  init(_ storage: sockaddr_storage) { self.storage = storage }

  /// Parses a numeric host; nil when it is none.
  init?(host: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    storage = sockaddr_storage()
    if !SocketAddress.fillIPv4(&storage, host, port), !SocketAddress.fillIPv6(&storage, host, port)
    {
      return nil
    }
  }

  private static func fillIPv4(
    _ storage: inout sockaddr_storage, _ host: String, _ port: UInt16
  ) -> Bool {
    var address = sockaddr_in()
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return false }
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    #if canImport(Darwin)
      address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    withUnsafeMutableBytes(of: &storage) { target in
      withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
    }
    return true
  }

  private static func fillIPv6(
    _ storage: inout sockaddr_storage, _ host: String, _ port: UInt16
  ) -> Bool {
    var address = sockaddr_in6()
    guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return false }
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    #if canImport(Darwin)
      address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
    #endif
    withUnsafeMutableBytes(of: &storage) { target in
      withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
    }
    return true
  }

  /// The addresses a host stands for: both loopback ones for `localhost`, else the numeric one.
  static func resolve(host: String, port: Int) throws -> [SocketAddress] {
    let hosts = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
    let addresses = hosts.compactMap { SocketAddress(host: $0, port: port) }
    guard !addresses.isEmpty else {
      throw SocketError(operation: "listen on", code: EINVAL, subject: "\(host):\(port)")
    }
    return addresses
  }

  var family: Int32 { Int32(storage.ss_family) }

  var port: Int {
    withPointer { address, _ in SocketAddress.port(of: address) }
  }

  static func port(of address: UnsafePointer<sockaddr>) -> Int {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET: return Int(UInt16(bigEndian: raw.load(as: sockaddr_in.self).sin_port))
    case AF_INET6: return Int(UInt16(bigEndian: raw.load(as: sockaddr_in6.self).sin6_port))
    default: return 0
    }
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    let size =
      family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    return withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }

  /// The host in numbers, an IPv6 one without brackets.
  var host: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    return withUnsafeBytes(of: storage) { raw -> String in
      guard let base = raw.baseAddress else { return "" }
      let offset =
        family == AF_INET6
        ? MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)
        : MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)
      guard let offset,
        inet_ntop(family, base + offset, &text, socklen_t(text.count)) != nil
      else { return "" }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  var description: String {
    family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
