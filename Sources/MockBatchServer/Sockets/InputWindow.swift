/// Bytes that were read and not parsed yet. While a read is being handled they lie in the loop's
/// shared buffer and are parsed in place; only what is left over is copied.
struct InputWindow {
  private var borrowed: UnsafeRawBufferPointer?
  private var kept: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { count == 0 }
  var count: Int { kept.count - start + (borrowed?.count ?? 0) }

  /// Takes bytes that stay valid until `settle`.
  mutating func lend(_ bytes: UnsafeRawBufferPointer) {
    if kept.isEmpty { borrowed = bytes } else { kept.append(contentsOf: bytes) }
  }

  /// Copies what is left of the lent bytes.
  mutating func settle() {
    if let borrowed, !borrowed.isEmpty { kept.append(contentsOf: borrowed) }
    borrowed = nil
  }

  /// Lets `parser` read from the front.
  mutating func parse(_ parser: inout RequestParser) -> RequestParser.Event {
    var consumed = 0
    if let bytes = borrowed {
      let event = parser.parse(bytes, consumed: &consumed)
      borrowed = UnsafeRawBufferPointer(rebasing: bytes[consumed...])
      return event
    }
    let event = kept.withUnsafeBytes {
      parser.parse(UnsafeRawBufferPointer(rebasing: $0[start...]), consumed: &consumed)
    }
    start += consumed
    if start == kept.count {
      kept = []
      start = 0
    } else if start > InputWindow.compactionBytes {
      kept.removeFirst(start)
      start = 0
    }
    return event
  }

  /// The first bytes, for the journal of what is no request.
  func prefix(_ limit: Int) -> [UInt8] {
    if let borrowed, !borrowed.isEmpty { return Array(borrowed.prefix(limit)) }
    return Array(kept[start...].prefix(limit))
  }

  mutating func drop() {
    borrowed = nil
    kept = []
    start = 0
  }

  private static let compactionBytes = 65_536
}
