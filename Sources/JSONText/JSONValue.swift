/// A JSON value without loss: numbers keep their literal, members their order.
///
/// `true` and `1` are different cases and never turn into each other. Two values are equal when
/// they are written the same: strings byte by byte, numbers by literal, members in order.
public enum JSONValue: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number, by its literal.
  case number(JSONNumber)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object(JSONObject)
}

extension JSONValue {
  /// Reads one value from UTF-8 text (RFC 8259).
  ///
  /// - Throws: `JSONError` with the place, also for a duplicate key, which a value cannot hold.
  public static func parse(_ bytes: [UInt8], limits: JSONLimits = .standard) throws -> JSONValue {
    let document = try JSONDocument(parsing: bytes, limits: limits)
    if let duplicate = document.duplicateKeys.first {
      throw JSONError(kind: .duplicateKey(duplicate.key), position: duplicate.position)
    }
    return document.root.value
  }

  /// Reads one value from text.
  ///
  /// - Throws: `JSONError` with the place.
  public static func parse(_ text: String, limits: JSONLimits = .standard) throws -> JSONValue {
    try parse(Array(text.utf8), limits: limits)
  }

  /// An integer.
  public static func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

  /// The value's member, where it is an object that has it. Setting works on objects only.
  public subscript(key: String) -> JSONValue? {
    get {
      guard case .object(let object) = self else { return nil }
      return object[key]
    }
    set {
      guard case .object(var object) = self else { return }
      object[key] = newValue
      self = .object(object)
    }
  }

  /// The value's element, where it is an array that has it.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let values) = self, values.indices.contains(index) else { return nil }
    return values[index]
  }

  /// True for `null`.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }
  /// The truth value; nil for every other kind, 0 and 1 too.
  public var boolValue: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }
  /// The number; nil for every other kind.
  public var numberValue: JSONNumber? {
    guard case .number(let value) = self else { return nil }
    return value
  }
  /// The number as an integer, where it is one within the range.
  public var int64Value: Int64? { numberValue?.int64 }
  /// The number as an integer, where it is one within the range.
  public var intValue: Int? { numberValue?.int64.flatMap { Int(exactly: $0) } }
  /// The number as the nearest double.
  public var doubleValue: Double? { numberValue?.double }
  /// The string; nil for every other kind.
  public var stringValue: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }
  /// The elements; nil for every other kind.
  public var arrayValue: [JSONValue]? {
    guard case .array(let value) = self else { return nil }
    return value
  }
  /// The members; nil for every other kind.
  public var objectValue: JSONObject? {
    guard case .object(let value) = self else { return nil }
    return value
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
  /// A number; one beyond the range of a double becomes null.
  public init(floatLiteral value: Double) {
    self = JSONNumber(value).map(JSONValue.number) ?? .null
  }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; of equal keys the last one's value stays.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text.
  public var description: String { String(decoding: JSONWriter.bytes(self), as: UTF8.self) }
}
