import Foundation
import XCTest

/// The checkout's files, as the style tests read them.
enum Checkout {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  struct SourceFile {
    let path: String
    let text: String
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    var name: String { String(path.split(separator: "/").last ?? "") }
    /// `Sources/TelemetrySDK/Storage/X.swift` → `TelemetrySDK`.
    var module: String {
      let parts = path.split(separator: "/")
      return parts.count > 1 ? String(parts[1]) : ""
    }
  }

  /// All files below a folder whose names end so, in the order of their paths.
  static func files(below folder: String, suffix: String = ".swift") throws -> [SourceFile] {
    let base = root.appendingPathComponent(folder)
    guard let walker = FileManager.default.enumerator(atPath: base.path) else { return [] }
    var found: [SourceFile] = []
    for case let relative as String in walker
    where relative.hasSuffix(suffix) && !relative.contains(".build/") {
      var isFolder: ObjCBool = false
      let path = base.appendingPathComponent(relative).path
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      let text = try String(contentsOfFile: path, encoding: .utf8)
      found.append(SourceFile(path: "\(folder)/\(relative)", text: text))
    }
    return found.sorted { $0.path < $1.path }
  }

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// A line's code: what stands before a comment, string literals emptied.
  static func code(of line: Substring) -> String {
    var code = ""
    var inString = false
    var previous: Character = " "
    for character in line {
      if character == "\"" && previous != "\\" { inString.toggle() }
      if !inString && character == "/" && previous == "/" {
        code.removeLast()
        break
      }
      if !inString || character == "\"" { code.append(character) }
      previous = character
    }
    return code
  }

  /// True where the word stands in the code and is not the end of a longer name.
  static func code(_ code: String, calls word: String) -> Bool {
    var rest = code[...]
    while let range = rest.range(of: word) {
      let before =
        range.lowerBound > code.startIndex ? code[code.index(before: range.lowerBound)] : " "
      if !before.isLetter && !before.isNumber && before != "_" { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }
}
