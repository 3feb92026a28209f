/// One request of a check, as a value: what is sent, and how.
struct ProbeRequest: Sendable {
  /// Whose token goes with it. Values stay out of the request, so that printing one is safe.
  enum Token: Sendable, Equatable {
    case valid
    case expired
    case none
    /// A whole field value that is no secret, e.g. `Bearer nonsense`.
    case field(String)
    /// The valid token behind another spelling of the scheme.
    case validWithScheme(String)
  }

  enum Framing: Sendable, Equatable {
    case contentLength
    /// Chunks of this many bytes (RFC 9112, section 7.1).
    case chunked(size: Int)
    /// These length fields and no others.
    case fields([String])
  }

  /// How the bytes leave.
  enum Manner: Sendable, Equatable {
    case plain
    /// The body in this many pieces with a pause before each.
    case slow(pieces: Int, pauseMs: Int)
    /// The whole request, then a reset before an answer is read.
    case resetAfterUpload
    /// Half of the announced body, then the end of the connection.
    case halfThenClose
    /// `Expect: 100-continue`: the body follows a 100, or this long a silence.
    case expectContinue(patienceMs: Int)
  }

  var method = "POST"
  /// Nil is the target's own path.
  var path: String?
  var token = Token.valid
  var contentType: String? = "application/json"
  var contentEncoding: String? = "gzip"
  var accept = "application/json"
  var body: [UInt8] = []
  /// How many events the body holds, all of them good; nil where it is no batch of good events.
  var events: Int?
  var framing = Framing.contentLength
  var manner = Manner.plain
  /// What a reader of the dry run sees.
  var about = ""

  /// The head without the token's line; `authorization` puts it in.
  func head(target: Target, authorization: String?, keepAlive: Bool) -> String {
    var lines = [
      "\(method) \(path ?? target.path) HTTP/1.1", "Host: \(target.hostHeader)",
      "User-Agent: workbench-verify", "Accept: \(accept)",
    ]
    if let authorization { lines.append("Authorization: \(authorization)") }
    lines += bodyFields
    if case .expectContinue = manner { lines.append("Expect: 100-continue") }
    if !keepAlive { lines.append("Connection: close") }
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  var hasBody: Bool { method == "POST" || method == "PUT" }

  /// The fields that describe the body, framing included.
  var bodyFields: [String] {
    guard hasBody else { return [] }
    var lines: [String] = []
    if let contentType { lines.append("Content-Type: \(contentType)") }
    if let contentEncoding { lines.append("Content-Encoding: \(contentEncoding)") }
    switch framing {
    case .contentLength: lines.append("Content-Length: \(body.count)")
    case .chunked: lines.append("Transfer-Encoding: chunked")
    case .fields(let fields): lines += fields
    }
    return lines
  }

  /// The body as it goes over the wire.
  var framedBody: [UInt8] {
    guard hasBody else { return [] }
    guard case .chunked(let size) = framing else { return body }
    var bytes: [UInt8] = []
    var start = 0
    while start < body.count {
      let end = min(start + max(1, size), body.count)
      bytes += Array("\(String(end - start, radix: 16))\r\n".utf8) + body[start..<end] + [13, 10]
      start = end
    }
    return bytes + Array("0\r\n\r\n".utf8)
  }
}
