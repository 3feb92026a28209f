// The parser's tokens: white space, words, numbers, strings. Every string is checked for UTF-8
// here, so what is read from the tape later needs no check.

extension TapeParser {
  @inline(__always)
  mutating func skipWhitespace() {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x0a, 0x0d, 0x09: at += 1
      default: return
      }
    }
  }

  func refuseForeignEncodings() throws {
    // The two commonest beginnings are none of them.
    if bytes.count > 1, bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "["),
      bytes[1] != 0
    {
      return
    }
    let head = Array(bytes.prefix(4))
    let name: String?
    if head.starts(with: [0xef, 0xbb, 0xbf]) {
      name = "a byte order mark"
    } else if head.starts(with: [0xff, 0xfe]) || head.starts(with: [0xfe, 0xff]) {
      name = "a byte order mark of UTF-16 or UTF-32"
    } else if head.count > 1, bytes.count % 2 == 0, head[0] == 0 || (head[1] == 0 && head.last == 0)
    {
      name = "zero bytes, as UTF-16 or UTF-32 does"
    } else {
      name = nil
    }
    if let name { throw Fault(kind: .byteOrderMark(name), offset: 0) }
  }

  mutating func readWord(_ word: StaticString, _ kind: JSONKind, _ flags: TapeEntry.Flags) throws {
    let length = word.utf8CodeUnitCount
    var matches = at + length <= bytes.count
    if matches {
      for index in 0..<length where bytes[at + index] != word.utf8Start[index] { matches = false }
    }
    let end = at + length
    guard matches, end == bytes.count || !TapeParser.isWordByte(bytes[end]) else {
      throw unknownWord()
    }
    try appendScalar(kind, flags, end: end)
  }

  @inline(__always)
  mutating func readNumber() throws {
    var scanner = NumberScanner(bytes: bytes, at: at)
    if let why = scanner.scan() {
      if scanner.at == bytes.count { throw Fault(kind: .invalidNumber(why), offset: at) }
      throw Fault(kind: .invalidNumber(why), offset: scanner.at)
    }
    if scanner.at < bytes.count, TapeParser.isWordByte(bytes[scanner.at]) {
      throw Fault(kind: .invalidNumber("it runs into other characters"), offset: scanner.at)
    }
    try appendScalar(.number, [], end: scanner.at)
  }

  @inline(__always)
  private mutating func appendScalar(
    _ kind: JSONKind, _ flags: TapeEntry.Flags, end: Int
  ) throws {
    try append(
      TapeEntry(
        start: UInt32(truncatingIfNeeded: at), end: UInt32(truncatingIfNeeded: end),
        next: UInt32(truncatingIfNeeded: tapeCount + 1), kind: kind, flags: flags))
    at = end
  }

  /// Reads a string from its opening quotation mark.
  @inline(__always)
  mutating func readString() throws {
    var flags: TapeEntry.Flags = []
    var cursor = at + 1
    while true {
      cursor = JSONStrings.skipPlain(bytes, from: cursor)
      guard cursor < bytes.count else { throw missing("'\"' at the end of the string") }
      let byte = bytes[cursor]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        flags.insert(.escaped)
        cursor = try skipEscape(at: cursor)
      } else if byte < 0x20 {
        throw Fault(kind: .controlCharacter(byte), offset: cursor)
      } else {
        let length = JSONStrings.scalarLength(bytes, at: cursor)
        guard length > 0 else { throw Fault(kind: .invalidUTF8, offset: cursor) }
        cursor += length
      }
    }
    try appendScalar(.string, flags, end: cursor + 1)
  }

  /// Checks the escape at a backslash; returns the byte after it.
  private func skipEscape(at cursor: Int) throws -> Int {
    guard cursor + 1 < bytes.count else { throw missing("the rest of an escape") }
    switch bytes[cursor + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return cursor + 2
    case UInt8(ascii: "u"): return try skipUnicodeEscape(at: cursor)
    default: throw Fault(kind: .invalidEscape, offset: cursor)
    }
  }

  private func skipUnicodeEscape(at cursor: Int) throws -> Int {
    guard let unit = JSONStrings.hexUnit(bytes, at: cursor + 2) else {
      throw Fault(kind: .invalidEscape, offset: cursor)
    }
    switch unit {
    case 0xdc00...0xdfff: throw Fault(kind: .loneSurrogate, offset: cursor)
    case 0xd800...0xdbff:
      guard cursor + 7 < bytes.count, bytes[cursor + 6] == UInt8(ascii: "\\"),
        bytes[cursor + 7] == UInt8(ascii: "u"),
        let low = JSONStrings.hexUnit(bytes, at: cursor + 8), (0xdc00...0xdfff).contains(low)
      else { throw Fault(kind: .loneSurrogate, offset: cursor) }
      return cursor + 12
    default: return cursor + 6
    }
  }
}

// MARK: - Faults

extension TapeParser {
  func missing(_ expected: String) -> Fault {
    Fault(kind: .unexpectedEnd(expected: expected), offset: bytes.count)
  }

  func unexpected(_ expected: String) -> Fault {
    let byte = bytes[at]
    if TapeParser.isLetter(byte) { return unknownWord() }
    let length = JSONStrings.scalarLength(bytes, at: at)
    guard length > 0 else { return Fault(kind: .invalidUTF8, offset: at) }
    let found: String
    if byte < 0x20 || byte == 0x7f {
      found = "U+00\(JSONError.hex(byte))"
    } else {
      found = "'\(String(decoding: bytes[at..<at + length], as: UTF8.self))'"
    }
    return Fault(kind: .unexpectedCharacter(found: found, expected: expected), offset: at)
  }

  private func unknownWord() -> Fault {
    var end = at
    while end < bytes.count, end - at < TapeParser.longestShownWord,
      TapeParser.isWordByte(bytes[end])
    {
      end += 1
    }
    let word = String(decoding: bytes[at..<end], as: UTF8.self)
    return Fault(kind: .unknownWord(word), offset: at)
  }

  private static let longestShownWord = 24

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
  static func isWordByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || byte &- 0x30 <= 9 || byte == 0x2e || byte == 0x2b || byte == 0x2d
      || byte == 0x5f
  }
}
