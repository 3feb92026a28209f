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

  /// The room for the tape is used up.
  struct TapeIsFull: Error {}

  /// A container that is still open.
  private struct Frame {
    let entry: Int
    let isObject: Bool
    var count: UInt32 = 0
  }

  let bytes: UnsafeBufferPointer<UInt8>
  private let maxDepth: Int
  var at = 0
  /// Room for the tape; the entries are there up to `tapeCount`.
  let tape: UnsafeMutableBufferPointer<TapeEntry>
  private(set) var tapeCount = 0
  private(set) var duplicates: [Duplicate] = []
  private(set) var duplicateCount = 0
  /// The innermost open container. The one around it is found through the tape: `next` of an open
  /// container's entry names that one's entry.
  private var top = Frame(entry: 0, isObject: false)
  private var depth = 0

  /// - Parameter tape: uninitialised room.
  init(
    bytes: UnsafeBufferPointer<UInt8>, tape: UnsafeMutableBufferPointer<TapeEntry>, maxDepth: Int
  ) {
    self.bytes = bytes
    self.tape = tape
    self.maxDepth = maxDepth
  }

  /// Entries to make room for: a value takes about twelve bytes of text in a batch of events.
  static func likelyEntries(_ bytes: Int) -> Int { bytes / 12 + 4 }
  /// No text has more: each value but the last is followed by a character that is none.
  static func mostEntries(_ bytes: Int, maxDepth: Int) -> Int {
    bytes / 2 + min(maxDepth, bytes) + 2
  }

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
    let around = top
    if depth > 0 { tape[around.entry].count = around.count }
    depth += 1
    top = Frame(entry: tapeCount, isObject: kind == .object)
    try append(
      TapeEntry(
        start: UInt32(truncatingIfNeeded: at), end: 0,
        next: UInt32(truncatingIfNeeded: around.entry), kind: kind))
    at += 1
    skipWhitespace()
  }

  @inline(__always)
  mutating func append(_ entry: TapeEntry) throws {
    guard tapeCount < tape.count else { throw TapeIsFull() }
    tape.initializeElement(at: tapeCount, to: entry)
    tapeCount += 1
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
    let around = Int(tape[frame.entry].next)
    tape[frame.entry].end = UInt32(truncatingIfNeeded: at)
    tape[frame.entry].next = UInt32(truncatingIfNeeded: tapeCount)
    tape[frame.entry].count = frame.count
    if depth > 0 {
      top = Frame(
        entry: around, isObject: tape[around].kind == .object, count: tape[around].count)
    }
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
    // Nearly always no two keys have their length and their first letter in common.
    guard mayHaveDuplicates(object: object) else { return }
    var found: [(key: Int, first: Int)] = []
    forEachDuplicate(object: object) { found.append(($0, $1)) }
    for (key, first) in found { report(key: key, first: first) }
  }

  /// False where each key has a mark of its own, made of its length and its first letter.
  @inline(__always)
  private func mayHaveDuplicates(object: Int) -> Bool {
    var marks: UInt64 = 0
    var key = object + 1
    while key < tapeCount {
      let entry = tape[key]
      // One text can be written in many ways.
      if entry.flags.contains(.escaped) { return true }
      // Of an empty key the quotation mark at its end.
      let first = bytes[Int(entry.start) + 1]
      let sign = (entry.end - entry.start) &* 7 &+ UInt32(first)
      let mark: UInt64 = 1 &<< UInt64(sign)
      if marks & mark != 0 { return true }
      marks |= mark
      key = Int(tape[key + 1].next)
    }
    return false
  }

  private func forEachDuplicate(object: Int, _ body: (Int, Int) -> Void) {
    var later = Int(tape[Int(tape[object + 1].next)].next)
    while later < tapeCount {
      var earlier = object + 1
      while earlier < later {
        if sameKey(tape[earlier], tape[later]) {
          body(later, earlier)
          break
        }
        earlier = Int(tape[earlier + 1].next)
      }
      later = Int(tape[later + 1].next)
    }
  }

  private mutating func findDuplicatesByHash(object: Int) {
    var first: [ExactKey: Int] = [:]
    var key = object + 1
    while key < tapeCount {
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
