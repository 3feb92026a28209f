/// Finds any of many byte patterns in one pass: the first five bytes at each place are looked up
/// in a bitmap, and only where that hits in a table.
struct SecrecySearch {
  private static let prefixBytes = SecrecyNeedles.shortest
  private static let bitmapBits = 1 << 20

  private let needles: [SecrecyNeedles.Needle]
  private var bitmap: [UInt64]
  private var byPrefix: [UInt64: [Int]] = [:]

  init(_ needles: SecrecyNeedles) {
    self.needles = needles.needles
    bitmap = Array(repeating: 0, count: SecrecySearch.bitmapBits / 64)
    for (index, needle) in self.needles.enumerated() {
      var prefix: UInt64 = 0
      for byte in needle.bytes.prefix(SecrecySearch.prefixBytes) {
        prefix = prefix << 8 | UInt64(byte)
      }
      byPrefix[prefix, default: []].append(index)
      let slot = SecrecySearch.slot(prefix)
      bitmap[slot / 64] |= 1 << UInt64(slot % 64)
    }
  }

  /// Calls back with each place of each pattern, in the order of the file, until it says stop.
  func find(in bytes: [UInt8], _ found: (Int, SecrecyNeedles.Needle) -> Bool) {
    guard bytes.count >= SecrecySearch.prefixBytes, !needles.isEmpty else { return }
    bytes.withUnsafeBufferPointer { bytes in
      bitmap.withUnsafeBufferPointer { bitmap in
        var prefix: UInt64 = 0
        let mask: UInt64 = (1 << UInt64(SecrecySearch.prefixBytes * 8)) - 1
        for end in 0..<bytes.count {
          prefix = (prefix << 8 | UInt64(bytes[end])) & mask
          let slot = SecrecySearch.slot(prefix)
          guard bitmap[slot >> 6] >> UInt64(slot & 63) & 1 == 1 else { continue }
          let start = end - SecrecySearch.prefixBytes + 1
          guard start >= 0, let candidates = byPrefix[prefix] else { continue }
          for index in candidates where matches(needles[index].bytes, bytes, at: start) {
            guard found(start, needles[index]) else { return }
          }
        }
      }
    }
  }

  @inline(__always)
  private static func slot(_ prefix: UInt64) -> Int {
    Int((prefix &* 0x9e37_79b9_7f4a_7c15) >> 44)
  }

  private func matches(
    _ needle: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, at start: Int
  ) -> Bool {
    guard start + needle.count <= bytes.count else { return false }
    for offset in 0..<needle.count where bytes[start + offset] != needle[offset] { return false }
    return true
  }
}
