/// One complete request as it came off the wire.
package struct HTTPRequest: Sendable, Equatable {
  /// The method, case sensitive (RFC 9110 section 9.1).
  package var method: String
  /// The request target exactly as sent.
  package var target: String
  /// The minor version of HTTP/1: 0 or 1. Higher minors count as 1.
  package var minorVersion: Int
  /// Header fields in order.
  package var headers: HTTPHeaders
  /// The body after transfer decoding, before content decoding (gzip bytes stay gzip bytes).
  package var body: [UInt8]
  /// Fields behind the last chunk; never merged into `headers`.
  package var trailers: HTTPHeaders
  /// Bytes the request took on the wire, head and framing included.
  package var wireBytes: Int

  /// A request; the target is taken apart on demand.
  package init(
    method: String, target: String, minorVersion: Int = 1, headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [], trailers: HTTPHeaders = HTTPHeaders(), wireBytes: Int = 0
  ) {
    self.method = method
    self.target = target
    self.minorVersion = minorVersion
    self.headers = headers
    self.body = body
    self.trailers = trailers
    self.wireBytes = wireBytes
  }

  /// The path of the target as sent, not percent-decoded; `*` for the asterisk form, `/` for an
  /// absolute form without a path.
  package var path: String {
    if isPlainPath { return target }
    let local = HTTPRequest.originForm(target)
    guard let mark = local.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return local.utf8.count == target.utf8.count ? target : String(local)
    }
    return String(local[..<mark])
  }

  /// What stands behind `?`, as sent; nil without a question mark.
  package var query: String? {
    let local = HTTPRequest.originForm(target)
    guard let mark = local.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return String(local[local.utf8.index(after: mark)...])
  }

  /// Whether the target is a path and nothing else, as nearly always.
  private var isPlainPath: Bool {
    target.utf8.withContiguousStorageIfAvailable {
      $0.first == UInt8(ascii: "/") && !$0.contains(UInt8(ascii: "?"))
    } ?? false
  }

  /// Drops scheme and authority of an absolute form.
  private static func originForm(_ target: String) -> Substring {
    guard target.utf8.first != UInt8(ascii: "/") else { return target[...] }
    let lowered = target.prefix(8).lowercased()
    let scheme = lowered.hasPrefix("http://") ? 7 : lowered.hasPrefix("https://") ? 8 : 0
    guard scheme > 0 else { return target[...] }
    let rest = target.utf8.dropFirst(scheme)
    let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
    guard let end else { return "/" }
    let local = target[end...]
    return local.utf8.first == UInt8(ascii: "?") ? "/" + local : local
  }
}
