import JSONText

/// Turns any `Encodable` into a JSON value, by fixed mappings that no setting changes.
///
/// | Swift | JSON |
/// |---|---|
/// | `Bool` | `true`, `false` |
/// | integers, up to `Int64` and `UInt64` | the exact digits |
/// | `Double`, `Float` | the shortest literal that reads back as the same number |
/// | NaN, ±infinity | `null`, reported |
/// | `Decimal` | its digits; NaN is `null`, reported |
/// | `String` | itself; ill-formed Unicode becomes U+FFFD |
/// | `Date` | ISO 8601 in UTC with milliseconds, rounded to the nearest; beyond the years 0 to 9999 the nearest of these; NaN is `null`, reported |
/// | `URL` | its absolute string |
/// | `UUID` | upper case, as `uuidString` |
/// | `Data` | base64 with padding |
/// | `JSONValue`, `JSONObject` | themselves |
/// | dictionaries of `String`, `Int` or `CodingKeyRepresentable` keys | objects, sorted by key |
/// | dictionaries of other keys | arrays of key, value, key, value … in no order |
/// | nil | `null`; synthesized code leaves the member out |
/// | what asks for a container and writes nothing | `{}` or `[]` |
/// | what encodes nothing at all, nested | `{}` |
///
/// A key that is written twice keeps its first place and its last value.
enum ValueEncoder {
  /// A value, and where something in it had no JSON form.
  struct Output {
    var value: JSONValue
    /// Paths of values that became null; the first ones.
    var replaced: [String]
    /// How many there were.
    var replacedCount: Int
  }

  /// Calls of `encode(to:)` inside one another that open no container (optionals, raw values,
  /// wrappers), over the container depth. Ends types that encode themselves without end.
  static let extraHops = 64
  /// Paths kept of one value.
  static let keptPaths = 8

  /// Encodes a value whose containers are nested at most `maxDepth` levels, itself being the first.
  static func encode(
    _ value: some Encodable, maxDepth: Int
  ) -> Result<Output, EncodingFault> {
    let context = EncodingContext(maxDepth: maxDepth)
    do {
      guard let json = try context.value(value, at: [], depth: 0) else {
        return .failure(EncodingFault(kind: .nothing, path: ""))
      }
      return .success(
        Output(
          value: json, replaced: context.replaced, replacedCount: context.replacedCount))
    } catch let fault as EncodingFault {
      return .failure(fault)
    } catch {
      return .failure(EncodingFault(kind: .threw(String(describing: type(of: error))), path: ""))
    }
  }
}

/// Why a value has no JSON form, and where.
struct EncodingFault: Error, Equatable {
  enum Kind: Equatable {
    /// Containers, or `encode(to:)` calls, are nested too deep.
    case tooDeep
    /// `encode(to:)` returned without having written anything.
    case nothing
    /// One encoder was given two values.
    case twice
    /// `encode(to:)` threw an error of this type.
    case threw(String)
  }

  var kind: Kind
  /// Keys from the payload down, e.g. `trips[3].mode`; empty where it is the payload itself.
  var path: String

  var reason: RejectReason { kind == .tooDeep ? .tooDeep : .notEncodable }

  /// In words, without any value.
  var why: String {
    switch kind {
    case .tooDeep: return "nested too deep"
    case .nothing: return "encoded nothing"
    case .twice: return "encoded two values in one place"
    case .threw(let type): return "threw \(type)"
    }
  }
}

/// What one encoding shares: limits, the first fault, and what was replaced. On one thread.
final class EncodingContext {
  let maxDepth: Int
  private var hops = 0
  private let stack = StackBudget()
  /// The first fault; stays even where the encoded type catches what was thrown.
  private(set) var fault: EncodingFault?
  private(set) var replaced: [String] = []
  private(set) var replacedCount = 0

  init(maxDepth: Int) { self.maxDepth = maxDepth }

  /// Encodes a value that stands inside `depth` containers. Nil where it encoded nothing.
  func value<Value: Encodable>(
    _ value: Value, at path: @autoclosure () -> [CodingKey], depth: Int
  ) throws -> JSONValue? {
    try check()
    if let mapped = scalar(value, at: path) { return mapped }
    hops += 1
    defer { hops -= 1 }
    let path = path()
    guard hops <= maxDepth + ValueEncoder.extraHops, !stack.isSpent else {
      throw fail(.tooDeep, at: path)
    }
    let slot = Slot()
    try value.encode(
      to: SlotEncoder(slot: slot, codingPath: path, context: self, depth: depth))
    try check()
    if slot.kind == .members, value is any KeyedCollection { slot.sortMembers() }
    return slot.finished()
  }

  func check() throws { if let fault { throw fault } }

  /// Keeps the first fault, and returns it to be thrown.
  @discardableResult
  func fail(_ kind: EncodingFault.Kind, at path: [CodingKey]) -> EncodingFault {
    let first = fault ?? EncodingFault(kind: kind, path: EncodingPath.text(path))
    fault = first
    return first
  }

  /// Notes that a value became null.
  func replace(at path: [CodingKey]) -> JSONValue {
    replacedCount += 1
    if replaced.count < ValueEncoder.keptPaths { replaced.append(EncodingPath.text(path)) }
    return .null
  }
}

/// Writes coding paths for people.
enum EncodingPath {
  /// Bytes of a path; keys can be as long as the app likes.
  static let maxBytes = 200

  static func text(_ path: [CodingKey]) -> String {
    var text = ""
    for key in path {
      if let index = key as? IndexKey {
        text += "[\(index.index)]"
      } else {
        text += text.isEmpty ? key.stringValue : "." + key.stringValue
      }
      // What is cut off below need not be written.
      if text.utf8.count > maxBytes { break }
    }
    return BoundedText.prefix(text, maxBytes: maxBytes)
  }
}

/// The place of an element in an unkeyed container.
struct IndexKey: CodingKey {
  let index: Int
  var stringValue: String { "\(index)" }
  var intValue: Int? { index }
  init(_ index: Int) { self.index = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { index = intValue }
}

/// The place that `superEncoder()` names.
struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }
  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}

/// A collection whose iteration order says nothing, so that its members are sorted.
protocol KeyedCollection {}
extension Dictionary: KeyedCollection {}
