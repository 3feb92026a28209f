import Foundation
import JSONText

/// Checks a JSON value against its shape before anything is decoded, so that decoding has nothing
/// left to complain about but meaning.
enum PlanReader {
  static func check(_ node: JSONNode, _ shape: PlanShape, pointer: String) throws {
    switch shape {
    case .any: return
    case .bool: try expect(node, node.kind == .bool, shape, pointer)
    case .string: try expect(node, node.kind == .string, shape, pointer)
    case .integer, .seed, .number: try checkNumber(node, shape, pointer)
    case .pattern, .path, .duration, .size, .choice, .base64: try checkText(node, shape, pointer)
    case .object(let object): try checkObject(node, object, pointer)
    case .array(let element, let minimum):
      try expect(node, node.kind == .array, shape, pointer)
      let elements = node.elements
      guard elements.count >= minimum else {
        throw FaultPlanError(
          "an empty array; expected at least one", at: node.position, pointer: pointer)
      }
      for (index, item) in elements.enumerated() {
        try check(item, element, pointer: "\(pointer)/\(index)")
      }
    case .map(let element):
      try expect(node, node.kind == .object, shape, pointer)
      for member in try uniqueMembers(node, pointer) {
        try check(member.value, element, pointer: pointer + "/" + escaped(member.key))
      }
    case .either(let shapes):
      guard let fitting = shapes.first(where: { accepts($0, node.kind) }) else {
        throw unexpected(node, shape, pointer)
      }
      try check(node, fitting, pointer: pointer)
    }
  }

  /// A key as a token of a JSON pointer (RFC 6901, section 3).
  static func escaped(_ key: String) -> String {
    key.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
  }

  private static func checkObject(
    _ node: JSONNode, _ object: PlanObject, _ pointer: String
  ) throws {
    try expect(node, node.kind == .object, .object(object), pointer)
    let members = try uniqueMembers(node, pointer)
    for member in members {
      guard let key = object.key(member.key) else {
        throw FaultPlanError(
          "unknown key \"\(member.key)\" in \(object.name)", at: member.keyPosition,
          pointer: pointer + "/" + escaped(member.key),
          suggestion: Nearest.word(to: member.key, among: object.keys.map(\.name)))
      }
      try check(member.value, key.shape, pointer: pointer + "/" + escaped(member.key))
    }
    for key in object.keys where key.isRequired {
      guard members.contains(where: { $0.key == key.name }) else {
        throw FaultPlanError(
          "missing key \"\(key.name)\" in \(object.name)", at: node.position, pointer: pointer)
      }
    }
    for group in object.exclusive {
      let given = members.filter { group.contains($0.key) }
      if given.count > 1 {
        throw FaultPlanError(
          "\"\(given[0].key)\" and \"\(given[1].key)\" exclude each other",
          at: given[1].keyPosition, pointer: pointer + "/" + escaped(given[1].key))
      }
    }
  }

  private static func uniqueMembers(_ node: JSONNode, _ pointer: String) throws -> [JSONMember] {
    let members = node.members
    var seen = Set<String>()
    for member in members where !seen.insert(member.key).inserted {
      throw FaultPlanError(
        "duplicate key \"\(member.key)\"", at: member.keyPosition,
        pointer: pointer + "/" + escaped(member.key))
    }
    return members
  }

  private static func expect(
    _ node: JSONNode, _ holds: Bool, _ shape: PlanShape, _ pointer: String
  ) throws {
    guard holds else { throw unexpected(node, shape, pointer) }
  }

  private static func unexpected(
    _ node: JSONNode, _ shape: PlanShape, _ pointer: String
  ) -> FaultPlanError {
    FaultPlanError(
      "found \(node.kind), expected \(shape.expectation)", at: node.position, pointer: pointer)
  }

  private static func checkNumber(
    _ node: JSONNode, _ shape: PlanShape, _ pointer: String
  ) throws {
    guard let number = node.number else { throw unexpected(node, shape, pointer) }
    let holds: Bool
    switch shape {
    case .integer(let range): holds = number.int64.map(range.contains) ?? false
    case .seed: holds = number.uint64 != nil
    case .number(let range): holds = number.double.isFinite && range.contains(number.double)
    default: holds = true
    }
    guard holds else {
      throw FaultPlanError(
        "\(number.literal) is out of range, expected \(shape.expectation)", at: node.position,
        pointer: pointer)
    }
  }

  private static func checkText(_ node: JSONNode, _ shape: PlanShape, _ pointer: String) throws {
    guard let text = node.string else { throw unexpected(node, shape, pointer) }
    do {
      switch shape {
      case .pattern: _ = try TextPattern(text)
      case .path: _ = try JSONPath(text)
      case .duration: _ = try Quantity.nanoseconds(text)
      case .size(let most):
        guard try Quantity.bytes(text) <= most else {
          throw QuantityError(
            description: "\"\(text)\" is out of range, expected \(shape.expectation)")
        }
      case .base64:
        guard Data(base64Encoded: text) != nil else {
          throw QuantityError(description: "not base64")
        }
      case .choice(let words) where !words.contains(text):
        throw FaultPlanError(
          "unknown word \"\(text)\", expected \(shape.expectation)", at: node.position,
          pointer: pointer, suggestion: Nearest.word(to: text, among: words))
      default: break
      }
    } catch let error as QuantityError {
      throw FaultPlanError(error.description, at: node.position, pointer: pointer)
    }
  }

  private static func accepts(_ shape: PlanShape, _ kind: JSONKind) -> Bool {
    switch shape {
    case .any: return true
    case .bool: return kind == .bool
    case .string, .pattern, .path, .duration, .size, .choice, .base64: return kind == .string
    case .integer, .seed, .number: return kind == .number
    case .object, .map: return kind == .object
    case .array: return kind == .array
    case .either(let shapes): return shapes.contains { accepts($0, kind) }
    }
  }
}

extension JSONNode {
  /// Nanoseconds of a checked duration under a key.
  func durationNs(_ key: String) -> Int64? {
    // The reader has checked the text; what is no duration does not get here.
    self[key]?.string.flatMap { try? Quantity.nanoseconds($0) }
  }

  /// Bytes under a key, given as a checked size or as an integer.
  func byteCount(_ key: String) -> Int? {
    guard let node = self[key] else { return nil }
    if let number = node.number { return number.int64.map(Int.init(clamping:)) }
    // The reader has checked the text; what is no size does not get here.
    return node.string.flatMap { try? Quantity.bytes($0) }.map(Int.init(clamping:))
  }

  func integer(_ key: String) -> Int? {
    self[key]?.number?.int64.map(Int.init(clamping:))
  }
}
