/// What a JSON value is.
public enum JSONKind: UInt8, Sendable, Hashable, CustomStringConvertible {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool
  /// A number.
  case number
  /// A string.
  case string
  /// An array.
  case array
  /// An object.
  case object

  /// The name in an error text, with its article where it has one.
  public var description: String {
    switch self {
    case .null: return "null"
    case .bool: return "true or false"
    case .number: return "a number"
    case .string: return "a string"
    case .array: return "an array"
    case .object: return "an object"
    }
  }
}

/// One value on the tape: where it stands in the text, and where its neighbour is on the tape.
///
/// The tape holds the values in the order of the text; a container is followed by its elements,
/// an object by key, value, key, value. Twenty bytes a value, no allocation each.
@usableFromInline
struct TapeEntry: Sendable {
  /// The first byte in the text; of a string the quotation mark.
  @usableFromInline var start: UInt32
  /// Past the last byte in the text.
  @usableFromInline var end: UInt32
  /// Past the last entry that belongs to this value.
  @usableFromInline var next: UInt32
  /// Elements or members; of a scalar 0.
  @usableFromInline var count: UInt32 = 0
  @usableFromInline var kind: JSONKind
  @usableFromInline var flags: Flags = []

  @usableFromInline
  struct Flags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt8
    @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A string with a backslash in it.
    @inlinable static var escaped: Flags { Flags(rawValue: 1) }
    /// A boolean that is true.
    @inlinable static var isTrue: Flags { Flags(rawValue: 2) }
  }

  /// The bytes of a string between its quotation marks.
  @inlinable var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

  init(
    start: UInt32, end: UInt32, next: UInt32, kind: JSONKind, flags: Flags = []
  ) {
    self.start = start
    self.end = end
    self.next = next
    self.kind = kind
    self.flags = flags
  }
}
