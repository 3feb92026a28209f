/// One member of an object, with the place of its key.
public struct JSONMember: Sendable {
  /// The key.
  public let key: String
  /// Where the key stands.
  public var keyPosition: JSONPosition { keyNode.position }
  /// The bytes of the key in the text, quotation marks included.
  public var keyByteRange: Range<Int> { keyNode.byteRange }
  /// The value.
  public let value: JSONNode
  let keyNode: JSONNode
}

/// One value of a document, with its place.
public struct JSONNode: Sendable {
  let document: JSONDocument
  let index: Int

  private var entry: TapeEntry { document.tape[index] }

  /// What the value is.
  public var kind: JSONKind { entry.kind }
  /// The value's bytes in the text.
  public var byteRange: Range<Int> { Int(entry.start)..<Int(entry.end) }
  /// Where the value starts. Reads the text up to there.
  public var position: JSONPosition {
    JSONPosition(offset: Int(entry.start), in: document.bytes)
  }
  /// Elements or members; 0 for every other kind.
  public var count: Int { Int(entry.count) }
  /// True for `null`.
  public var isNull: Bool { kind == .null }
  /// The truth value; nil for every other kind.
  public var bool: Bool? { kind == .bool ? entry.flags.contains(.isTrue) : nil }
  /// The number; nil for every other kind.
  public var number: JSONNumber? {
    kind == .number ? JSONNumber(checked: decodedBytes(byteRange)) : nil
  }
  /// The string, escapes resolved; nil for every other kind.
  public var string: String? {
    guard kind == .string else { return nil }
    return document.bytes.withUnsafeBufferPointer { JSONStrings.decode(entry, in: $0) }
  }
  /// The elements of an array, in order; empty for every other kind.
  public var elements: [JSONNode] {
    guard kind == .array else { return [] }
    var nodes: [JSONNode] = []
    nodes.reserveCapacity(count)
    var child = index + 1
    while child < Int(entry.next) {
      nodes.append(JSONNode(document: document, index: child))
      child = Int(document.tape[child].next)
    }
    return nodes
  }
  /// The members of an object, in order, duplicates too; empty for every other kind.
  public var members: [JSONMember] {
    guard kind == .object else { return [] }
    var members: [JSONMember] = []
    members.reserveCapacity(count)
    var key = index + 1
    while key < Int(entry.next) {
      let keyNode = JSONNode(document: document, index: key)
      let value = JSONNode(document: document, index: key + 1)
      members.append(JSONMember(key: keyNode.string ?? "", value: value, keyNode: keyNode))
      key = Int(document.tape[key + 1].next)
    }
    return members
  }

  /// The member of that key, the last one where there are several.
  public subscript(key: String) -> JSONNode? {
    guard kind == .object else { return nil }
    return document.withCursor(at: index) { cursor in
      cursor.member(key).map { JSONNode(document: document, index: $0.index) }
    }
  }

  /// The element there, where it is an array that has it. Walks the elements before it.
  public subscript(position: Int) -> JSONNode? {
    guard kind == .array, position >= 0, position < count else { return nil }
    var child = index + 1
    for _ in 0..<position { child = Int(document.tape[child].next) }
    return JSONNode(document: document, index: child)
  }

  private func decodedBytes(_ range: Range<Int>) -> String {
    document.bytes.withUnsafeBufferPointer {
      String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
    }
  }

  /// The value and everything in it, taken out of the document.
  public var value: JSONValue { document.withCursor(at: index) { JSONMaterialiser.value(of: $0) } }
}
