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
    let raw = UnsafeRawBufferPointer(text)
    // Eight digits each: xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
    let first = EventKey.word(raw, 0)
    let second = EventKey.half(raw, 9) << 32 | EventKey.half(raw, 14)
    let third = EventKey.half(raw, 19) << 32 | EventKey.half(raw, 24)
    let fourth = EventKey.word(raw, 28)
    let isGood =
      EventKey.areDigits(first) && EventKey.areDigits(second) && EventKey.areDigits(third)
      && EventKey.areDigits(fourth)
    guard isGood else { return nil }
    self.init(
      high: EventKey.value(first) << 32 | EventKey.value(second),
      low: EventKey.value(third) << 32 | EventKey.value(fourth))
  }

  @inline(__always)
  private static func word(_ raw: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
    UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
  }

  @inline(__always)
  private static func half(_ raw: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
    UInt64(UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Whether eight bytes are hexadecimal digits, each in its own byte of the word: letters are told
  /// from digits by bit 6; then the upper half must be that of its kind and the lower half within
  /// its range. No sum here reaches the neighbouring byte.
  @inline(__always)
  private static func areDigits(_ word: UInt64) -> Bool {
    let letters = (word >> 6) & ones
    let upper = (word | letters << 5) & (ones &* 0xf0)
    let lower = word & (ones &* 0x0f)
    let isUpperGood = upper == ones &* 0x30 + letters &* 0x30
    // Digits up to 9; letters from 1 to 6.
    let excess = (lower + (ones &* 6) + letters &* 3) & (ones &* 0x10)
    let presence = (lower + ones &* 0x0f) & (letters << 4)
    return isUpperGood && excess == 0 && presence == letters << 4
  }

  /// The value of eight digits.
  @inline(__always)
  private static func value(_ word: UInt64) -> UInt64 {
    var value = (word & (ones &* 0x0f)) + ((word >> 6) & ones) &* 9
    value = (value | value >> 4) & 0x00ff_00ff_00ff_00ff
    value = (value | value >> 8) & 0x0000_ffff_0000_ffff
    return (value | value >> 16) & 0xffff_ffff
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
