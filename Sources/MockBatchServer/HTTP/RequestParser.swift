/// The body exceeds the limit that holds for it.
private struct BodyTooLarge: Error {}

/// Reads requests from bytes in whatever pieces they come (RFC 9112). One parser per connection;
/// after a failure nothing more can be read, because the framing is lost.
struct RequestParser {
  enum Event {
    /// All that could be read has been read.
    case needMore
    /// A head is complete. The next call reads the body, however short.
    case head(HTTPRequest)
    /// The body is complete, with its transfer coding removed.
    case body([UInt8], trailers: HTTPHeaders)
    /// The body is longer than `bodyLimit`; nothing more can be read.
    case bodyTooLarge
    /// The bytes are no request; nothing more can be read.
    case failed(HTTPFailure)
  }

  private enum State {
    case head
    case fixedBody(length: Int)
    case chunkSize
    case chunkData(remaining: Int)
    case chunkEnd
    case trailers
    case failed
  }

  /// Longest body of the request being read; `HTTPLimits.maxBodyBytes` at most.
  var bodyLimit: Int {
    didSet { bodyLimit = min(bodyLimit, limits.maxBodyBytes) }
  }
  /// Bytes of the present request so far, head and framing included.
  private(set) var wireBytes = 0

  private let limits: HTTPLimits
  private var state = State.head
  private var head = RequestHead()
  private var body: [UInt8] = []
  /// Where the line being read starts, and up to where it has been searched, both counted from
  /// the first unconsumed byte.
  private var lineStart = 0
  private var scanned = 0
  private var blankLines = 0
  private var extensionBytes = 0
  private var bodyHasNotBegun = true

  /// Largest body storage taken on the word of a `Content-Length` alone.
  private static let maxReserveBytes = 1_048_576

  init(limits: HTTPLimits) {
    self.limits = limits
    bodyLimit = limits.maxBodyBytes
  }

  /// Whether a head has begun and is not complete.
  var isInsideHead: Bool {
    if case .head = state { return scanned > 0 }
    return false
  }

  /// Whether a head is complete and its body is not.
  var isInsideBody: Bool {
    switch state {
    case .head, .failed: return false
    default: return true
    }
  }

  /// Whether the present request's client waits for `100 Continue` before it sends the body.
  var awaitsContinue: Bool {
    isInsideBody && head.expectsContinue && head.minorVersion >= 1 && bodyHasNotBegun
  }

  /// Whether the connection may carry another request behind the present or last one.
  private(set) var keepsConnection = true

  /// Reads from the front of `input`. Call again with the bytes behind `consumed` until
  /// `.needMore`; bytes that were not consumed must stay in front of later ones.
  mutating func parse(_ input: UnsafeRawBufferPointer, consumed: inout Int) -> Event {
    consumed = 0
    do {
      while true {
        let rest = UnsafeRawBufferPointer(rebasing: input[consumed...])
        if let event = try step(rest, consumed: &consumed) { return event }
      }
    } catch is BodyTooLarge {
      state = .failed
      return .bodyTooLarge
    } catch {
      state = .failed
      return .failed(error as? HTTPFailure ?? HTTPFailure(400, "\(error)"))
    }
  }

  /// One step of the machine: an event, or nil to go on.
  private mutating func step(
    _ rest: UnsafeRawBufferPointer, consumed: inout Int
  ) throws -> Event? {
    switch state {
    case .head: return try readHead(rest, &consumed)
    case .fixedBody(let length): return try readFixedBody(rest, length, &consumed)
    case .chunkSize: return try readChunkSize(rest, &consumed)
    case .chunkData(let remaining):
      let taken = take(rest, atMost: remaining, &consumed)
      state = taken == remaining ? .chunkEnd : .chunkData(remaining: remaining - taken)
      return taken == remaining ? nil : .needMore
    case .chunkEnd:
      if let first = rest.first, first != ASCII.carriageReturn { throw chunkEndFailure }
      guard rest.count >= 2 else { return .needMore }
      guard rest[1] == ASCII.lineFeed else { throw chunkEndFailure }
      advance(2, &consumed)
      state = .chunkSize
      return nil
    case .trailers: return try readTrailers(rest, &consumed)
    case .failed: return .needMore
    }
  }

  private var chunkEndFailure: HTTPFailure {
    HTTPFailure(400, "Chunk data is not followed by CRLF.")
  }

  // MARK: Head

  private mutating func readHead(
    _ rest: UnsafeRawBufferPointer, _ consumed: inout Int
  ) throws -> Event? {
    if scanned == 0, let first = rest.first, !ASCII.isToken(first), first != 0x0d, first != 0x0a {
      throw HTTPFailure(400, "This is no HTTP request.")
    }
    while let line = try nextLine(rest, limit: headLimit) {
      if !head.hasRequestLine {
        if line.isEmpty {
          blankLines += 1
          guard blankLines <= limits.maxBlankLines else {
            throw HTTPFailure(400, "Too many empty lines in front of a request.")
          }
          advance(scanned, &consumed)
          return nil
        }
        try head.readRequestLine(UnsafeRawBufferPointer(rebasing: rest[line]))
      } else if line.isEmpty {
        return try finishHead(rest, &consumed)
      } else {
        try readField(rest, line, isTrailer: false)
      }
    }
    return .needMore
  }

