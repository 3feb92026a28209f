/// Reading the inside of JSON strings, a word at a time where it is plain ASCII.
enum JSONStrings {
  /// The first byte from there on that is not plain: a quotation mark, a backslash, a control
  /// character, or not ASCII. The count of bytes where there is none.
  @inline(__always)
  static func skipPlain(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard let base = bytes.baseAddress else { return bytes.count }
    let raw = UnsafeRawPointer(base)
    var at = start
    while at + 8 <= bytes.count {
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let marks = unusualBytes(word)
      if marks != 0 { return at + marks.trailingZeroBitCount / 8 }
      at += 8
    }
    while at < bytes.count {
      let byte = bytes[at]
      if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5c { return at }
      at += 1
    }
    return at
  }

  /// Sets the high bit of bytes that are not plain. The lowest mark is exact; marks above it may
  /// be borrowed, so only the lowest may be used.
  @inline(__always)
  private static func unusualBytes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5c)
    let control = (word &- (ones &* 0x20)) & ~word
    let isQuote = (quote &- ones) & ~quote
    let isBackslash = (backslash &- ones) & ~backslash
    return (control | isQuote | isBackslash | word) & highs
  }

  /// Bytes of the well-formed UTF-8 scalar there (RFC 3629, section 4); 0 where there is none.
  @inline(__always)
  static func scalarLength(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
    let first = bytes[index]
    if first < 0x80 { return 1 }
    func tail(_ offset: Int, _ low: UInt8 = 0x80, _ high: UInt8 = 0xbf) -> Bool {
      index + offset < bytes.count && bytes[index + offset] >= low && bytes[index + offset] <= high
    }
    switch first {
    case 0xc2...0xdf: return tail(1) ? 2 : 0
    case 0xe0: return tail(1, 0xa0) && tail(2) ? 3 : 0
    case 0xed: return tail(1, 0x80, 0x9f) && tail(2) ? 3 : 0
    case 0xe1...0xef: return tail(1) && tail(2) ? 3 : 0
    case 0xf0: return tail(1, 0x90) && tail(2) && tail(3) ? 4 : 0
    case 0xf1...0xf3: return tail(1) && tail(2) && tail(3) ? 4 : 0
    case 0xf4: return tail(1, 0x80, 0x8f) && tail(2) && tail(3) ? 4 : 0
    default: return 0
    }
  }

  /// Four hexadecimal digits; nil where they are not all there.
  static func hexUnit(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    for offset in 0..<4 {
      let byte = bytes[index + offset]
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x41 + 10
      case 0x61...0x66: digit = byte - 0x61 + 10
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// The string of a checked entry.
  static func decode(_ entry: TapeEntry, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    let content = UnsafeBufferPointer(rebasing: bytes[entry.content])
    guard entry.flags.contains(.escaped) else { return String(decoding: content, as: UTF8.self) }
    return unescape(content)
  }

  private static func unescape(_ content: UnsafeBufferPointer<UInt8>) -> String {
    // An escape is never shorter than what it stands for.
    String(unsafeUninitializedCapacity: content.count) { target in
      var read = 0
      var written = 0
      while read < content.count {
        let byte = content[read]
        guard byte == UInt8(ascii: "\\"), read + 1 < content.count else {
          target[written] = byte
          written += 1
          read += 1
          continue
        }
        if content[read + 1] == UInt8(ascii: "u") {
          let scalar = readUnicodeEscape(content, at: &read)
          for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            target[written] = unit
            written += 1
          }
        } else {
          target[written] = shortEscape(content[read + 1])
          written += 1
          read += 2
        }
      }
      return written
    }
  }

  private static func shortEscape(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): return 0x08
    case UInt8(ascii: "f"): return 0x0c
    case UInt8(ascii: "n"): return 0x0a
    case UInt8(ascii: "r"): return 0x0d
    case UInt8(ascii: "t"): return 0x09
    default: return letter
    }
  }

  private static func readUnicodeEscape(
    _ content: UnsafeBufferPointer<UInt8>, at read: inout Int
  ) -> Unicode.Scalar {
    let high = hexUnit(content, at: read + 2) ?? 0xfffd
    read += 6
    guard (0xd800...0xdbff).contains(high), let low = hexUnit(content, at: read + 2) else {
      return Unicode.Scalar(high) ?? "\u{fffd}"
    }
    read += 6
    return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low & 0x3ff)) ?? "\u{fffd}"
  }
}
