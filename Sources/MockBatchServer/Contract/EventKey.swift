/// The sixteen bytes of an event's UUID.
package struct EventKey: Sendable, Hashable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads the text form (RFC 9562, section 4), in either case; nil for everything else.
  package init?(_ text: String) {
    var text = text
    guard let key = text.withUTF8({ EventKey(ascii: $0) }) else { return nil }
    self = key
  }

  init?(ascii text: UnsafeBufferPointer<UInt8>) {
    guard text.count == 36, text[8] == 0x2d, text[13] == 0x2d, text[18] == 0x2d, text[23] == 0x2d
    else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    var bad: UInt64 = 0
    for at in 0..<18 where at != 8 && at != 13 {
      let value = EventKey.hex(text[at])
      bad |= value
      high = high << 4 | (value & 15)
    }
    for at in 19..<36 where at != 23 {
      let value = EventKey.hex(text[at])
      bad |= value
      low = low << 4 | (value & 15)
    }
    guard bad < 16 else { return nil }
    self.init(high: high, low: low)
  }

  /// The digit's value; 16 and more for what is none.
  @inline(__always)
  private static func hex(_ byte: UInt8) -> UInt64 {
    let digit = byte &- 0x30
    if digit < 10 { return UInt64(digit) }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? UInt64(letter) + 10 : 16
  }

  /// The lower-case text form.
  package var text: String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in 0..<32 {
      if index == 8 || index == 12 || index == 16 || index == 20 { bytes.append(0x2d) }
      let word = index < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - (index & 15) * 4)) & 15
      bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Spreads the bytes over 64 bits; ids made by people (1, 2, 3 …) spread too.
  @inline(__always)
  var spread: UInt64 { KeyedDraw.mix(high ^ KeyedDraw.mix(low)) }
}
