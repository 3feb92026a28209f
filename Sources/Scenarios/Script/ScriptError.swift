import JSONText

/// One mistake in a script, with the place a reader has to look at.
package struct ScriptError: Error, Sendable, Hashable {
  /// As given on the command line, so that terminals can jump to it.
  package var file: String
  package var position: JSONPosition
  /// Characters under the caret.
  package var length: Int
  package var message: String
  /// What was probably meant, e.g. the nearest known key.
  package var hint: String?

  package init(
    file: String, position: JSONPosition, length: Int = 1, message: String, hint: String? = nil
  ) {
    self.file = file
    self.position = position
    self.length = length
    self.message = message
    self.hint = hint
  }
}

/// Every mistake found in one script, in the order of the text. Never empty.
package struct ScriptErrors: Error, Sendable {
  package var errors: [ScriptError]
  /// The text the positions refer to; empty where the file could not be read.
  package var source: [UInt8]

  package init(errors: [ScriptError], source: [UInt8]) {
    self.errors = errors.sorted {
      $0.position.offset < $1.position.offset
    }
    self.source = source
  }

  /// `file:line:column: message`, the line, a caret, the hint: for every mistake.
  package var rendered: String {
    let text = SourceText(source)
    return errors.map { text.render($0) }.joined()
  }
}

/// A script's text, cut into lines for the display of mistakes.
struct SourceText {
  /// Characters of a line shown at most; longer ones are cut to a window around the caret.
  static let windowWidth = 96

  private let lines: [[Unicode.Scalar]]

  init(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    var lines: [[Unicode.Scalar]] = [[]]
    for scalar in text.unicodeScalars {
      if scalar == "\n" { lines.append([]) } else { lines[lines.count - 1].append(scalar) }
    }
    self.lines = lines
  }

  func render(_ error: ScriptError) -> String {
    let place = "\(error.file):\(error.position.line):\(error.position.column)"
    var text = "\(place): \(error.message)\n"
    let index = error.position.line - 1
    if lines.indices.contains(index), !lines[index].isEmpty {
      text += excerpt(lines[index], column: error.position.column, length: error.length)
    }
    if let hint = error.hint { text += "  hint: \(hint)\n" }
    return text
  }

  private func excerpt(_ line: [Unicode.Scalar], column: Int, length: Int) -> String {
    let caret = min(max(column - 1, 0), line.count)
    var start = 0
    var end = line.count
    if line.count > SourceText.windowWidth {
      start = max(0, min(caret - SourceText.windowWidth / 3, line.count - SourceText.windowWidth))
      end = min(line.count, start + SourceText.windowWidth)
    }
    var shown = start > 0 ? "…" : ""
    let before = shown.unicodeScalars.count + caret - start
    for scalar in line[start..<end] {
      // Tabs and control characters would move the caret away from its character.
      shown.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
    }
    if end < line.count { shown += "…" }
    let width = max(1, min(length, end - caret))
    return "    \(shown)\n    \(String(repeating: " ", count: before))"
      + "\(String(repeating: "^", count: width))\n"
  }
}
