/// How far the events of another database of this store have been brought into this one: written in
/// the transaction that brings a chunk of them, so that a kill before they are deleted there brings
/// none of them twice.
///
/// Counts and random ids lie in it, in clear: a purge destroys every key and still has to count.
///
/// Layout, integers big-endian: `store id (16) ‖ delivered (8) ‖ dropped × 6 (8 each) ‖ row ids (16
/// each)`.
struct StrayMark: Equatable {
  private static let fixedBytes = 16 + 8 * 7

  /// Of the database that they come from.
  let storeID: SIMD16<UInt8>
  /// What its ledger said of events that are gone, as far as it is counted here.
  private(set) var delivered: Int64 = 0
  private(set) var dropped = [Int64](repeating: 0, count: StoreCounts.reasonColumns.count)
  /// The rows of the last chunk.
  private(set) var rows: [SIMD16<UInt8>] = []

  init(storeID: SIMD16<UInt8>) { self.storeID = storeID }

  /// The mark after a chunk, and after its ledger is counted as it stands now.
  func following(_ counts: StoreCounts, _ rows: [StrayRow]) -> StrayMark {
    var mark = self
    mark.delivered = counts.delivered
    mark.dropped = StoreCounts.reasonColumns.map { counts.dropped[$0] ?? 0 }
    mark.rows = rows.map(\.head.rid)
    return mark
  }

  /// The mark of a database that is given up: everything in it is counted.
  func settled(_ counts: StoreCounts) -> StrayMark {
    var mark = following(counts, [])
    mark.rows = [storeID]
    return mark
  }
  var isSettled: Bool { rows == [storeID] }

  /// True where both speak of the same events that are gone.
  func countsAs(_ other: StrayMark) -> Bool {
    delivered == other.delivered && dropped == other.dropped
  }

  var encoded: [UInt8] {
    (0..<16).map { storeID[$0] }
      + ([delivered] + dropped).flatMap { value in
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
      }
      + rows.flatMap { row in (0..<16).map { row[$0] } }
  }

  /// Nil where the bytes are none of ours.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= StrayMark.fixedBytes, (bytes.count - StrayMark.fixedBytes) % 16 == 0
    else { return nil }
    storeID = SIMD16(bytes[..<16])
    let numbers = (0..<7).map { index in
      bytes[(16 + index * 8)..<(24 + index * 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
    guard numbers.allSatisfy(StoreCounts.plausible.contains) else { return nil }
    delivered = numbers[0]
    dropped = Array(numbers[1...])
    rows = stride(from: StrayMark.fixedBytes, to: bytes.count, by: 16).map {
      SIMD16(bytes[$0..<$0 + 16])
    }
  }
}
