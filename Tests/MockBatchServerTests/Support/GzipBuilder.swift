/// Makes gzip bodies without zlib, good ones and broken ones.
enum GzipBuilder {
  /// A member of stored blocks.
  static func make(_ text: String) -> [UInt8] { make(Array(text.utf8)) }

  static func make(_ content: [UInt8]) -> [UInt8] {
    var body = header
    var rest = content[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      body.append(rest.isEmpty ? 1 : 0)
      body += little(UInt64(block.count), 2) + little(UInt64(~UInt16(block.count)), 2)
      body += block
    } while !rest.isEmpty
    return body + little(UInt64(crc32(content)), 4) + little(UInt64(content.count), 4)
  }

  /// So many zeros as one literal and matches of 258 bytes: thirteen bits each.
  static func bomb(zeros: Int) -> [UInt8] {
    let matches = (zeros - 1) / 258
    let count = matches * 258 + 1
    var bits = Bits()
    bits.append(0b1, 1)
    bits.append(0b01, 2)
    bits.appendCode(0b0011_0000, 8)
    for _ in 0..<matches {
      bits.appendCode(0b1100_0101, 8)
      bits.appendCode(0, 5)
    }
    bits.appendCode(0, 7)
    // Of a large bomb nobody reads so far; summing megabytes takes a debug build a minute.
    let crc = zeros > 1_000_000 ? 0 : crc32([UInt8](repeating: 0, count: count))
    return header + bits.bytes + little(UInt64(crc), 4) + little(UInt64(count), 4)
  }

  private static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

  private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  private struct Bits {
    var bytes: [UInt8] = []
    private var used = 8

    mutating func append(_ value: Int, _ count: Int) {
      for index in 0..<count {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8((value >> index) & 1) << UInt8(used)
        used += 1
      }
    }

    /// Huffman codes go in with their first bit first.
    mutating func appendCode(_ value: Int, _ count: Int) {
      for index in stride(from: count - 1, through: 0, by: -1) { append((value >> index) & 1, 1) }
    }
  }

  static func crc32(_ content: [UInt8]) -> UInt32 {
    ~content.reduce(UInt32.max) { crc, byte in
      table[Int((crc ^ UInt32(byte)) & 0xff)] ^ (crc >> 8)
    }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1
    }
  }
}
