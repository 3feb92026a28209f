/// Reads a JSON text once and writes the tape. Strict RFC 8259; no recursion, so no text can
/// exhaust a stack.
struct TapeParser {
  /// A fault, before anybody has counted lines.
  struct Fault: Error {
    let kind: JSONError.Kind
    let offset: Int
  }

  /// A duplicate key: tape indices of the later and the first one.
  struct Duplicate {
    let key: Int
    let first: Int
  }

  /// A container that is still open.
  private struct Frame {
    let entry: Int
    let isObject: Bool
    var count: UInt32 = 0
  }

  let bytes: UnsafeBufferPointer<UInt8>
  private let maxDepth: Int
  var at = 0
  var tape: [TapeEntry] = []
  private(set) var duplicates: [Duplicate] = []
  private(set) var duplicateCount = 0
  /// The innermost open container, and those around it.
  private var top = Frame(entry: 0, isObject: false)
  private var open: [Frame] = []
  private var depth = 0

  init(bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int) {
    self.bytes = bytes
    self.maxDepth = maxDepth
    tape.reserveCapacity(bytes.count / TapeParser.bytesPerValue + 4)
    open.reserveCapacity(min(maxDepth, 16) + 1)
  }

  /// A value takes about this many bytes of text in a batch of events.
  private static let bytesPerValue = 12
  /// Duplicate keys that are reported with their places; more are only counted.
  static let maxReportedDuplicates = 32

  mutating func parse() throws {
    try refuseForeignEncodings()
    skipWhitespace()
    repeat {
      try readValue()
      try readSeparators()
    } while depth > 0
    if at < bytes.count { throw Fault(kind: .trailingContent, offset: at) }
  }

  /// Reads openings up to and with the first scalar or empty container.
  @inline(__always)
  private mutating func readValue() throws {
    while true {
      guard at < bytes.count else { throw missing("a value") }
      switch bytes[at] {
      case UInt8(ascii: "\""): return try readString()
      case UInt8(ascii: "-"), 0x30...0x39: return try readNumber()
      case UInt8(ascii: "{"):
        try openContainer(.object)
        if closesAtOnce(UInt8(ascii: "}")) { return }
        try readKey(expected: "a key or '}'")
      case UInt8(ascii: "["):
        try openContainer(.array)
        if closesAtOnce(UInt8(ascii: "]")) { return }
        if at < bytes.count, bytes[at] == UInt8(ascii: ",") { throw unexpected("a value or ']'") }
      case UInt8(ascii: "t"): return try readWord("true", .bool, [.isTrue])
      case UInt8(ascii: "f"): return try readWord("false", .bool, [])
      case UInt8(ascii: "n"): return try readWord("null", .null, [])
      default: throw unexpected("a value")
      }
    }
  }

