import JSONText

/// One line of a history file, read field by field with errors that name the line.
struct HistoryFields {
  private let node: JSONNode
  private let line: Int

  init(_ bytes: [UInt8], line: Int, limits: JSONLimits) throws {
    do {
      node = try JSONDocument(parsing: bytes, limits: limits).root
    } catch {
      throw HistoryError(line: line, reason: "not JSON: \(error)")
    }
    self.line = line
    guard node.kind == .object else { throw self.error("expected an object") }
  }

  private init(node: JSONNode, line: Int) {
    self.node = node
    self.line = line
  }

  func error(_ reason: String) -> HistoryError { HistoryError(line: line, reason: reason) }
  func has(_ name: String) -> Bool { node[name] != nil }

  func text(_ name: String) throws -> String {
    guard let text = node[name]?.string else { throw missing(name, "a string") }
    return text
  }
  func bool(_ name: String) throws -> Bool {
    guard let bool = node[name]?.bool else { throw missing(name, "true or false") }
    return bool
  }
  func int64(_ name: String) throws -> Int64 {
    guard let number = node[name]?.number?.int64 else { throw missing(name, "an integer") }
    return number
  }
  func uint64(_ name: String) throws -> UInt64 {
    guard let number = node[name]?.number?.uint64 else { throw missing(name, "an integer from 0") }
    return number
  }
  func int(_ name: String) throws -> Int {
    guard let number = Int(exactly: try int64(name)) else { throw missing(name, "an integer") }
    return number
  }
  func texts(_ name: String) throws -> [String] {
    try array(name).map { element in
      guard let text = element.string else { throw missing(name, "an array of strings") }
      return text
    }
  }
  func ints(_ name: String) throws -> [Int] {
    try array(name).map { element in
      guard let number = element.number?.int64, let int = Int(exactly: number) else {
        throw missing(name, "an array of integers")
      }
      return int
    }
  }
  func objects(_ name: String) throws -> [HistoryFields] {
    try array(name).map { element in
      guard element.kind == .object else { throw missing(name, "an array of objects") }
      return HistoryFields(node: element, line: line)
    }
  }
  func counts(_ name: String) throws -> [(key: String, count: Int64)] {
    guard let object = node[name], object.kind == .object else {
      throw missing(name, "an object of integers")
    }
    return try object.members.map { member in
      guard let count = member.value.number?.int64 else {
        throw missing(name, "an object of integers")
      }
      return (member.key, count)
    }
  }

  private func array(_ name: String) throws -> [JSONNode] {
    guard let array = node[name], array.kind == .array else { throw missing(name, "an array") }
    return array.elements
  }

  private func missing(_ name: String, _ expected: String) -> HistoryError {
    error("\"\(name)\" must be \(expected)")
  }
}
