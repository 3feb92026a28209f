/// The line in front of a chunk: size and extensions (RFC 9112 section 7.1).
enum ChunkSize {
  /// Sixteen hexadecimal digits are all that 64 bits hold.
  private static let maxDigits = 16

  /// Reads a line without its CRLF; the size, or the failure.
  static func parse(_ line: UnsafeRawBufferPointer) throws -> UInt64 {
    var size: UInt64 = 0
    var index = 0
    while index < line.count, let digit = ASCII.hexValue(line[index]) {
      guard index < maxDigits else { throw HTTPFailure(400, "A chunk size is too large.") }
      size = size << 4 | digit
      index += 1
    }
    guard index > 0 else { throw HTTPFailure(400, "A chunk size is not a number.") }
    try checkExtensions(line, from: index)
    return size
  }

  /// `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`
  private static func checkExtensions(_ line: UnsafeRawBufferPointer, from start: Int) throws {
    var index = start
    while index < line.count {
      skipBlanks(line, &index)
      guard take(line, &index, UInt8(ascii: ";")) else { throw malformed }
      skipBlanks(line, &index)
      guard skipToken(line, &index) else { throw malformed }
      let behindName = index
      skipBlanks(line, &index)
      guard take(line, &index, UInt8(ascii: "=")) else {
        index = behindName
        continue
      }
      skipBlanks(line, &index)
      if index < line.count, line[index] == UInt8(ascii: "\"") {
        guard skipQuoted(line, &index) else { throw malformed }
      } else {
        guard skipToken(line, &index) else { throw malformed }
      }
    }
  }

  private static var malformed: HTTPFailure { HTTPFailure(400, "A chunk extension is malformed.") }

  private static func skipBlanks(_ line: UnsafeRawBufferPointer, _ index: inout Int) {
    while index < line.count, ASCII.isBlank(line[index]) { index += 1 }
  }

  private static func take(
    _ line: UnsafeRawBufferPointer, _ index: inout Int, _ byte: UInt8
  ) -> Bool {
    guard index < line.count, line[index] == byte else { return false }
    index += 1
    return true
  }

  private static func skipToken(_ line: UnsafeRawBufferPointer, _ index: inout Int) -> Bool {
    let start = index
    while index < line.count, ASCII.isToken(line[index]) { index += 1 }
    return index > start
  }

  private static func skipQuoted(_ line: UnsafeRawBufferPointer, _ index: inout Int) -> Bool {
    index += 1
    while index < line.count {
      let byte = line[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\") {
        guard index < line.count, ASCII.isFieldContent(line[index]) else { return false }
        index += 1
      } else if !ASCII.isFieldContent(byte) {
        return false
      }
    }
    return false
  }
}
