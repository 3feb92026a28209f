import JSONText

/// The place of one value while it is being written: containers are handed out first and filled
/// later, so they share a reference.
final class Slot {
  enum Kind { case empty, whole, elements, members }
  enum Entry {
    case value(JSONValue)
    case slot(Slot)

    var json: JSONValue {
      switch self {
      case .value(let value): return value
      case .slot(let slot): return slot.finished() ?? .object([:])
      }
    }
  }

  private(set) var kind: Kind
  private var value = JSONValue.null
  private(set) var elements: [Entry] = []
  private var members: [(key: String, entry: Entry)] = []

  init(_ kind: Kind = .empty) { self.kind = kind }

  /// False where a value was given already.
  func set(_ value: JSONValue) -> Bool {
    guard kind == .empty else { return false }
    kind = .whole
    self.value = value
    return true
  }

  /// False where something of another kind was given already.
  func become(_ kind: Kind) -> Bool {
    if self.kind == .empty { self.kind = kind }
    return self.kind == kind
  }

  func append(_ entry: Entry) { elements.append(entry) }

  func append(_ key: String, _ entry: Entry) { members.append((key, entry)) }

  /// The slot that an earlier nested container of this key fills, so that asking twice for the
  /// same container goes on with it.
  func nested(_ key: String) -> Slot? {
    for member in members.reversed() where member.key.utf8.elementsEqual(key.utf8) {
      if case .slot(let slot) = member.entry { return slot }
      return nil
    }
    return nil
  }

  func sortMembers() {
    members.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// The value written; nil where none was.
  func finished() -> JSONValue? {
    switch kind {
    case .empty: return nil
    case .whole: return value
    case .elements: return .array(elements.map(\.json))
    case .members: return .object(JSONObject(members.map { ($0.key, $0.entry.json) }))
    }
  }
}

/// The encoder of one value.
struct SlotEncoder: Encoder {
  let slot: Slot
  let codingPath: [CodingKey]
  let context: EncodingContext
  /// Containers around the value.
  let depth: Int

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(
      KeyedSlot<Key>(
        slot: open(.members), codingPath: codingPath, context: context, depth: depth + 1))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    UnkeyedSlot(
      slot: open(.elements), codingPath: codingPath, context: context, depth: depth + 1)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleSlot(slot: slot, codingPath: codingPath, context: context, depth: depth)
  }

  /// The value's slot; or, as these calls cannot throw, a slot that goes nowhere, after the fault
  /// was noted.
  private func open(_ kind: Slot.Kind) -> Slot {
    guard depth < context.maxDepth else {
      context.fail(.tooDeep, at: codingPath)
      return Slot(kind)
    }
    guard slot.become(kind) else {
      context.fail(.twice, at: codingPath)
      return Slot(kind)
    }
    return slot
  }
}

extension EncodingContext {
  /// The value, or `{}` where it encoded nothing: a superclass without properties, say.
  func nested<Value: Encodable>(
    _ value: Value, at path: @autoclosure () -> [CodingKey], depth: Int
  ) throws -> JSONValue {
    try self.value(value, at: path(), depth: depth) ?? .object([:])
  }
}
