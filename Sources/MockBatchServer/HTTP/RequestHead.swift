/// The head of a request while its lines come in: ranges into the connection's buffer, and what
/// the framing rules need to know. Used again for each request, so that no storage is allocated
/// per field.
struct RequestHead {
  var method = ""
  var target = ""
  var minorVersion = 1
  var fields: [HTTPHeaders.Field] = []
  var hasRequestLine = false

  private(set) var contentLength: UInt64?
  private(set) var expectsContinue = false
  private(set) var closes = false
  private(set) var keepsAlive = false
  private var hosts = 0
  private var hasTransferEncoding = false
  private var codings = 0
  private var chunkedCodings = 0
  private var chunkedIsLast = false

  /// How the body is delimited (RFC 9112 section 6.3).
  enum Framing: Equatable {
    case none
    case length(UInt64)
    case chunked
  }

  /// Forgets the last request but keeps the storage.
  mutating func reset() {
    fields.removeAll(keepingCapacity: true)
    hasRequestLine = false
    contentLength = nil
    expectsContinue = false
    closes = false
    keepsAlive = false
    hosts = 0
    hasTransferEncoding = false
    codings = 0
    chunkedCodings = 0
    chunkedIsLast = false
  }

  /// Whether the connection may carry another request behind this one.
  var keepsConnection: Bool { !closes && (minorVersion >= 1 || keepsAlive) }

  // MARK: Request line

  /// `method SP request-target SP HTTP-version`, exactly one space each.
  mutating func readRequestLine(_ line: UnsafeRawBufferPointer) throws {
    var index = 0
    while index < line.count, ASCII.isToken(line[index]) { index += 1 }
    guard index > 0, index < line.count, line[index] == ASCII.space else {
      throw HTTPFailure(400, "The request line does not start with a method and one space.")
    }
    let methodBytes = UnsafeRawBufferPointer(rebasing: line[..<index])
    let targetStart = index + 1
    index = targetStart
    while index < line.count, line[index] != ASCII.space { index += 1 }
    let targetBytes = UnsafeRawBufferPointer(rebasing: line[targetStart..<index])
    guard index < line.count else {
      throw HTTPFailure(400, "The request line has no HTTP version.")
    }
    try readVersion(UnsafeRawBufferPointer(rebasing: line[(index + 1)...]))
    guard RequestTarget.isValid(targetBytes, method: methodBytes) else {
      throw HTTPFailure(400, "The request target is malformed.")
    }
    RequestHead.set(&method, methodBytes)
    RequestHead.set(&target, targetBytes)
    hasRequestLine = true
  }

  /// Most requests of a connection have the same target: its string is used again.
  private static func set(_ text: inout String, _ bytes: UnsafeRawBufferPointer) {
    let isSame = text.utf8.withContiguousStorageIfAvailable {
      $0.count == bytes.count && bytes.elementsEqual($0)
    }
    if isSame != true { text = String(decoding: bytes, as: UTF8.self) }
  }

