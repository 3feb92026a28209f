/// The ledger as the lock file remembers it: the only witness of what a database held that can
/// no longer be read. Written after each sync, so that it never runs ahead of the medium.
///
/// Layout, integers big-endian: `"TQH1" ‖ store id (16) ‖ recorded ‖ delivered ‖ dropped × 6 ‖
/// FNV-1a of all before (8 each)`. Counts and a random id: nothing of an event.
struct StoreHint: Sendable, Equatable {
  private static let magic = Array("TQH1".utf8)
  private static let bytes = 4 + 16 + 8 * 8 + 8

  var storeID: SIMD16<UInt8>
  var recorded: Int64
  var delivered: Int64
  /// In the order of `DropReason.allCases`.
  var dropped: [Int64]

  init(storeID: SIMD16<UInt8>, counts: StoreCounts) {
    self.storeID = storeID
    recorded = counts.recorded
    delivered = counts.delivered
    dropped = DropReason.allCases.map { counts.dropped[$0] ?? 0 }
  }

  /// What lay in the file: neither delivered nor dropped.
  var held: Int64 { max(0, recorded - delivered - dropped.reduce(0, +)) }

  var encoded: [UInt8] {
    var bytes = StoreHint.magic + (0..<16).map { storeID[$0] }
    for value in [recorded, delivered] + dropped {
      StoreHint.append(UInt64(bitPattern: value), to: &bytes)
    }
    StoreHint.append(StoreHint.hash(bytes[...]), to: &bytes)
    return bytes
  }

  /// Nil where the bytes are torn or another's.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= StoreHint.bytes, Array(bytes[..<4]) == StoreHint.magic else { return nil }
    let values = (0..<9).map { index in
      bytes[(20 + index * 8)..<(28 + index * 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    guard values[8] == StoreHint.hash(bytes[..<84]),
      values[..<8].allSatisfy({ $0 <= UInt64(StoreCounts.plausible.upperBound) })
    else { return nil }
    storeID = SIMD16(bytes[4..<20])
    recorded = Int64(bitPattern: values[0])
    delivered = Int64(bitPattern: values[1])
    dropped = values[2..<8].map { Int64(bitPattern: $0) }
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for index in (0..<8).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
    }
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
