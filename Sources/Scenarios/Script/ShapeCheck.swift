import JSONText

/// Compares a script with the language's definition and collects every mistake.
struct ShapeCheck {
  /// Mistakes reported for one script; more would hide the first.
  static let maxErrors = 20

  let file: String
  private(set) var errors: [ScriptError] = []

  init(file: String) { self.file = file }

  mutating func fail(
    _ position: JSONPosition, _ message: String, length: Int = 1, hint: String? = nil
  ) {
    guard errors.count < ShapeCheck.maxErrors else { return }
    errors.append(
      ScriptError(
        file: file, position: position, length: length, message: message, hint: hint))
  }

  /// `label` names the value in messages: `"every"` or `an element of "expect"`.
  mutating func check(_ node: ScriptNode, _ shape: ValueShape, label: String) {
    switch shape {
    case .any: return
    case .plan, .anyObject:
      if !node.isObject { mismatch(node, label, "an object") }
    case .text(let maxLength): checkText(node, maxLength: maxLength, label: label)
    case .name: checkName(node, label: label)
    case .duration:
      checkQuantity(node, label, "a duration, e.g. \"90s\"") { _ = try Quantity.duration($0) }
    case .signedDuration:
      checkQuantity(node, label, "a duration, e.g. \"-26h\"") {
        _ = try Quantity.duration($0, signed: true)
      }
    case .size: checkQuantity(node, label, "a size, e.g. \"256KB\"") { _ = try Quantity.size($0) }
    case .integer(let range): checkInteger(node, range, label: label)
    case .boolean:
      if node.bool == nil { mismatch(node, label, "true or false") }
    case .null:
      if case .null = node.content { return }
      mismatch(node, label, "null")
    case .choice(let choices): checkChoice(node, choices, label: label)
    case .list(let element, let min, let max):
      checkList(node, element, count: min...max, label: label)
    case .object(let object): checkObject(node, object, label: label)
    case .map(let value): checkMap(node, value, label: label)
    case .either(let shapes): checkEither(node, shapes, label: label)
    case .step: checkStep(node)
    case .expectation: checkExpectation(node)
    }
  }

  private mutating func mismatch(_ node: ScriptNode, _ label: String, _ wanted: String) {
    fail(node.position, "\(label) is \(node.kind), expected \(wanted)")
  }

  private mutating func checkText(_ node: ScriptNode, maxLength: Int, label: String) {
    guard let text = node.string else { return mismatch(node, label, "a text") }
    if text.isEmpty { fail(node.position, "\(label) is empty", length: 2) }
    if text.count > maxLength {
      fail(node.position, "\(label) is longer than \(maxLength) characters")
    }
  }

