/// Rows whose key is gone. Nothing tells how old they are, so their time begins when the key was
/// first missed; a key that comes back ends it.
extension StoreCore {
  static let missedKeysNote = ownPrefix + "missedKeys"
  /// Keys whose loss is remembered; rows of more wait for the cap.
  private static let maxMissedKeys = 64

  /// Notes which keys are missed since when, and deletes one chunk of rows of a key that has been
  /// missed for longer than the limit. Returns how many.
  func dropOrphans(nowMs: Int64, maxAgeMs: Int64) throws -> Int {
    let overdue = try missedKeys(nowMs: nowMs).filter { nowMs - $0.value >= maxAgeMs }
    guard let id = overdue.keys.min() else { return 0 }
    let rows = try rows(ofKey: id).map(\.0)
    try drop(rows, reason: .tooOld)
    return rows.count
  }

  /// The keys of queued rows that were asked for and are not there, and the confirmed time at which
  /// each was first missed.
  private func missedKeys(nowMs: Int64) throws -> [UInt64: Int64] {
    let lost = counts.queuedByKey.keys.filter { keys.missing.contains($0) }.sorted()
    let noted = try note(StoreCore.missedKeysNote).map(StoreCore.missedKeys(_:)) ?? [:]
    if lost.isEmpty && noted.isEmpty { return [:] }
    var missed: [UInt64: Int64] = [:]
    for id in lost.prefix(StoreCore.maxMissedKeys) {
      // A server's clock that was ahead once must not make the time longer.
      missed[id] = min(noted[id] ?? nowMs, nowMs)
    }
    if missed != noted {
      try setNote(StoreCore.missedKeysNote, missed.isEmpty ? nil : StoreCore.bytes(of: missed))
    }
    return missed
  }

  /// Key and time, eight bytes each, big-endian.
  private static func bytes(of missed: [UInt64: Int64]) -> [UInt8] {
    missed.sorted { $0.key < $1.key }.flatMap { id, ms in
      [id, UInt64(bitPattern: ms)].flatMap { word in
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
      }
    }
  }

  private static func missedKeys(_ bytes: [UInt8]) -> [UInt64: Int64] {
    func word(_ start: Int) -> UInt64 {
      bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    var missed: [UInt64: Int64] = [:]
    for start in stride(from: 0, to: bytes.count - bytes.count % 16, by: 16) {
      missed[word(start)] = Int64(bitPattern: word(start + 8))
    }
    return missed
  }
}
