/// A place in a JSON text.
public struct JSONPosition: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1. Lines end at LF, CR LF, or a lone CR.
  public let line: Int
  /// The column, from 1, counted in Unicode scalars.
  public let column: Int
  /// Bytes from the start of the text, from 0.
  public let offset: Int

  /// Names a place.
  public init(line: Int, column: Int, offset: Int) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// `line:column`, as compilers print it.
  public var description: String { "\(line):\(column)" }
}

extension JSONPosition {
  /// The place of a byte in a text whose bytes before it are valid UTF-8.
  ///
  /// Reads the text up to there, so ask only for places that are shown to somebody; many in
  /// ascending order are found in one reading, each `after` the one before.
  package init(offset: Int, in bytes: [UInt8], after place: JSONPosition? = nil) {
    let end = min(max(offset, 0), bytes.count)
    var (line, column, start) = (1, 1, 0)
    if let place, place.offset <= end {
      (line, column, start) = (place.line, place.column, place.offset)
    }
    for index in start..<end {
      switch bytes[index] {
      case 0x0a:
        line += 1
        column = 1
      case 0x0d:
        // CR LF is one line end, counted at the LF.
        if index + 1 < bytes.count, bytes[index + 1] == 0x0a { continue }
        line += 1
        column = 1
      case 0x80...0xbf: continue
      default: column += 1
      }
    }
    self.init(line: line, column: column, offset: end)
  }
}

/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Kind: Sendable, Hashable {
    /// The text ends where something was still to come.
    case unexpectedEnd(expected: String)
    /// A character (as it is to be shown) that may not stand here.
    case unexpectedCharacter(found: String, expected: String)
    /// A word other than `true`, `false`, `null`.
    case unknownWord(String)
    /// A number that RFC 8259, section 6 does not allow; the text says why.
    case invalidNumber(String)
    /// U+0000 to U+001F inside a string without an escape.
    case controlCharacter(UInt8)
    /// A backslash followed by something that is no escape.
    case invalidEscape
    /// A `\u` escape of half a surrogate pair.
    case loneSurrogate
    /// Bytes that are not UTF-8 (RFC 3629).
    case invalidUTF8
    /// The text starts with a byte order mark, or is UTF-16 or UTF-32.
    case byteOrderMark(String)
    /// More nested arrays and objects than the limit.
    case tooDeep(limit: Int)
    /// More bytes than the limit.
    case tooLarge(limit: Int)
    /// Something stands behind the end of the value.
    case trailingContent
    /// A key that its object has already.
    case duplicateKey(String)
  }

  /// What is wrong.
  public let kind: Kind
  /// Where it is wrong.
  public let position: JSONPosition

  /// Makes an error.
  public init(kind: Kind, position: JSONPosition) {
    self.kind = kind
    self.position = position
  }

  /// What is wrong, without the place.
  public var reason: String {
    switch kind {
    case .unexpectedEnd(let expected): return "the text ends, expected \(expected)"
    case .unexpectedCharacter(let found, let expected):
      return "found \(found), expected \(expected)"
    case .unknownWord(let word): return "unknown word \"\(word)\", expected true, false or null"
    case .invalidNumber(let why): return "invalid number: \(why)"
    case .controlCharacter(let byte):
      return "control character U+00\(JSONError.hex(byte)) in a string must be escaped"
    case .invalidEscape: return "invalid escape in a string"
    case .loneSurrogate: return "half a surrogate pair in a string"
    case .invalidUTF8: return "bytes that are not UTF-8"
    case .byteOrderMark(let name): return "starts with \(name); JSON is UTF-8 without it"
    case .tooDeep(let limit): return "nested deeper than \(limit) levels"
    case .tooLarge(let limit): return "longer than \(limit) bytes"
    case .trailingContent: return "something follows the end of the value"
    case .duplicateKey(let key): return "duplicate key \"\(key)\""
    }
  }

  /// `line:column: reason`.
  public var description: String { "\(position): \(reason)" }

  static func hex(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + text : text
  }
}

/// Bounds of one text.
public struct JSONLimits: Sendable, Hashable {
  /// Nested arrays and objects: `[]` is one level. From 0 to `deepestAllowed`.
  public let maxDepth: Int
  /// Bytes of the whole text, up to `longestAllowed`.
  public let maxBytes: Int

  /// Values of this depth can be read, compared, hashed and freed on a 512 KB thread stack.
  public static let deepestAllowed = 512
  /// Offsets in the tape have 31 bits.
  public static let longestAllowed = Int(Int32.max)

  /// 128 levels, 64 MB.
  public static let standard = JSONLimits()

  /// Makes limits; what lies beyond the allowed range is brought into it.
  public init(maxDepth: Int = 128, maxBytes: Int = 64_000_000) {
    self.maxDepth = min(max(maxDepth, 0), JSONLimits.deepestAllowed)
    self.maxBytes = min(max(maxBytes, 0), JSONLimits.longestAllowed)
  }
}
