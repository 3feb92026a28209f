import JSONText

/// The part of JSONPath (RFC 9535) that request patterns use: `$`, `.name`, `['name']`, `[0]`,
/// `[-1]`, `[*]`, `..name`, and filters `[?(@.a.b == 'x')]` with `== != < <= > >=` or existence.
struct JSONPath: Sendable {
  indirect enum Segment: Sendable {
    case name(String)
    case index(Int)
    case wildcard
    case descendants(Segment)
    case filter(JSONPath, Comparison?)
  }
  struct Comparison: Sendable {
    let sign: String
    let value: JSONValue
  }
  let segments: [Segment]

  init(_ text: String) throws {
    var parser = JSONPathParser(text)
    segments = try parser.parse()
  }

  init(segments: [Segment]) { self.segments = segments }

  /// Values that one look may come to. A few `..` in a row multiply with the depth of the text.
  static let maxVisits = 1_000_000

  /// The values found, in the order of the text; nil where the look comes to too many.
  func values(in root: JSONValue) -> [JSONValue]? {
    var visits = 0
    return values(in: root, &visits)
  }

  private func values(in root: JSONValue, _ visits: inout Int) -> [JSONValue]? {
    var found = [root]
    for segment in segments {
      var next: [JSONValue] = []
      for value in found {
        guard JSONPath.step(segment, value, into: &next, &visits) else { return nil }
      }
      found = next
    }
    return found
  }

  /// False where the look comes to too many.
  private static func step(
    _ segment: Segment, _ value: JSONValue, into found: inout [JSONValue], _ visits: inout Int
  ) -> Bool {
    visits += 1
    guard visits <= maxVisits else { return false }
    switch segment {
    case .name(let name):
      if let member = value.objectValue?[name] { found.append(member) }
    case .index(let index):
      guard let items = value.arrayValue else { return true }
      let at = index < 0 ? items.count + index : index
      if items.indices.contains(at) { found.append(items[at]) }
    case .wildcard:
      let all = children(value)
      visits += all.count
      found += all
    case .descendants(let inner):
      guard step(inner, value, into: &found, &visits) else { return false }
      for child in children(value) {
        guard step(segment, child, into: &found, &visits) else { return false }
      }
    case .filter(let path, let comparison):
      for child in children(value) {
        guard let values = path.values(in: child, &visits) else { return false }
        let holds = comparison.map { values.contains(where: $0.holds) } ?? !values.isEmpty
        if holds { found.append(child) }
      }
    }
    return true
  }

  private static func children(_ value: JSONValue) -> [JSONValue] {
    value.arrayValue ?? value.objectValue?.map { $0.1 } ?? []
  }
}

extension JSONPath.Comparison {
  func holds(_ found: JSONValue) -> Bool {
    switch sign {
    case "==": return same(found)
    case "!=": return !same(found)
    default: break
    }
    if let left = found.doubleValue, let right = value.doubleValue { return ordered(left, right) }
    if let left = found.stringValue, let right = value.stringValue { return ordered(left, right) }
    return false
  }

  private func same(_ found: JSONValue) -> Bool {
    if let left = found.doubleValue, let right = value.doubleValue { return left == right }
    return found == value
  }

  private func ordered<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch sign {
    case "<": return left < right
    case "<=": return left <= right
    case ">": return left > right
    default: return left >= right
    }
  }
}

/// Reads a JSONPath expression.
struct JSONPathParser {
  private let text: String
  private let scalars: [Unicode.Scalar]
  private var at = 0

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  mutating func parse() throws -> [JSONPath.Segment] {
    guard take("$") else { throw fault("starts with \"$\"") }
    let segments = try self.segments()
    guard at == scalars.count else { throw fault("goes on with \".\" or \"[\"") }
    return segments
  }

  private mutating func segments() throws -> [JSONPath.Segment] {
    var found: [JSONPath.Segment] = []
    while at < scalars.count {
      if take("..") {
        found.append(.descendants(peek("[") ? try bracket() : try dotName()))
      } else if take(".") {
        found.append(try dotName())
      } else if peek("[") {
        found.append(try bracket())
      } else {
        break
      }
      guard found.count <= JSONPathParser.maxSegments else { throw fault("is short") }
    }
    return found
  }

  private static let maxSegments = 32

  private mutating func dotName() throws -> JSONPath.Segment {
    if take("*") { return .wildcard }
    var name = String.UnicodeScalarView()
    while at < scalars.count, isNameScalar(scalars[at]) {
      name.append(scalars[at])
      at += 1
    }
    guard !name.isEmpty else { throw fault("has a name behind \".\"") }
    return .name(String(name))
  }

  private func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
      || scalar == "-" || scalar == "$"
  }

  private mutating func bracket() throws -> JSONPath.Segment {
    _ = take("[")
    let segment: JSONPath.Segment
    if take("*") {
      segment = .wildcard
    } else if take("?(") {
      segment = try filter()
      guard take(")") else { throw fault("closes \"?(\"") }
    } else if let quoted = try quoted() {
      segment = .name(quoted)
    } else if let index = integer() {
      segment = .index(index)
    } else {
      throw fault("has a name, an index, * or a filter in brackets")
    }
    guard take("]") else { throw fault("closes \"[\"") }
    return segment
  }

  private mutating func filter() throws -> JSONPath.Segment {
    skipBlanks()
    guard take("@") else { throw fault("has a filter that starts with \"@\"") }
    let path = JSONPath(segments: try segments())
    skipBlanks()
    for sign in ["==", "!=", "<=", ">=", "<", ">"] where take(sign) {
      skipBlanks()
      let value = try literal()
      skipBlanks()
      return .filter(path, JSONPath.Comparison(sign: sign, value: value))
    }
    return .filter(path, nil)
  }

  private mutating func literal() throws -> JSONValue {
    if let text = try quoted() { return .string(text) }
    var word = String.UnicodeScalarView()
    while at < scalars.count, scalars[at] != ")", scalars[at] != " " {
      word.append(scalars[at])
      at += 1
    }
    do {
      return try JSONValue.parse(String(word))
    } catch {
      throw fault("compares with text in quotes, a number, true, false or null")
    }
  }

  private mutating func quoted() throws -> String? {
    guard at < scalars.count, scalars[at] == "'" || scalars[at] == "\"" else { return nil }
    let quote = scalars[at]
    at += 1
    var name = String.UnicodeScalarView()
    while at < scalars.count, scalars[at] != quote {
      if scalars[at] == "\\", at + 1 < scalars.count { at += 1 }
      name.append(scalars[at])
      at += 1
    }
    guard at < scalars.count else { throw fault("closes its quotes") }
    at += 1
    return String(name)
  }

  private mutating func integer() -> Int? {
    var digits = ""
    if peek("-") {
      digits = "-"
      at += 1
    }
    while at < scalars.count, ("0"..."9").contains(scalars[at]) {
      digits.unicodeScalars.append(scalars[at])
      at += 1
    }
    return Int(digits)
  }

  private mutating func skipBlanks() { while take(" ") {} }

  private func peek(_ word: String) -> Bool {
    scalars[at...].starts(with: word.unicodeScalars)
  }

  private mutating func take(_ word: String) -> Bool {
    guard peek(word) else { return false }
    at += word.unicodeScalars.count
    return true
  }

  private func fault(_ rule: String) -> QuantityError {
    QuantityError(description: "\"\(text)\" is not a JSONPath expression that \(rule)")
  }
}