  private mutating func readVersion(_ bytes: UnsafeRawBufferPointer) throws {
    let name: StaticString = "HTTP/"
    guard bytes.count == 8, bytes[..<5].elementsEqual(name.asciiBytes), ASCII.isDigit(bytes[5]),
      bytes[6] == UInt8(ascii: "."), ASCII.isDigit(bytes[7])
    else { throw HTTPFailure(400, "The HTTP version is malformed.") }
    guard bytes[5] == UInt8(ascii: "1") else {
      throw HTTPFailure(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    }
    minorVersion = bytes[7] == UInt8(ascii: "0") ? 0 : 1
  }

  // MARK: Fields

  /// One field line. `offset` is where the line starts, counted from the start of the section.
  /// Trailer fields have no say in the framing.
  mutating func readField(
    _ line: UnsafeRawBufferPointer, offset: Int, isTrailer: Bool = false
  ) throws {
    var index = 0
    while index < line.count, ASCII.isToken(line[index]) { index += 1 }
    let nameEnd = index
    guard nameEnd > 0 else {
      let folded = line.first.map(ASCII.isBlank) ?? false
      throw HTTPFailure(400, folded ? "Obsolete line folding." : "A field line has no name.")
    }
    guard index < line.count, line[index] == UInt8(ascii: ":") else {
      throw HTTPFailure(400, "A field name is not followed by a colon.")
    }
    var start = index + 1
    while start < line.count, ASCII.isBlank(line[start]) { start += 1 }
    var end = line.count
    while end > start, ASCII.isBlank(line[end - 1]) { end -= 1 }
    index = start
    while index < end {
      guard ASCII.isFieldContent(line[index]) else {
        throw HTTPFailure(400, "A field value holds a control character.")
      }
      index += 1
    }
    fields.append(
      HTTPHeaders.Field(
        nameStart: UInt32(truncatingIfNeeded: offset),
        nameEnd: UInt32(truncatingIfNeeded: offset + nameEnd),
        valueStart: UInt32(truncatingIfNeeded: offset + start),
        valueEnd: UInt32(truncatingIfNeeded: offset + end)))
    guard !isTrailer else { return }
    try noteFraming(
      name: UnsafeRawBufferPointer(rebasing: line[..<nameEnd]),
      value: UnsafeRawBufferPointer(rebasing: line[start..<end]))
  }

  /// Remembers the fields that decide about framing and the connection; the length of the name
  /// rules out nearly all others at once.
  private mutating func noteFraming(
    name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws {
    switch name.count {
    case 4 where isName(name, "host"):
      hosts += 1
      guard RequestTarget.isHost(value) else { throw HTTPFailure(400, "Host is malformed.") }
    case 6 where isName(name, "expect"):
      guard isName(value, "100-continue") else {
        throw HTTPFailure(417, "The only expectation known here is 100-continue.")
      }
      expectsContinue = true
    case 10 where isName(name, "connection"):
      forEachElement(of: value) { element in
        if isName(element, "close") { closes = true }
        if isName(element, "keep-alive") { keepsAlive = true }
      }
    case 14 where isName(name, "content-length"):
      try noteLength(value)
    case 17 where isName(name, "transfer-encoding"):
      hasTransferEncoding = true
      forEachElement(of: value) { element in
        codings += 1
        chunkedIsLast = isName(element, "chunked")
        if chunkedIsLast { chunkedCodings += 1 }
      }
    default: break
    }
  }

  /// A list of identical numbers counts as one (RFC 9110 section 8.6); anything else is refused.
  private mutating func noteLength(_ value: UnsafeRawBufferPointer) throws {
    var index = 0
    while true {
      while index < value.count, ASCII.isBlank(value[index]) { index += 1 }
      let start = index
      var number: UInt64 = 0
      while index < value.count, ASCII.isDigit(value[index]) {
        let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(UInt64(value[index] &- 0x30))
        guard !overflow, !carry else { throw HTTPFailure(400, "Content-Length is too large.") }
        number = sum
        index += 1
      }
      guard index > start else { throw HTTPFailure(400, "Content-Length is not a number.") }
      guard contentLength == nil || contentLength == number else {
        throw HTTPFailure(400, "Content-Length has differing values.")
      }
      contentLength = number
      while index < value.count, ASCII.isBlank(value[index]) { index += 1 }
      guard index < value.count else { return }
      guard value[index] == UInt8(ascii: ",") else {
        throw HTTPFailure(400, "Content-Length is not a number.")
      }
      index += 1
    }
  }

  /// How the body is delimited, once all fields are read.
  func framing() throws -> Framing {
    guard hosts == 1 || (minorVersion == 0 && hosts == 0) else {
      throw HTTPFailure(400, hosts == 0 ? "Host is missing." : "There is more than one Host.")
    }
    guard hasTransferEncoding else {
      guard let contentLength else { return .none }
      return contentLength == 0 ? .none : .length(contentLength)
    }
    guard contentLength == nil else {
      throw HTTPFailure(400, "Both Content-Length and Transfer-Encoding are given.")
    }
    guard minorVersion >= 1 else {
      throw HTTPFailure(400, "HTTP/1.0 has no Transfer-Encoding.")
    }
    guard chunkedIsLast, chunkedCodings == 1 else {
      throw HTTPFailure(400, "The last transfer coding is not a single chunked.")
    }
    guard codings == 1 else { throw HTTPFailure(501, "The only transfer coding is chunked.") }
    return .chunked
  }

  // MARK: Helpers

  private func isName(_ bytes: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
    ASCII.equalIgnoringCase(bytes, UnsafeRawBufferPointer(name.asciiBytes))
  }

  /// The elements of a comma-separated list, blanks dropped; empty ones are skipped
  /// (RFC 9110 section 5.6.1).
  private func forEachElement(
    of value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    for part in value.split(separator: UInt8(ascii: ",")) {
      var start = part.startIndex
      var end = part.endIndex
      while start < end, ASCII.isBlank(part[start]) { start += 1 }
      while end > start, ASCII.isBlank(part[end - 1]) { end -= 1 }
      if start < end { body(UnsafeRawBufferPointer(rebasing: part[start..<end])) }
    }
  }
}
