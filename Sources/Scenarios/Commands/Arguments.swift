/// A command line that cannot be used: one line for the reader. Nothing has run.
struct UsageError: Error, Sendable, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// Options and paths of a command line, strictly: unknown options are errors.
struct Arguments {
  /// Options with a value may stand as `--name value` or `--name=value`.
  private(set) var values: [String: [String]] = [:]
  private(set) var flags: Set<String> = []
  private(set) var paths: [String] = []

  init(_ words: [String], valued: [String], flags known: [String]) throws {
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), word.count > 2 else {
        paths.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      let name = parts[0]
      if known.contains(name), parts.count == 1 {
        flags.insert(name)
      } else if valued.contains(name) {
        guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
          throw UsageError("\(name) needs a value")
        }
        values[name, default: []].append(value)
      } else {
        let hint = Nearest.match(name, among: valued + known).map { ", did you mean \($0)?" } ?? ""
        throw UsageError("unknown option \(name)\(hint)")
      }
    }
  }

  func value(_ name: String) -> String? { values[name]?.last }

  func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
    guard let text = value(name) else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw UsageError(
        "\(name) is \"\(text)\", expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