  private var headLimit: Int {
    head.hasRequestLine ? limits.maxHeadBytes : limits.maxRequestLineBytes
  }

  private mutating func readField(
    _ rest: UnsafeRawBufferPointer, _ line: Range<Int>, isTrailer: Bool
  ) throws {
    guard head.fields.count < limits.maxFields else {
      throw HTTPFailure(431, "There are more than \(limits.maxFields) fields.")
    }
    try head.readField(
      UnsafeRawBufferPointer(rebasing: rest[line]), offset: line.lowerBound, isTrailer: isTrailer)
  }

  private mutating func finishHead(
    _ rest: UnsafeRawBufferPointer, _ consumed: inout Int
  ) throws -> Event? {
    let framing = try head.framing()
    let headers = HTTPHeaders(
      bytes: Array(rest[..<scanned]), fields: Array(head.fields))
    let message = HTTPRequest(
      method: head.method, target: head.target, minorVersion: head.minorVersion, headers: headers,
      wireBytes: scanned)
    keepsConnection = head.keepsConnection
    bodyHasNotBegun = true
    advance(scanned, &consumed)
    switch framing {
    case .none: state = .fixedBody(length: 0)
    case .length(let length): state = .fixedBody(length: Int(clamping: length))
    case .chunked: state = .chunkSize
    }
    return .head(message)
  }

  private mutating func readFixedBody(
    _ rest: UnsafeRawBufferPointer, _ length: Int, _ consumed: inout Int
  ) throws -> Event? {
    guard length <= bodyLimit else { throw BodyTooLarge() }
    if body.isEmpty { body.reserveCapacity(min(length, RequestParser.maxReserveBytes)) }
    take(rest, atMost: length - body.count, &consumed)
    return body.count == length ? complete(trailers: HTTPHeaders()) : .needMore
  }

  // MARK: Chunks

  private mutating func readChunkSize(
    _ rest: UnsafeRawBufferPointer, _ consumed: inout Int
  ) throws -> Event? {
    guard let line = try nextLine(rest, limit: limits.maxChunkExtensionBytes) else {
      return .needMore
    }
    let size = try ChunkSize.parse(UnsafeRawBufferPointer(rebasing: rest[line]))
    extensionBytes += max(0, line.count - 16)
    guard extensionBytes <= limits.maxChunkExtensionBytes else {
      throw HTTPFailure(400, "The chunk extensions are too long.")
    }
    advance(scanned, &consumed)
    guard size > 0 else {
      head.fields.removeAll(keepingCapacity: true)
      state = .trailers
      return nil
    }
    guard size <= UInt64(max(0, bodyLimit - body.count)) else { throw BodyTooLarge() }
    state = .chunkData(remaining: Int(size))
    return nil
  }

  private mutating func readTrailers(
    _ rest: UnsafeRawBufferPointer, _ consumed: inout Int
  ) throws -> Event? {
    while let line = try nextLine(rest, limit: limits.maxHeadBytes) {
      guard line.isEmpty else {
        try readField(rest, line, isTrailer: true)
        continue
      }
      let trailers =
        head.fields.isEmpty
        ? HTTPHeaders()
        : HTTPHeaders(bytes: Array(rest[..<scanned]), fields: Array(head.fields))
      advance(scanned, &consumed)
      return complete(trailers: trailers)
    }
    return .needMore
  }

  // MARK: Pieces

  /// The next whole line without its CRLF, as a range of `rest`. A line feed without a carriage
  /// return in front, or a carriage return without a line feed behind, is refused at once: two
  /// parsers that disagree about line ends can be made to disagree about requests.
  private mutating func nextLine(
    _ rest: UnsafeRawBufferPointer, limit: Int
  ) throws -> Range<Int>? {
    let index = ASCII.lineFeed(in: rest, from: scanned)
    scanned = index
    guard index <= limit else {
      if case .head = state, !head.hasRequestLine {
        throw HTTPFailure(414, "The request line is longer than \(limit) bytes.")
      }
      throw HTTPFailure(431, "A head, trailer section or chunk line exceeds \(limit) bytes.")
    }
    guard index < rest.count else { return nil }
    guard index > lineStart, rest[index - 1] == ASCII.carriageReturn else {
      throw HTTPFailure(400, "A line ends with a bare line feed.")
    }
    let line = lineStart..<(index - 1)
    scanned = index + 1
    lineStart = scanned
    return line
  }

  @discardableResult
  private mutating func take(
    _ rest: UnsafeRawBufferPointer, atMost limit: Int, _ consumed: inout Int
  ) -> Int {
    let count = min(limit, rest.count)
    if count > 0 {
      body.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<count]))
      bodyHasNotBegun = false
    }
    advance(count, &consumed)
    return count
  }

  /// Moves the front of the input; the next line starts there.
  private mutating func advance(_ count: Int, _ consumed: inout Int) {
    consumed += count
    wireBytes += count
    lineStart = 0
    scanned = 0
  }

  private mutating func complete(trailers: HTTPHeaders) -> Event {
    let complete = body
    body = []
    wireBytes = 0
    blankLines = 0
    extensionBytes = 0
    head.reset()
    state = .head
    bodyLimit = limits.maxBodyBytes
    return .body(complete, trailers: trailers)
  }
}
