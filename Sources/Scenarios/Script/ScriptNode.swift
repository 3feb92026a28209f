import JSONText

/// A script's JSON with positions, after the matrix variables have been put in.
struct ScriptNode: Sendable {
  enum Content: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([ScriptNode])
    case object([Member])
  }

  struct Member: Sendable {
    var key: String
    var keyPosition: JSONPosition
    var value: ScriptNode
  }

  var position: JSONPosition
  var content: Content
  /// A variable stood here or below, so the text in the file is not the value.
  var substituted = false

  var kind: String {
    switch content {
    case .null: return "null"
    case .bool: return "true or false"
    case .number: return "a number"
    case .string: return "a text"
    case .array: return "a list"
    case .object: return "an object"
    }
  }

  subscript(key: String) -> ScriptNode? { member(key)?.value }

  func member(_ key: String) -> Member? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.key == key }
  }

  var string: String? {
    guard case .string(let text) = content else { return nil }
    return text
  }
  var bool: Bool? {
    guard case .bool(let value) = content else { return nil }
    return value
  }
  var integer: Int64? {
    guard case .number(let number) = content else { return nil }
    return number.int64
  }
  var elements: [ScriptNode] {
    guard case .array(let elements) = content else { return [] }
    return elements
  }
  var members: [Member] {
    guard case .object(let members) = content else { return [] }
    return members
  }

  /// The plain value, without positions.
  var value: JSONValue {
    switch content {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let number): return .number(number)
    case .string(let text): return .string(text)
    case .array(let elements): return .array(elements.map(\.value))
    case .object(let members):
      var object = JSONObject()
      for member in members { object[member.key] = member.value.value }
      return .object(object)
    }
  }
}

/// Puts matrix values where `${name}` stands.
struct Substitution {
  private let values: [String: JSONValue]
  private(set) var used: Set<String> = []
  private(set) var unknown: [(name: String, position: JSONPosition)] = []

  private var places: PlaceReader

  /// - Parameter bytes: the text that the nodes are of.
  init(values: [String: JSONValue], bytes: [UInt8]) {
    self.values = values
    places = PlaceReader(bytes)
  }

  mutating func node(_ source: JSONNode) -> ScriptNode {
    let position = places.position(at: source.byteRange.lowerBound)
    switch source.kind {
    case .null: return ScriptNode(position: position, content: .null)
    case .bool: return ScriptNode(position: position, content: .bool(source.bool ?? false))
    case .number:
      guard let number = source.number else {
        return ScriptNode(position: position, content: .null)
      }
      return ScriptNode(position: position, content: .number(number))
    case .string: return text(source.string ?? "", at: position)
    case .array:
      let elements = source.elements.map { node($0) }
      return ScriptNode(
        position: position, content: .array(elements),
        substituted: elements.contains(where: \.substituted))
    case .object:
      var members: [ScriptNode.Member] = []
      for member in source.members {
        let keyPosition = places.position(at: member.keyByteRange.lowerBound)
        members.append(
          ScriptNode.Member(
            key: member.key, keyPosition: keyPosition, value: node(member.value)))
      }
      return ScriptNode(
        position: position, content: .object(members),
        substituted: members.contains(where: \.value.substituted))
    }
  }

  /// A text that is one variable becomes the variable's value; variables inside text are put in.
  private mutating func text(_ text: String, at position: JSONPosition) -> ScriptNode {
    guard text.contains("${") else {
      return ScriptNode(position: position, content: .string(text))
    }
    var result = ""
    var rest = Substring(text)
    while let start = rest.range(of: "${") {
      result += rest[..<start.lowerBound]
      rest = rest[start.upperBound...]
      guard let end = rest.firstIndex(of: "}") else {
        unknown.append((String(rest), position))
        return ScriptNode(position: position, content: .string(text))
      }
      let name = String(rest[..<end])
      rest = rest[rest.index(after: end)...]
      guard let value = values[name] else {
        unknown.append((name, position))
        continue
      }
      used.insert(name)
      if text == "${\(name)}" {
        return ScriptNode(
          position: position, content: Substitution.content(value, position), substituted: true)
      }
      result += Substitution.plain(value)
    }
    return ScriptNode(position: position, content: .string(result + rest), substituted: true)
  }

  /// A value as it stands inside a text or a title: texts without quotes.
  static func plain(_ value: JSONValue) -> String {
    if case .string(let text) = value { return text }
    return String(decoding: JSONWriter.bytes(value), as: UTF8.self)
  }

  private static func content(_ value: JSONValue, _ position: JSONPosition) -> ScriptNode.Content {
    switch value {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let number): return .number(number)
    case .string(let text): return .string(text)
    case .array(let elements):
      return .array(elements.map { ScriptNode(position: position, content: content($0, position)) })
    case .object(let object):
      return .object(
        object.map {
          ScriptNode.Member(
            key: $0.key, keyPosition: position,
            value: ScriptNode(position: position, content: content($0.value, position)))
        })
    }
  }
}
