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

  /// Whether the whole text fits; nil when that takes more steps than it has left. Nested
  /// repetitions can take more steps than anybody has time for.
  ///
  /// - Parameter reportsLeft: how often the expression may report that it is still at work (which it
  ///   does every ten thousand steps); what was used is taken off.
  func matches(_ text: String, _ reportsLeft: inout Int) -> Bool? {
    let whole = NSRange(text.startIndex..<text.endIndex, in: text)
    var fits: Bool? = false
    var left = reportsLeft
    let options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
    expression.enumerateMatches(in: text, options: options, range: whole) { match, flags, stop in
      if match != nil {
        fits = true
        stop.pointee = true
      } else if flags.contains(.internalError) {
        // Its stack is full.
        fits = nil
      } else if flags.contains(.progress) {
        left -= 1
        guard left <= 0 else { return }
        fits = nil
        stop.pointee = true
      }
    }
    reportsLeft = max(0, left)
    return fits
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

  /// Whether one text fits; nil is a text that is not there. What is too costly to find out does
  /// not fit, and `view` remembers.
  func holds(_ text: String?, in view: RequestView) -> Bool {
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
      case .matches(let pattern): return view.fits(text, pattern) == true
      case .doesNotMatch(let pattern): return view.fits(text, pattern) == false
      case .absent: return false
      case .present: return true
      }
    }
  }

  /// Whether one of several texts fits, or none is there and none is asked for.
  func holds(anyOf texts: [String], in view: RequestView) -> Bool {
    texts.isEmpty ? holds(nil, in: view) : texts.contains { holds($0, in: view) }
  }
}
