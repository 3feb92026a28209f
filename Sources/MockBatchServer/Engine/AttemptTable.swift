/// How often each set of events has come in a complete request. Two generations bound it: sets not
/// seen for many others are forgotten and count from one again.
struct AttemptTable: Sendable {
  private var current: [UInt64: Int] = [:]
  private var previous: [UInt64: Int] = [:]
  /// Sets of one generation.
  static let maxSets = 65_536

  /// Counts one more and tells the number.
  mutating func next(_ identity: UInt64) -> Int {
    let count = (current[identity] ?? previous[identity] ?? 0) + 1
    if current.count >= AttemptTable.maxSets, current[identity] == nil {
      previous = current
      current = [:]
    }
    current[identity] = count
    return count
  }
}
