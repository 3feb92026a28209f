import JSONText

/// A 64-bit hash of what an event says, the same however it is written: blanks, the order of keys
/// and the choice of escapes do not matter; the literal of a number does (`1.0` is not `1`).
enum ContentHash {
  static func hash(_ value: JSONCursor) -> UInt64 {
    switch value.kind {
    case .null: return 0x6e75_6c6c
    case .bool: return value.isTrue ? 0x7472_7565 : 0x6661_6c73
    case .number: return bytes(value.rawBytes, seed: 3)
    case .string: return string(value)
    case .array:
      var hash: UInt64 = 5
      var item = value.firstChild
      while let element = item {
        hash = KeyedDraw.mix(hash ^ self.hash(element))
        item = element.next(in: value)
      }
      return hash
    case .object:
      // A sum does not know the order of its parts.
      var sum: UInt64 = 7
      var item = value.firstChild
      while let key = item {
        let member = key.valueOfKey
        sum &+= KeyedDraw.mix(string(key) ^ (hash(member) &* 0x9e37_79b9_7f4a_7c15))
        item = member.next(in: value)
      }
      return KeyedDraw.mix(sum)
    }
  }

  static func string(_ value: JSONCursor) -> UInt64 {
    if let plain = value.plainBytes { return bytes(plain, seed: 4) }
    var text = value.string ?? ""
    return text.withUTF8 { bytes($0, seed: 4) }
  }

  /// Eight bytes at a time, folded by a wide multiplication.
  static func bytes(_ text: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
    let raw = UnsafeRawBufferPointer(text)
    var hash = seed ^ (UInt64(truncatingIfNeeded: raw.count) &* 0x9e37_79b9_7f4a_7c15)
    var at = 0
    while at + 8 <= raw.count {
      hash = fold(hash ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      at += 8
    }
    var tail: UInt64 = 0
    let left = raw.count - at
    if left > 0, raw.count >= 8 {
      // The last bytes, the first of them highest: read along with what stands before them.
      let last = raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self)
      tail = UInt64(bigEndian: last) & (1 << UInt64(left * 8) - 1)
    } else {
      for byte in raw[at...] { tail = tail << 8 | UInt64(byte) }
    }
    return fold(hash ^ tail ^ 0x2d35_8dcc_aa6c_78a5)
  }

  @inline(__always)
  private static func fold(_ value: UInt64) -> UInt64 {
    let wide = (value ^ 0x8bb8_4b93_962e_acc9).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    return wide.high ^ wide.low
  }
}
