/// A random version-4 UUID, 16 bytes: the identity of one event on every attempt.
public struct EventID: Hashable, Sendable, CustomStringConvertible {
  /// The sixteen bytes, in the order of the text form.
  public let bytes: SIMD16<UInt8>

  /// Makes an id of sixteen bytes as they are.
  public init(bytes: SIMD16<UInt8>) { self.bytes = bytes }

  /// Makes a version-4 id of sixteen random bytes (RFC 9562, section 5.4).
  package init(random: SIMD16<UInt8>) {
    var bytes = random
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    self.bytes = bytes
  }

  /// Reads the 36-character text form, either case. Nil where it is none.
  public init?(_ text: String) {
    var bytes = SIMD16<UInt8>()
    var nibbles = 0
    var position = 0
    for character in text.utf8 {
      defer { position += 1 }
      if position == 8 || position == 13 || position == 18 || position == 23 {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch character {
      case 0x30...0x39: digit = character - 0x30
      case 0x41...0x46: digit = character - 0x41 + 10
      case 0x61...0x66: digit = character - 0x61 + 10
      default: return nil
      }
      guard nibbles < 32 else { return nil }
      bytes[nibbles / 2] = nibbles % 2 == 0 ? digit << 4 : bytes[nibbles / 2] | digit
      nibbles += 1
    }
    guard nibbles == 32, position == 36 else { return nil }
    self.bytes = bytes
  }

  /// The 36 ASCII bytes of the lower-case text form.
  package var text: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    appendText(to: &text)
    return text
  }

  /// Appends `text`, or the same in upper case.
  func appendText(to target: inout [UInt8], isUpper: Bool = false) {
    let ten: UInt8 = isUpper ? 0x41 : 0x61
    for index in 0..<16 {
      if index == 4 || index == 6 || index == 8 || index == 10 { target.append(0x2d) }
      target.append(EventID.digit(bytes[index] >> 4, ten))
      target.append(EventID.digit(bytes[index] & 15, ten))
    }
  }

  /// The lower-case text form, 36 characters.
  public var description: String { String(decoding: text, as: UTF8.self) }

  private static func digit(_ value: UInt8, _ ten: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : ten + value - 10
  }
}
