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
    return fold(hash ^ tail(raw, from: at) ^ 0x2d35_8dcc_aa6c_78a5)
  }

  /// The last bytes, fewer than eight, as a number with the first of them highest. Read along with
  /// what stands before them, where there is enough.
  @inline(__always)
  private static func tail(_ raw: UnsafeRawBufferPointer, from at: Int) -> UInt64 {
    let left = raw.count - at
    guard left > 0 else { return 0 }
    if raw.count >= 8 {
      let last = raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self)
      return UInt64(bigEndian: last) & (1 << UInt64(left * 8) - 1)
    }
    if left >= 4 {
      let first = UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt32.self))
      let last = raw.loadUnaligned(fromByteOffset: raw.count - 4, as: UInt32.self)
      let added = UInt64(left - 4) * 8
      return UInt64(first) << added | UInt64(UInt32(bigEndian: last)) & (1 << added - 1)
    }
    var tail: UInt64 = 0
    for offset in at..<raw.count { tail = tail << 8 | UInt64(raw[offset]) }
    return tail
  }

  @inline(__always)
  private static func fold(_ value: UInt64) -> UInt64 {
    let wide = (value ^ 0x8bb8_4b93_962e_acc9).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
    return wide.high ^ wide.low
  }
}
