import JSONText

/// One answer of the target, as it came.
struct HTTPAnswer: Sendable {
  var status: Int
  var reason: String
  var headers: [(name: String, value: String)]
  var body: [UInt8]

  /// The first value of a field; names are compared without case (RFC 9110, section 5.1).
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  var isInterim: Bool { (100..<200).contains(status) && status != 101 }
  var isSuccess: Bool { (200..<300).contains(status) }
  /// The media type without parameters, lower case.
  var mediaType: String {
    let type = (header("Content-Type") ?? "").split(separator: ";").first.map(String.init) ?? ""
    return type.trimmed.lowercased()
  }
  var isHTML: Bool { mediaType == "text/html" }
  var text: String { String(decoding: body, as: UTF8.self) }
  // A body that is no JSON is judged by the caller; where it is broken does not matter here.
  var json: JSONValue? { try? JSONValue.parse(body) }
}

extension String {
  /// Without white space at both ends.
  var trimmed: String {
    var rest = Substring(self)
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}

/// Why no whole answer came.
enum AnswerFault: Error, Equatable, Sendable {
  case socket(SocketFault)
  case closedWithoutAnswer
  case cut(String)
  case malformed(String)

  var text: String {
    switch self {
    case .socket(let fault): return fault.text
    case .closedWithoutAnswer: return "the connection was closed without an answer"
    case .cut(let what): return "the answer was cut off in \(what)"
    case .malformed(let what): return "the answer is not HTTP/1.1: \(what)"
    }
  }
}

/// What came of one request.
enum Reply: Sendable {
  case answer(HTTPAnswer)
  case fault(AnswerFault)

  var answer: HTTPAnswer? {
    guard case .answer(let answer) = self else { return nil }
    return answer
  }

  /// "answered 200" or why it did not answer.
  var text: String {
    switch self {
    case .answer(let answer): return "answered \(answer.status)"
    case .fault(let fault): return fault.text
    }
  }
}

/// Reads answers from one connection, one after the other (RFC 9112).
struct AnswerReader {
  /// Bytes of a head, and of a body, at most.
  static let maxHead = 65_536
  static let maxBody = 4_000_000

  private let stream: any ByteStream
  private var buffer: [UInt8] = []
  private var ended = false

  init(_ stream: any ByteStream) { self.stream = stream }

  /// The next final answer; 1xx ones are passed over.
  mutating func next(bodyless: Bool, by deadline: Deadline) throws -> HTTPAnswer {
    while true {
      let answer = try first(bodyless: bodyless, by: deadline)
      if !answer.isInterim { return answer }
    }
  }

  /// The next answer, an interim one too.
  mutating func first(bodyless: Bool = false, by deadline: Deadline) throws -> HTTPAnswer {
    var answer = try head(by: deadline)
    if !bodyless && !answer.isInterim && answer.status != 204 && answer.status != 304 {
      answer.body = try body(of: answer, by: deadline)
    }
    return answer
  }

  /// Waits for a head without taking it, e.g. for `100 Continue`.
  mutating func waitForBytes(by deadline: Deadline) throws {
    if buffer.isEmpty { try fill(by: deadline) }
  }

  private mutating func fill(by deadline: Deadline) throws {
    guard !ended else { return }
    do {
      let bytes = try stream.receive(by: deadline)
      if bytes.isEmpty { ended = true }
      buffer += bytes
    } catch let fault as SocketFault {
      throw AnswerFault.socket(fault)
    }
  }

  private mutating func head(by deadline: Deadline) throws -> HTTPAnswer {
    while true {
      if let end = headEnd() {
        // By bytes: in a Swift string CR LF is one character and no line feed.
        let lines = buffer[..<end.lowerBound].split(
          separator: 0x0a, omittingEmptySubsequences: false
        ).map { line in
          String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
        }
        buffer.removeFirst(end.upperBound)
        return try parse(lines)
      }
      guard buffer.count <= AnswerReader.maxHead else {
        throw AnswerFault.malformed("the head is longer than \(AnswerReader.maxHead) bytes")
      }
      if ended {
        throw buffer.isEmpty ? AnswerFault.closedWithoutAnswer : AnswerFault.cut("its head")
      }
      try fill(by: deadline)
    }
  }

  private func headEnd() -> Range<Int>? {
    var index = 0
    while index + 1 < buffer.count {
      if buffer[index] == 0x0a {
        if buffer[index + 1] == 0x0a { return index..<(index + 2) }
        if index + 2 < buffer.count, buffer[index + 1] == 0x0d, buffer[index + 2] == 0x0a {
          return index..<(index + 3)
        }
      }
      index += 1
    }
    return nil
  }

  private func parse(_ lines: [String]) throws -> HTTPAnswer {
    let first = (lines.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
    guard first.count >= 2, first[0].hasPrefix("HTTP/1."), first[1].utf8.count == 3,
      let status = Int(first[1])
    else { throw AnswerFault.malformed("it starts with \"\((lines.first ?? "").prefix(40))\"") }
    var headers: [(name: String, value: String)] = []
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else {
        throw AnswerFault.malformed("a header without a colon")
      }
      headers.append((String(line[..<colon]), String(line[line.index(after: colon)...]).trimmed))
    }
    return HTTPAnswer(
      status: status, reason: first.count > 2 ? first[2] : "", headers: headers, body: [])
  }

  private mutating func body(of answer: HTTPAnswer, by deadline: Deadline) throws -> [UInt8] {
    if answer.header("Transfer-Encoding")?.lowercased().contains("chunked") == true {
      return try chunks(by: deadline)
    }
    if let text = answer.header("Content-Length") {
      guard let length = Int(text), length >= 0 else {
        throw AnswerFault.malformed("Content-Length is \"\(text.prefix(40))\"")
      }
      return try take(length, by: deadline)
    }
    while !ended && buffer.count <= AnswerReader.maxBody { try fill(by: deadline) }
    defer { buffer = [] }
    return buffer
  }

  private mutating func take(_ count: Int, by deadline: Deadline) throws -> [UInt8] {
    guard count <= AnswerReader.maxBody else {
      throw AnswerFault.malformed("the body is longer than \(AnswerReader.maxBody) bytes")
    }
    while buffer.count < count {
      if ended { throw AnswerFault.cut("its body (\(buffer.count) of \(count) bytes)") }
      try fill(by: deadline)
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  private mutating func line(by deadline: Deadline) throws -> String {
    while true {
      if let end = buffer.firstIndex(of: 0x0a) {
        let text = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 1)
        return text.trimmed
      }
      if ended { throw AnswerFault.cut("a chunk") }
      guard buffer.count <= AnswerReader.maxHead else {
        throw AnswerFault.malformed("a chunk's line is too long")
      }
      try fill(by: deadline)
    }
  }

  private mutating func chunks(by deadline: Deadline) throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let header = try line(by: deadline)
      let digits = header.split(separator: ";").first.map { String($0).trimmed } ?? ""
      guard let size = Int(digits, radix: 16), size >= 0,
        size <= AnswerReader.maxBody - body.count
      else { throw AnswerFault.malformed("a chunk's size is \"\(digits.prefix(20))\"") }
      if size == 0 {
        while try !line(by: deadline).isEmpty {}
        return body
      }
      body += try take(size, by: deadline)
      _ = try line(by: deadline)
    }
  }
}
