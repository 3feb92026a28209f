import JSONText

/// A fault plan (or a request pattern) that cannot be used: what is wrong, and where.
public struct FaultPlanError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The place in the text.
  public let position: JSONPosition
  /// A JSON pointer (RFC 6901) to the value; empty for the root or where there is no value.
  public let pointer: String
  /// What is wrong, without a full stop.
  public let message: String
  /// What was probably meant: the nearest key or word; nil when nothing is near.
  public let suggestion: String?

  init(_ message: String, at position: JSONPosition, pointer: String, suggestion: String? = nil) {
    self.position = position
    self.pointer = pointer
    self.message = message
    self.suggestion = suggestion
  }

  /// `line:column: message; did you mean "key"?`
  public var description: String {
    "\(position.line):\(position.column): \(messageWithSuggestion)"
  }

  /// The message, and the suggestion when there is one.
  public var messageWithSuggestion: String {
    suggestion.map { "\(message); did you mean \"\($0)\"?" } ?? message
  }

  /// The error as compilers print it: file and place, the line, and a caret below the place. Long
  /// lines are cut to a window around the place.
  public func rendered(file: String, source: [UInt8]) -> String {
    var text = "\(file):\(description)"
    let lines = source.split(separator: 0x0a, omittingEmptySubsequences: false)
    guard position.line >= 1, position.line <= lines.count else { return text }
    let line = String(decoding: lines[position.line - 1], as: UTF8.self)
    let scalars = Array(line.unicodeScalars.filter { $0 != "\r" })
    let start = max(0, position.column - 1 - FaultPlanError.window)
    let end = min(scalars.count, position.column - 1 + FaultPlanError.window)
    guard start <= end else { return text }
    var shown = String.UnicodeScalarView()
    // A tab would move the caret, so it is shown as a blank.
    shown.append(contentsOf: scalars[start..<end].map { $0 == "\t" ? " " : $0 })
    text += "\n  \(String(shown))\n  "
    text += String(repeating: " ", count: max(0, position.column - 1 - start)) + "^"
    return text
  }

  /// Characters shown on either side of the place.
  private static let window = 60
}

/// Finds what was probably meant by a word that is not known.
package enum Nearest {
  /// The known word with the fewest edits, if they are few enough to be a slip.
  package static func word(to word: String, among known: [String]) -> String? {
    let limit = max(1, min(3, word.utf8.count / 3 + 1))
    let lowered = Array(word.lowercased().utf8.prefix(longest))
    var best: (word: String, distance: Int)?
    for candidate in known {
      let distance = edits(lowered, Array(candidate.lowercased().utf8.prefix(longest)))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  /// Longer words are compared by their beginning.
  private static let longest = 64

  /// Insertions, deletions, replacements and swaps of neighbours between two words.
  private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        var cost = min(last[column + 1] + 1, current[column] + 1)
        cost = min(cost, last[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
