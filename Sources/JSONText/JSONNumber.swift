/// A JSON number, kept as it was written.
///
/// 18446744073709551616, `-0.0` and `1e-7` survive reading and writing unchanged. Equality is that
/// of the literals: `1`, `1.0` and `1e0` are three different values.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
  /// The digits exactly as they stand in the text (RFC 8259, section 6).
  public let literal: String

  /// Takes a literal; nil where RFC 8259 does not allow it.
  public init?(literal: String) {
    var text = literal
    guard text.withUTF8({ JSONNumber.isLiteral($0) }) else { return nil }
    self.literal = text
  }

  /// True where RFC 8259 allows these bytes as a number.
  package static func isLiteral(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var scanner = NumberScanner(bytes: bytes, at: 0)
    return scanner.scan() == nil && scanner.at == bytes.count
  }

  /// A literal that the parser has checked.
  init(checked literal: String) { self.literal = literal }

  /// An integer, exactly.
  public init(_ value: Int64) { literal = String(value) }
  /// An integer, exactly.
  public init(_ value: Int) { literal = String(value) }
  /// An integer, exactly.
  public init(_ value: UInt64) { literal = String(value) }

  /// The shortest literal that reads back as the same double; nil for NaN and infinities, which
  /// JSON does not have.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    literal = "\(value)"
  }

  /// The literal.
  public var description: String { literal }

  /// True where the literal has neither fraction nor exponent.
  public var isPlainInteger: Bool {
    literal.utf8.allSatisfy { $0 == 0x2d || (0x30...0x39).contains($0) }
  }

  /// The value where it is an integer within the range, whatever its spelling (`1e3` is 1000);
  /// else nil. Never rounded.
  public var int64: Int64? {
    if let plain = Int64(literal) { return plain }
    guard !isPlainInteger, let exact = exactInteger else { return nil }
    return Int64(exact)
  }

  /// The value where it is an integer within the range, whatever its spelling; else nil.
  public var uint64: UInt64? {
    if let plain = UInt64(literal) { return plain }
    guard let exact = exactInteger else { return nil }
    return UInt64(exact)
  }

  /// The nearest double; ±infinity where the literal lies beyond its range.
  public var double: Double {
    // The grammar of RFC 8259 is a part of what `Double` reads, so this never fails.
    Double(literal) ?? .nan
  }

  /// Digits with sign for the integer initialisers; nil where there is a fraction left, or more
  /// digits than any 64-bit integer has.
  private var exactInteger: String? {
    let negative = literal.utf8.first == 0x2d
    var digits: [UInt8] = []
    var exponent = 0
    var inFraction = false
    var rest = literal.utf8.dropFirst(negative ? 1 : 0)
    while let byte = rest.first, byte != 0x65, byte != 0x45 {
      rest = rest.dropFirst()
      if byte == 0x2e {
        inFraction = true
      } else {
        digits.append(byte)
        if inFraction { exponent -= 1 }
      }
    }
    if !rest.isEmpty {
      // An exponent beyond Int can only stand before or after a zero mantissa to be an integer.
      let written = Int(String(rest.dropFirst()) ?? "")
      let saturated = rest.dropFirst().first == 0x2d ? -JSONNumber.farExponent : Self.farExponent
      let bounded = min(max(written ?? saturated, -Self.farExponent), Self.farExponent)
      exponent += bounded
    }
    while let last = digits.last, last == 0x30 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0x30 })
    if digits.isEmpty { return "0" }
    guard exponent >= 0, digits.count + exponent <= JSONNumber.longestInteger else { return nil }
    digits.append(contentsOf: repeatElement(0x30, count: exponent))
    return (negative ? "-" : "") + String(decoding: digits, as: UTF8.self)
  }

  /// Beyond every exponent that could still matter.
  private static let farExponent = 1_000_000_000
  /// Digits of `UInt64.max`.
  private static let longestInteger = 20
}

/// Checks a number by the grammar of RFC 8259, section 6.
struct NumberScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  /// Where it reads; after `scan` the end of the number, or the place of the fault.
  var at: Int

  /// Nil where the number is well-formed; else why it is not.
  @inline(__always)
  mutating func scan() -> String? {
    if peek == 0x2d { at += 1 }
    guard let first = peek, isDigit(first) else { return "a digit is missing" }
    at += 1
    if first == 0x30 {
      if let next = peek, isDigit(next) { return "a leading zero" }
    } else {
      skipDigits()
    }
    if peek == 0x2e {
      at += 1
      guard let digit = peek, isDigit(digit) else { return "a digit must follow the point" }
      skipDigits()
    }
    if let mark = peek, mark == 0x65 || mark == 0x45 {
      at += 1
      if let sign = peek, sign == 0x2b || sign == 0x2d { at += 1 }
      guard let digit = peek, isDigit(digit) else { return "a digit is missing in the exponent" }
      skipDigits()
    }
    return nil
  }

  @inline(__always)
  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }
  @inline(__always)
  private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }
  @inline(__always)
  private mutating func skipDigits() {
    while at < bytes.count, isDigit(bytes[at]) { at += 1 }
  }
}