  private mutating func checkName(_ node: ScriptNode, label: String) {
    guard let text = node.string else { return mismatch(node, label, "a name") }
    let allowed = text.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        || $0 == "-" || $0 == "_" || $0 == "."
    }
    if text.isEmpty || text.count > 80 || !allowed {
      fail(
        node.position,
        "\(label) is no name (letters, digits, \"-\", \"_\", \".\"; at most 80)",
        length: text.unicodeScalars.count + 2)
    }
  }

  private mutating func checkQuantity(
    _ node: ScriptNode, _ label: String, _ wanted: String, _ parse: (String) throws -> Void
  ) {
    guard let text = node.string else { return mismatch(node, label, wanted) }
    do { try parse(text) } catch let fault as Quantity.Fault {
      fail(
        node.position, "\(label) \(fault.explanation)", length: text.unicodeScalars.count + 2)
    } catch { mismatch(node, label, wanted) }
  }

  private mutating func checkInteger(
    _ node: ScriptNode, _ range: ClosedRange<Int64>, label: String
  ) {
    guard case .number(let number) = node.content else {
      return mismatch(node, label, "a whole number")
    }
    let length = number.literal.count
    guard let value = number.int64 else {
      return fail(node.position, "\(label) is no whole number", length: length)
    }
    if !range.contains(value) {
      let bounds =
        range.upperBound == .max
        ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      fail(node.position, "\(label) is out of range (\(bounds))", length: length)
    }
  }

  private mutating func checkChoice(_ node: ScriptNode, _ choices: [String], label: String) {
    guard let text = node.string else {
      return mismatch(node, label, "one of \(choices.joined(separator: ", "))")
    }
    guard !choices.contains(text) else { return }
    fail(
      node.position, "\(label) has the unknown value \"\(text)\"",
      length: text.unicodeScalars.count + 2,
      hint: ShapeCheck.suggestion(text, choices))
  }

  private mutating func checkList(
    _ node: ScriptNode, _ element: ValueShape, count: ClosedRange<Int>, label: String
  ) {
    guard case .array(let elements) = node.content else {
      return mismatch(node, label, "a list")
    }
    if elements.count < count.lowerBound { fail(node.position, "\(label) is empty", length: 2) }
    if elements.count > count.upperBound {
      fail(node.position, "\(label) has \(elements.count) elements, at most \(count.upperBound)")
    }
    for entry in elements.prefix(count.upperBound) {
      check(entry, element, label: "an element of \(label)")
    }
  }

  private mutating func checkMap(_ node: ScriptNode, _ value: ValueShape, label: String) {
    guard case .object(let members) = node.content else {
      return mismatch(node, label, "an object")
    }
    if members.isEmpty { fail(node.position, "\(label) is empty", length: 2) }
    for member in members { check(member.value, value, label: "\"\(member.key)\"") }
  }

  private mutating func checkEither(_ node: ScriptNode, _ shapes: [ValueShape], label: String) {
    guard let shape = shapes.first(where: { $0.takes(node) }) ?? shapes.first else { return }
    check(node, shape, label: label)
  }

  mutating func checkObject(_ node: ScriptNode, _ shape: ObjectShape, label: String) {
    guard case .object(let members) = node.content else {
      return mismatch(node, label, "an object")
    }
    checkFields(members, shape.fields, of: shape.title, extra: [])
    for field in shape.fields where field.required && node[field.key] == nil {
      fail(node.position, "\(shape.title) lacks \"\(field.key)\"")
    }
    let excluded = members.filter { shape.excludes.contains($0.key) }
    if excluded.count > 1 {
      fail(
        excluded[1].keyPosition,
        "\(shape.title) has both \"\(excluded[0].key)\" and \"\(excluded[1].key)\"",
        length: excluded[1].key.count + 2)
    }
    if !shape.needsOneOf.isEmpty, !members.contains(where: { shape.needsOneOf.contains($0.key) }) {
      fail(
        node.position,
        "\(shape.title) needs one of \(shape.needsOneOf.map { "\"\($0)\"" }.joined(separator: ", "))"
      )
    }
  }

  private mutating func checkFields(
    _ members: [ScriptNode.Member], _ fields: [FieldShape], of title: String, extra: [String]
  ) {
    for member in members where !extra.contains(member.key) {
      if let field = fields.first(where: { $0.key == member.key }) {
        check(member.value, field.shape, label: "\"\(member.key)\"")
      } else {
        unknownKey(member, of: title, known: fields.map(\.key) + extra)
      }
    }
  }

  private mutating func unknownKey(
    _ member: ScriptNode.Member, of title: String, known: [String]
  ) {
    fail(
      member.keyPosition, "unknown key \"\(member.key)\" in \(title)",
      length: member.key.unicodeScalars.count + 2,
      hint: ShapeCheck.suggestion(member.key, known))
  }

  private mutating func checkStep(_ node: ScriptNode) {
    guard case .object(let members) = node.content else {
      return mismatch(node, "a step", "an object")
    }
    let timing = members.filter { $0.key == "at" || $0.key == "when" }
    if timing.isEmpty { fail(node.position, "a step lacks \"at\" (or \"when\")") }
    if timing.count > 1 {
      fail(timing[1].keyPosition, "a step has both \"at\" and \"when\"", length: 4)
    }
    for member in timing {
      check(
        member.value, member.key == "at" ? .duration : .object(ScenarioShape.trigger),
        label: "\"\(member.key)\"")
    }
    let actions = members.compactMap { member in
      ScenarioShape.action(named: member.key).map { (member, $0) }
    }
    guard let (member, action) = actions.first else {
      let known = ["at", "when"] + ScenarioShape.actions.map(\.key)
      let unknown = members.filter { !known.contains($0.key) }
      for member in unknown { unknownKey(member, of: "a step", known: known) }
      if unknown.isEmpty { fail(node.position, "a step does nothing: no action is named") }
      return
    }
    if actions.count > 1 {
      fail(
        actions[1].0.keyPosition,
        "a step has two actions, \"\(action.key)\" and \"\(actions[1].1.key)\"",
        length: actions[1].1.key.count + 2)
      return
    }
    check(member.value, action.shape, label: "\"\(action.key)\"")
    checkFields(
      members, action.companions, of: "a \"\(action.key)\" step", extra: ["at", "when", action.key])
  }

  private mutating func checkExpectation(_ node: ScriptNode) {
    guard case .object(let members) = node.content else {
      return mismatch(node, "an expectation", "an object")
    }
    guard let member = members.first else {
      return fail(node.position, "an expectation is empty", length: 2)
    }
    if members.count > 1 {
      fail(
        members[1].keyPosition, "an expectation has more than one key",
        length: members[1].key.count + 2)
    }
    guard let shape = ScenarioShape.expectation(named: member.key) else {
      return unknownKey(
        member, of: "an expectation", known: ScenarioShape.expectations.map(\.key))
    }
    check(member.value, shape.shape, label: "\"\(member.key)\"")
  }

  private static func suggestion(_ word: String, _ known: [String]) -> String? {
    if let nearest = Nearest.match(word, among: known) { return "did you mean \"\(nearest)\"?" }
    guard known.count <= 30 else { return nil }
    return "known here: \(known.joined(separator: ", "))"
  }
}

extension ScriptNode {
  var isObject: Bool {
    if case .object = content { return true }
    return false
  }
}

extension ValueShape {
  /// Whether the JSON type fits, without looking closer.
  func takes(_ node: ScriptNode) -> Bool {
    switch (self, node.content) {
    case (.any, _): return true
    case (.text, .string), (.name, .string), (.duration, .string), (.signedDuration, .string),
      (.size, .string), (.choice, .string):
      return true
    case (.integer, .number), (.boolean, .bool), (.list, .array), (.null, .null): return true
    case (.object, .object), (.anyObject, .object), (.map, .object), (.step, .object),
      (.expectation, .object), (.plan, .object):
      return true
    default: return false
    }
  }
}
