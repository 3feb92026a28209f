extension JSONValue: Encodable {
  /// Writes the value with any encoder. Numbers go as the integer or double they are nearest to:
  /// an encoder of another library knows no literals.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let object): try object.encode(to: encoder)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .null, .bool, .number, .string:
      var container = encoder.singleValueContainer()
      try encodeScalar(to: &container)
    }
  }

  private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .bool(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .number(let number):
      if let integer = number.int64 {
        try container.encode(integer)
      } else if let integer = number.uint64 {
        try container.encode(integer)
      } else {
        try container.encode(number.double)
      }
    case .null, .array, .object: try container.encodeNil()
    }
  }
}

extension JSONObject: Encodable {
  /// Writes the members, in order, with any encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MemberKey.self)
    for (key, value) in self { try container.encode(value, forKey: MemberKey(stringValue: key)) }
  }

  private struct MemberKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