  /// Reads what follows a value: closings, then either the comma (and key) before the next value
  /// or, with nothing open, the end.
  @inline(__always)
  private mutating func readSeparators() throws {
    while true {
      skipWhitespace()
      guard depth > 0 else { return }
      top.count += 1
      let isObject = top.isObject
      guard at < bytes.count else { throw missing(isObject ? "',' or '}'" : "',' or ']'") }
      let byte = bytes[at]
      if byte == UInt8(ascii: ",") {
        at += 1
        skipWhitespace()
        if isObject { try readKey(expected: "a key") }
        return
      }
      guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
        throw unexpected(isObject ? "',' or '}'" : "',' or ']'")
      }
      at += 1
      closeContainer()
    }
  }

  private mutating func openContainer(_ kind: JSONKind) throws {
    guard depth < maxDepth else {
      throw Fault(kind: .tooDeep(limit: maxDepth), offset: at)
    }
    if depth > 0 { open.append(top) }
    depth += 1
    top = Frame(entry: tape.count, isObject: kind == .object)
    tape.append(TapeEntry(start: UInt32(truncatingIfNeeded: at), end: 0, next: 0, kind: kind))
    at += 1
    skipWhitespace()
  }

  private mutating func closesAtOnce(_ closer: UInt8) -> Bool {
    guard at < bytes.count, bytes[at] == closer else { return false }
    at += 1
    closeContainer()
    return true
  }

  private mutating func closeContainer() {
    let frame = top
    depth -= 1
    if depth > 0 { top = open.removeLast() }
    var entry = tape[frame.entry]
    entry.end = UInt32(truncatingIfNeeded: at)
    entry.next = UInt32(truncatingIfNeeded: tape.count)
    entry.count = frame.count
    tape[frame.entry] = entry
    if frame.isObject, frame.count > 1 { findDuplicates(object: frame.entry, count: frame.count) }
  }

  @inline(__always)
  private mutating func readKey(expected: @autoclosure () -> String) throws {
    guard at < bytes.count else { throw missing(expected()) }
    guard bytes[at] == UInt8(ascii: "\"") else { throw unexpected(expected()) }
    try readString()
    skipWhitespace()
    guard at < bytes.count else { throw missing("':'") }
    guard bytes[at] == UInt8(ascii: ":") else { throw unexpected("':'") }
    at += 1
    skipWhitespace()
  }
}

// MARK: - Duplicate keys

extension TapeParser {
  /// Objects up to this size are compared key by key; larger ones by a hash set, so that a text
  /// made to be slow takes no quadratic time.
  private static let pairwiseLimit: UInt32 = 12

  private mutating func findDuplicates(object: Int, count: UInt32) {
    guard count <= TapeParser.pairwiseLimit else { return findDuplicatesByHash(object: object) }
    // Nearly always there is none: that is found out without touching the parser.
    let hasDuplicates = tape.withUnsafeBufferPointer { tape in
      forEachDuplicate(object: object, in: tape) { _, _ in }
    }
    guard hasDuplicates else { return }
    var found: [(key: Int, first: Int)] = []
    _ = tape.withUnsafeBufferPointer { tape in
      forEachDuplicate(object: object, in: tape) { found.append(($0, $1)) }
    }
    for (key, first) in found { report(key: key, first: first) }
  }

  /// Whether there is one.
  @inline(__always)
  private func forEachDuplicate(
    object: Int, in tape: UnsafeBufferPointer<TapeEntry>, _ body: (Int, Int) -> Void
  ) -> Bool {
    var isAny = false
    var later = Int(tape[Int(tape[object + 1].next)].next)
    while later < tape.count {
      var earlier = object + 1
      while earlier < later {
        if sameKey(tape[earlier], tape[later]) {
          isAny = true
          body(later, earlier)
          break
        }
        earlier = Int(tape[earlier + 1].next)
      }
      later = Int(tape[later + 1].next)
    }
    return isAny
  }

  private mutating func findDuplicatesByHash(object: Int) {
    var first: [ExactKey: Int] = [:]
    var key = object + 1
    let end = tape.count
    while key < end {
      let text = ExactKey(JSONStrings.decode(tape[key], in: bytes))
      if let known = first[text] {
        report(key: key, first: known)
      } else {
        first[text] = key
      }
      key = Int(tape[key + 1].next)
    }
  }

  @inline(__always)
  private func sameKey(_ left: TapeEntry, _ right: TapeEntry) -> Bool {
    if left.flags.contains(.escaped) || right.flags.contains(.escaped) {
      return JSONStrings.decode(left, in: bytes)
        .hasSameBytes(as: JSONStrings.decode(right, in: bytes))
    }
    let length = left.end - left.start
    guard length == right.end - right.start else { return false }
    for index in 1..<Int(length)
    where bytes[Int(left.start) + index] != bytes[Int(right.start) + index] {
      return false
    }
    return true
  }

  private mutating func report(key: Int, first: Int) {
    duplicateCount += 1
    if duplicates.count < TapeParser.maxReportedDuplicates {
      duplicates.append(Duplicate(key: key, first: first))
    }
  }
}
