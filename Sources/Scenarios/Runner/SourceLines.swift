import Foundation

/// Lines of a script, for carets in reports.
struct SourceLines {
  /// Characters of a line kept at most.
  private static let maxLength = 4000
  private let lines: [Substring]

  init(file: String) {
    // A file that vanished after parsing only costs the caret.
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Counted from 1; empty where there is none.
  func line(_ number: Int) -> String {
    guard lines.indices.contains(number - 1) else { return "" }
    return String(lines[number - 1].prefix(SourceLines.maxLength))
  }
}
