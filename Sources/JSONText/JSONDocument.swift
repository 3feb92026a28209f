/// A key that its object has already.
public struct JSONDuplicateKey: Sendable, Hashable {
  /// The key.
  public let key: String
  /// Where it stands again.
  public let position: JSONPosition
  /// Where it stands for the first time.
  public let firstPosition: JSONPosition
}

/// A JSON text that has been read and checked: every value with its place.
///
/// Values are read from it on demand; nothing is allocated for a value nobody asks for.
public final class JSONDocument: Sendable {
  /// The text.
  public let bytes: [UInt8]
  /// Keys that their object has already, in the order of the objects' ends: at most 32.
  /// RFC 8259 leaves open what they mean, so whoever reads must decide. Look-ups find the last.
  public let duplicateKeys: [JSONDuplicateKey]
  /// All duplicate keys, also those beyond the 32 that are reported.
  public let duplicateKeyCount: Int
  let tape: [TapeEntry]

  /// Reads and checks a whole text.
  ///
  /// - Throws: `JSONError` with the place of the first fault.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws {
    guard bytes.count <= limits.maxBytes else {
      // The place is where the limit lies; the text up to there is not read.
      throw JSONError(
        kind: .tooLarge(limit: limits.maxBytes),
        position: JSONPosition(line: 1, column: 1, offset: limits.maxBytes))
    }
    self.bytes = bytes
    let parsed: (tape: [TapeEntry], duplicates: [TapeParser.Duplicate], duplicateCount: Int)
    do {
      parsed = try JSONDocument.parse(
        bytes, limits, room: TapeParser.likelyEntries(bytes.count))
    } catch is TapeParser.TapeIsFull {
      parsed = try JSONDocument.parse(
        bytes, limits, room: TapeParser.mostEntries(bytes.count, maxDepth: limits.maxDepth))
    }
    let tape = parsed.tape
    self.tape = tape
    duplicateKeyCount = parsed.duplicateCount
    duplicateKeys = parsed.duplicates.map { duplicate in
      JSONDuplicateKey(
        key: bytes.withUnsafeBufferPointer { JSONStrings.decode(tape[duplicate.key], in: $0) },
        position: JSONPosition(offset: Int(tape[duplicate.key].start), in: bytes),
        firstPosition: JSONPosition(offset: Int(tape[duplicate.first].start), in: bytes))
    }
  }

  /// - Throws: `JSONError`, or `TapeIsFull` where there are more values than there is room.
  private static func parse(
    _ bytes: [UInt8], _ limits: JSONLimits, room: Int
  ) throws -> (tape: [TapeEntry], duplicates: [TapeParser.Duplicate], duplicateCount: Int) {
    var duplicates: [TapeParser.Duplicate] = []
    var duplicateCount = 0
    let tape = try bytes.withUnsafeBufferPointer { text in
      try [TapeEntry](unsafeUninitializedCapacity: room) { tape, count in
        var parser = TapeParser(bytes: text, tape: tape, maxDepth: limits.maxDepth)
        do {
          try parser.parse()
        } catch let fault as TapeParser.Fault {
          throw JSONError(
            kind: fault.kind, position: JSONPosition(offset: fault.offset, in: bytes))
        }
        count = parser.tapeCount
        duplicates = parser.duplicates
        duplicateCount = parser.duplicateCount
      }
    }
    return (tape, duplicates, duplicateCount)
  }

  /// The outermost value.
  public var root: JSONNode { JSONNode(document: self, index: 0) }
}
