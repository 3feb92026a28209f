import Foundation

/// A regular expression that must match a whole text.
struct TextPattern: Sendable {
  let source: String
  private let expression: NSRegularExpression

  init(_ source: String) throws {
    self.source = source
    do {
      // Alone first: a stray ")" would be balanced by the group. Foundation refuses empty ones.
      if !source.isEmpty { _ = try NSRegularExpression(pattern: source) }
      expression = try NSRegularExpression(pattern: "\\A(?:\(source))\\z")
    } catch {
      throw QuantityError(description: "\"\(source)\" is not a regular expression")
    }
  }

  func matches(_ text: String) -> Bool {
    let whole = NSRange(text.startIndex..<text.endIndex, in: text)
    return expression.firstMatch(in: text, range: whole) != nil
  }
}

/// What a text must be: every given condition holds.
struct StringMatcher: Sendable {
  enum Condition: Sendable {
    case equalTo(String)
    case equalToIgnoringCase(String)
    case contains(String)
    case doesNotContain(String)
    case matches(TextPattern)
    case doesNotMatch(TextPattern)
    case absent
    case present
  }
  let conditions: [Condition]

  /// Whether one text fits; nil is a text that is not there.
  func holds(_ text: String?) -> Bool {
    conditions.allSatisfy { condition in
      guard let text else {
        if case .absent = condition { return true }
        return false
      }
      switch condition {
      case .equalTo(let other): return Array(text.utf8) == Array(other.utf8)
      case .equalToIgnoringCase(let other): return text.lowercased() == other.lowercased()
      case .contains(let part): return text.contains(part)
      case .doesNotContain(let part): return !text.contains(part)
      case .matches(let pattern): return pattern.matches(text)
      case .doesNotMatch(let pattern): return !pattern.matches(text)
      case .absent: return false
      case .present: return true
      }
    }
  }

  /// Whether one of several texts fits, or none is there and none is asked for.
  func holds(anyOf texts: [String]) -> Bool {
    texts.isEmpty ? holds(nil) : texts.contains { holds($0) }
  }
}
