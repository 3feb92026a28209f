/// What a value of the plan may be. One definition serves the reader, the JSON schema and the
/// error texts.
indirect enum PlanShape: Sendable {
  case any
  case bool
  case string
  /// A regular expression.
  case pattern
  /// A JSONPath expression.
  case path
  /// An integer literal within the range.
  case integer(ClosedRange<Int64>)
  /// A seed: 0 to 2⁶⁴ − 1.
  case seed
  case number(ClosedRange<Double>)
  case duration
  /// Bytes, as text with a unit, up to a bound.
  case size(max: Int64)
  case choice([String])
  /// Base64 text.
  case base64
  case object(PlanObject)
  case array(PlanShape, minimum: Int)
  /// An object whose keys are free.
  case map(PlanShape)
  /// The first of these whose kind fits.
  case either([PlanShape])

  /// What was expected, for error texts.
  var expectation: String {
    switch self {
    case .any: return "any value"
    case .bool: return "true or false"
    case .string: return "a string"
    case .pattern: return "a regular expression"
    case .path: return "a JSONPath expression"
    case .integer(let range):
      return range.upperBound == .max
        ? "an integer from \(range.lowerBound)"
        : "an integer from \(range.lowerBound) to \(range.upperBound)"
    case .seed: return "an integer from 0 to 18446744073709551615"
    case .number(let range):
      return range.upperBound == .infinity
        ? "a number from \(PlanShape.short(range.lowerBound))"
        : "a number from \(PlanShape.short(range.lowerBound)) to "
          + PlanShape.short(range.upperBound)
    case .duration: return "a duration like \"80ms\" or \"1h30m\""
    case .size(let max): return "a size like \"256KB\" up to \(max) bytes"
    case .choice(let words): return PlanShape.list(words.map { "\"\($0)\"" })
    case .base64: return "base64 text"
    case .object(let object): return "an object (\(object.name))"
    case .array: return "an array"
    case .map: return "an object"
    case .either(let shapes): return PlanShape.list(shapes.map(\.expectation))
    }
  }

  static func short(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
  }

  static func list(_ items: [String]) -> String {
    guard let last = items.last, items.count > 1 else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " or " + last
  }
}

/// One key of an object of the plan.
struct PlanKey: Sendable {
  let name: String
  let shape: PlanShape
  let isRequired: Bool
  /// One sentence for the schema and the reference page.
  let about: String
  /// The default as JSON text, for the schema and the reference page.
  let standard: String?

  init(
    _ name: String, _ shape: PlanShape, required: Bool = false, default standard: String? = nil,
    _ about: String
  ) {
    self.name = name
    self.shape = shape
    self.isRequired = required
    self.about = about
    self.standard = standard
  }
}

/// An object of the plan with its known keys.
struct PlanObject: Sendable {
  let name: String
  let about: String
  let keys: [PlanKey]
  /// At most one of each group may be given.
  var exclusive: [[String]] = []

  func key(_ name: String) -> PlanKey? { keys.first { $0.name == name } }
}
