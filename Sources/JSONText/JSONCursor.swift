/// A value of a document, to be read without any allocation or reference counting.
///
/// Lives only inside `JSONDocument.withCursor`: it points into the document's storage.
///
/// Public, for the compiler inlines across modules what is public only, and a server's loop makes
/// hundreds of these calls for an event. Inside the closure every index is checked by the parser.
@frozen
public struct JSONCursor {
  @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline let tape: UnsafeBufferPointer<TapeEntry>
  @usableFromInline let index: Int

  @inlinable
  init(
    bytes: UnsafeBufferPointer<UInt8>, tape: UnsafeBufferPointer<TapeEntry>, index: Int
  ) {
    self.bytes = bytes
    self.tape = tape
    self.index = index
  }

  /// What the value is.
  @inlinable public var kind: JSONKind { tape[index].kind }
  /// Elements or members; 0 for every other kind.
  @inlinable public var count: Int { Int(tape[index].count) }
  /// The value's first byte in the text.
  @inlinable public var offset: Int { Int(tape[index].start) }
  /// The value's bytes in the text.
  @inlinable public var byteRange: Range<Int> { Int(tape[index].start)..<Int(tape[index].end) }
  /// The value's bytes, as they stand in the text.
  @inlinable public var rawBytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[byteRange])
  }
  /// True for `true` alone.
  @inlinable public var isTrue: Bool { tape[index].flags.contains(.isTrue) }

  /// The bytes of a string between its quotation marks, where they need no unescaping; nil where
  /// they do, and for every other kind.
  @inlinable @inline(__always)
  public var plainBytes: UnsafeBufferPointer<UInt8>? {
    let entry = tape[index]
    guard entry.kind == .string, !entry.flags.contains(.escaped) else { return nil }
    return UnsafeBufferPointer(rebasing: bytes[entry.content])
  }
  /// The string, escapes resolved; nil for every other kind. Allocates from 16 bytes on.
  public var string: String? {
    kind == .string ? JSONStrings.decode(tape[index], in: bytes) : nil
  }
  /// The number; nil for every other kind.
  public var number: JSONNumber? {
    kind == .number ? JSONNumber(checked: String(decoding: rawBytes, as: UTF8.self)) : nil
  }

  /// True where this is a string of exactly these bytes.
  @inlinable public func equals(_ text: StaticString) -> Bool {
    guard let plain = plainBytes else {
      return string?.hasSameBytes(as: text.description) ?? false
    }
    guard plain.count == text.utf8CodeUnitCount else { return false }
    for at in 0..<plain.count where plain[at] != text.utf8Start[at] { return false }
    return true
  }

  /// The first element of an array or the first key of an object; nil where there is none.
  @inlinable public var firstChild: JSONCursor? { count > 0 ? moved(to: index + 1) : nil }

  /// The value behind a key.
  @inlinable public var valueOfKey: JSONCursor { moved(to: index + 1) }

  /// The next element of the array, or from a key's value the next key of the object, that ends
  /// where `container` does.
  @inlinable @inline(__always)
  public func next(in container: JSONCursor) -> JSONCursor? {
    let next = Int(tape[index].next)
    return next < Int(tape[container.index].next) ? moved(to: next) : nil
  }

  /// The member of that key, the last one where there are several.
  public func member(_ key: String) -> JSONCursor? {
    guard kind == .object else { return nil }
    var found: JSONCursor?
    var key = key
    key.withUTF8 { wanted in
      var at = firstChild
      while let name = at {
        let value = name.valueOfKey
        if name.equals(wanted) { found = value }
        at = value.next(in: self)
      }
    }
    return found
  }

  private func equals(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    if let plain = plainBytes {
      return plain.count == wanted.count && plain.elementsEqual(wanted)
    }
    return string.map { $0.utf8.elementsEqual(wanted) } ?? false
  }

  @inlinable func moved(to index: Int) -> JSONCursor {
    JSONCursor(bytes: bytes, tape: tape, index: index)
  }
}

extension JSONDocument {
  /// Lends a cursor at the outermost value. The cursor must not leave the closure.
  ///
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  public func withCursor<Result>(_ body: (JSONCursor) throws -> Result) rethrows -> Result {
    try withCursor(at: 0, body)
  }

  func withCursor<Result>(
    at index: Int, _ body: (JSONCursor) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBufferPointer { bytes in
      try tape.withUnsafeBufferPointer { tape in
        try body(JSONCursor(bytes: bytes, tape: tape, index: index))
      }
    }
  }
}
