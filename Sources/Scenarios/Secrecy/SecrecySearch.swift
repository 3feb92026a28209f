/// Finds any of many byte patterns in one pass: the first two bytes at each place are looked up in
/// a small bitmap, the first five in a larger one where that hits, and only then in a table.
struct SecrecySearch {
  private static let prefixBytes = SecrecyNeedles.shortest
  private static let bitmapBits = 1 << 20

  private let needles: [SecrecyNeedles.Needle]
  /// Fits the processor's nearest cache; nearly every place of a file ends here.
  private var pairs: [UInt64]
  private var bitmap: [UInt64]
  private var byPrefix: [UInt64: [Int]] = [:]

  init(_ needles: SecrecyNeedles) {
    self.needles = needles.needles
    pairs = Array(repeating: 0, count: (1 << 16) / 64)
    bitmap = Array(repeating: 0, count: SecrecySearch.bitmapBits / 64)
    for (index, needle) in self.needles.enumerated() {
      var prefix: UInt64 = 0
      for byte in needle.bytes.prefix(SecrecySearch.prefixBytes) {
        prefix = prefix << 8 | UInt64(byte)
      }
      byPrefix[prefix, default: []].append(index)
      let slot = SecrecySearch.slot(prefix)
      bitmap[slot >> 6] |= 1 << UInt64(slot & 63)
      let pair = Int(needle.bytes[0]) << 8 | Int(needle.bytes[1])
      pairs[pair >> 6] |= 1 << UInt64(pair & 63)
    }
  }

  /// Calls back with each place of each pattern, in the order of the file, until it says stop.
  func find(in bytes: [UInt8], _ found: (Int, SecrecyNeedles.Needle) -> Bool) {
    guard bytes.count >= SecrecySearch.prefixBytes, !needles.isEmpty else { return }
    bytes.withUnsafeBufferPointer { bytes in
      pairs.withUnsafeBufferPointer { pairs in
        bitmap.withUnsafeBufferPointer { bitmap in
          let end = bytes.count - SecrecySearch.prefixBytes + 1
          var start = 0
          var pair = Int(bytes[0])
          while start < end {
            pair = (pair << 8 | Int(bytes[start + 1])) & 0xffff
            if pairs[pair >> 6] >> UInt64(pair & 63) & 1 == 1,
              !look(at: start, bytes, bitmap, found)
            {
              return
            }
            start += 1
          }
        }
      }
    }
  }

  /// False where the caller has seen enough.
  private func look(
    at start: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ bitmap: UnsafeBufferPointer<UInt64>,
    _ found: (Int, SecrecyNeedles.Needle) -> Bool
  ) -> Bool {
    var prefix: UInt64 = 0
    for offset in 0..<SecrecySearch.prefixBytes {
      prefix = prefix << 8 | UInt64(bytes[start + offset])
    }
    let slot = SecrecySearch.slot(prefix)
    guard bitmap[slot >> 6] >> UInt64(slot & 63) & 1 == 1, let candidates = byPrefix[prefix] else {
      return true
    }
    for index in candidates where matches(needles[index].bytes, bytes, at: start) {
      guard found(start, needles[index]) else { return false }
    }
    return true
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
