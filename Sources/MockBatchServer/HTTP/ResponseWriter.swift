/// Frames answers for the wire (RFC 9112 section 2). Appends to a buffer that is used again, so
/// that a whole answer leaves in one write.
enum ResponseWriter {
  /// What the connection's state adds to an answer.
  struct Context {
    /// The request was HEAD: the length of the body is told, the body is not sent.
    var isHead = false
    /// The minor version of the request.
    var minorVersion = 1
    /// The connection closes behind the answer.
    var closes = false
  }

  /// A whole answer.
  static func append(_ response: HTTPResponse, _ context: Context, to out: inout [UInt8]) {
    let isBodiless = HTTPResponse.isBodiless(response.status)
    appendStart(response, context, to: &out)
    if !isBodiless, !response.headers.contains("content-length") {
      appendLiteral("content-length: ", to: &out)
      ASCII.appendDecimal(response.body.count, to: &out)
      appendLiteral("\r\n", to: &out)
    }
    appendLiteral("\r\n", to: &out)
    if !isBodiless, !context.isHead { out.append(contentsOf: response.body) }
  }

  /// A head whose body follows in pieces.
  static func appendHead(
    _ response: HTTPResponse, _ framing: BodyFraming, _ context: Context, to out: inout [UInt8]
  ) {
    appendStart(response, context, to: &out)
    switch framing {
    case .length(let length):
      appendLiteral("content-length: ", to: &out)
      ASCII.appendDecimal(length, to: &out)
      appendLiteral("\r\n", to: &out)
    case .chunked: appendLiteral("transfer-encoding: chunked\r\n", to: &out)
    case .untilClose: break
    }
    appendLiteral("\r\n", to: &out)
  }

  /// One chunk; an empty piece adds nothing, because an empty chunk would be the last.
  static func appendChunk(_ piece: [UInt8], to out: inout [UInt8]) {
    guard !piece.isEmpty else { return }
    out.append(contentsOf: String(piece.count, radix: 16).utf8)
    appendLiteral("\r\n", to: &out)
    out.append(contentsOf: piece)
    appendLiteral("\r\n", to: &out)
  }

  /// The last chunk, without trailers.
  static func appendLastChunk(to out: inout [UInt8]) { appendLiteral("0\r\n\r\n", to: &out) }

  /// The interim answer that lets a client send its body.
  static func appendContinue(to out: inout [UInt8]) {
    appendLiteral("HTTP/1.1 100 Continue\r\n\r\n", to: &out)
  }

  private static func appendStart(
    _ response: HTTPResponse, _ context: Context, to out: inout [UInt8]
  ) {
    if response.status == 200 {
      appendLiteral("HTTP/1.1 200 OK\r\n", to: &out)
    } else {
      appendLiteral("HTTP/1.1 ", to: &out)
      ASCII.appendDecimal(response.status, to: &out)
      out.append(ASCII.space)
      appendLiteral(HTTPResponse.reason(response.status), to: &out)
      appendLiteral("\r\n", to: &out)
    }
    appendFields(response.headers, to: &out)
    guard !response.headers.contains("connection") else { return }
    if context.closes {
      appendLiteral("connection: close\r\n", to: &out)
    } else if context.minorVersion == 0 {
      appendLiteral("connection: keep-alive\r\n", to: &out)
    }
  }

  private static func appendFields(_ headers: HTTPHeaders, to out: inout [UInt8]) {
    headers.bytes.withUnsafeBytes { bytes in
      for field in headers.fields {
        out.append(
          contentsOf: UnsafeRawBufferPointer(
            rebasing: bytes[Int(field.nameStart)..<Int(field.nameEnd)]))
        appendLiteral(": ", to: &out)
        out.append(
          contentsOf: UnsafeRawBufferPointer(
            rebasing: bytes[Int(field.valueStart)..<Int(field.valueEnd)]))
        appendLiteral("\r\n", to: &out)
      }
    }
  }

  @inline(__always)
  private static func appendLiteral(_ text: StaticString, to out: inout [UInt8]) {
    out.append(contentsOf: text.asciiBytes)
  }
}
