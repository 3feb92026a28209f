/// Header fields in the order they were sent. Names and values lie in one byte buffer, with a
/// range for each, so that reading a head costs two allocations however many fields it has.
///
/// Look-up ignores the case of names (RFC 9110 section 5.1). Values have no surrounding blanks.
package struct HTTPHeaders: Sendable {
  /// Where one field lies in `bytes`.
  struct Field: Sendable {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32
  }

  var bytes: [UInt8]
  var fields: [Field]

  /// No fields.
  package init() {
    bytes = []
    fields = []
  }

  init(bytes: [UInt8], fields: [Field]) {
    self.bytes = bytes
    self.fields = fields
  }

  /// Fields in the given order; names may repeat.
  package init(_ pairs: [(String, String)]) {
    self.init()
    for (name, value) in pairs { add(name, value) }
  }

  /// How many field lines there are.
  package var count: Int { fields.count }

  /// Whether there is no field at all.
  package var isEmpty: Bool { fields.isEmpty }

  /// Adds a field line at the end.
  package mutating func add(_ name: String, _ value: String) {
    let nameStart = UInt32(truncatingIfNeeded: bytes.count)
    bytes.append(contentsOf: name.utf8)
    let nameEnd = UInt32(truncatingIfNeeded: bytes.count)
    bytes.append(contentsOf: value.utf8)
    let valueEnd = UInt32(truncatingIfNeeded: bytes.count)
    fields.append(
      Field(nameStart: nameStart, nameEnd: nameEnd, valueStart: nameEnd, valueEnd: valueEnd))
  }

  /// Replaces every field of that name by one.
  package mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  /// Removes every field of that name.
  package mutating func remove(_ name: String) {
    fields = fields.filter { !matches($0, name) }
  }

  /// Whether a field of that name exists.
  package func contains(_ name: String) -> Bool {
    fields.contains { matches($0, name) }
  }

  /// The value of the first field of that name. Setting replaces all; nil removes all.
  package subscript(_ name: String) -> String? {
    get { fields.first { matches($0, name) }.map(value) }
    set {
      if let newValue { set(name, newValue) } else { remove(name) }
    }
  }

  /// The values of all fields of that name, in order.
  package func all(_ name: String) -> [String] {
    fields.filter { matches($0, name) }.map(value)
  }

  /// Calls back with the raw bytes of the first field of that name; nil when there is none.
  /// Allocates nothing.
  package func withValue<Result>(
    of name: StaticString, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    for field in fields where matches(field, name) {
      return try bytes.withUnsafeBytes {
        try body(
          UnsafeRawBufferPointer(rebasing: $0[Int(field.valueStart)..<Int(field.valueEnd)]))
      }
    }
    return nil
  }

  /// Whether the first field of that name equals `text`, ignoring ASCII case. Allocates nothing.
  package func value(of name: StaticString, equals text: StaticString) -> Bool {
    withValue(of: name) { value in
      ASCII.equalIgnoringCase(value, UnsafeRawBufferPointer(text.asciiBytes))
    } ?? false
  }

  private func value(_ field: Field) -> String {
    String(decoding: bytes[Int(field.valueStart)..<Int(field.valueEnd)], as: UTF8.self)
  }

  private func matches(_ field: Field, _ name: String) -> Bool {
    var index = Int(field.nameStart)
    guard name.utf8.count == Int(field.nameEnd) - index else { return false }
    for byte in name.utf8 {
      guard ASCII.lowercased(byte) == ASCII.lowercased(bytes[index]) else { return false }
      index += 1
    }
    return true
  }

  func matches(_ field: Field, _ name: StaticString) -> Bool {
    guard name.utf8CodeUnitCount == Int(field.nameEnd - field.nameStart) else { return false }
    return bytes.withUnsafeBytes {
      ASCII.equalIgnoringCase(
        UnsafeRawBufferPointer(rebasing: $0[Int(field.nameStart)..<Int(field.nameEnd)]),
        UnsafeRawBufferPointer(name.asciiBytes))
    }
  }
}

extension HTTPHeaders: Sequence {
  /// Name and value of each field line, in order, names as they were sent.
  package func makeIterator() -> AnyIterator<(name: String, value: String)> {
    var index = 0
    return AnyIterator {
      guard index < fields.count else { return nil }
      let field = fields[index]
      index += 1
      let name = String(
        decoding: bytes[Int(field.nameStart)..<Int(field.nameEnd)], as: UTF8.self)
      return (name, value(field))
    }
  }
}

extension HTTPHeaders: Equatable {
  /// Equal when the same lines come in the same order, names compared without case.
  package static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
    left.elementsEqual(right) {
      $0.name.lowercased() == $1.name.lowercased() && $0.value == $1.value
    }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Fields in the order of the literal.
  package init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension StaticString {
  /// The bytes of the literal; static data, so no copy is made.
  var asciiBytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
  }
}
