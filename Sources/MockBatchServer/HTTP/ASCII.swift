import Foundation

/// Byte classes of the HTTP grammar (RFC 9110 section 5.6).
enum ASCII {
  static let tab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0a
  static let carriageReturn: UInt8 = 0x0d
  static let space: UInt8 = 0x20

  @inline(__always)
  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Where the next line feed is; the count of bytes where there is none.
  static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = bytes.baseAddress, start < bytes.count,
      let found = memchr(base + start, Int32(lineFeed), bytes.count - start)
    else { return bytes.count }
    return UnsafeRawPointer(found) - base
  }

  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

  /// The text without blanks around it.
  static func trimmed(_ text: Substring) -> String {
    var utf8 = text.utf8
    while let first = utf8.first, isBlank(first) { utf8.removeFirst() }
    while let last = utf8.last, isBlank(last) { utf8.removeLast() }
    return String(Substring(utf8))
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// The value of a hexadecimal digit, or nil.
  @inline(__always)
  static func hexValue(_ byte: UInt8) -> UInt64? {
    if byte &- 0x30 < 10 { return UInt64(byte &- 0x30) }
    let letter = lowercased(byte)
    return letter &- 0x61 < 6 ? UInt64(letter &- 0x61) + 10 : nil
  }

  /// `tchar`: what a method or a field name is made of. Two bit masks instead of a table keep
  /// the test free of memory reads and of lazy initialisation.
  @inline(__always)
  static func isToken(_ byte: UInt8) -> Bool {
    guard byte < 128 else { return false }
    return byte < 64
      ? (tokenMaskLow >> UInt64(byte)) & 1 == 1
      : (tokenMaskHigh >> UInt64(byte &- 64)) & 1 == 1
  }

  /// Bytes 0–63: `!#$%&'*+-.` and digits.
  private static let tokenMaskLow: UInt64 = 0x03ff_6cfa_0000_0000
  /// Bytes 64–127: letters and `^_` `` ` `` `|~`.
  private static let tokenMaskHigh: UInt64 = 0x57ff_ffff_c7ff_fffe

  /// What a field value may hold: visible characters, blanks, and `obs-text`.
  @inline(__always)
  static func isFieldContent(_ byte: UInt8) -> Bool {
    byte >= 0x20 ? byte != 0x7f : byte == tab
  }

  /// Adds a number in decimal; 0 for negative ones.
  static func appendDecimal(_ number: Int, to out: inout [UInt8]) {
    guard number >= 10 else { return out.append(0x30 &+ UInt8(truncatingIfNeeded: max(0, number))) }
    appendDecimal(number / 10, to: &out)
    out.append(0x30 &+ UInt8(truncatingIfNeeded: number % 10))
  }

  static func equalIgnoringCase(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where lowercased(left[index]) != lowercased(right[index]) {
      return false
    }
    return true
  }
}
