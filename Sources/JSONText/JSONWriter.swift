/// Writes JSON text: always valid UTF-8, numbers by their literal.
public enum JSONWriter {
  /// The text of a value.
  ///
  /// - Parameters:
  ///   - pretty: two spaces a level, one member or element a line, no newline at the end.
  ///   - sortedKeys: members in the order of their keys' UTF-8 bytes.
  public static func bytes(
    _ value: JSONValue, pretty: Bool = false, sortedKeys: Bool = false
  ) -> [UInt8] {
    var target: [UInt8] = []
    write(value, to: &target, pretty: pretty, sortedKeys: sortedKeys)
    return target
  }

  /// Appends the compact text of a value.
  public static func append(_ value: JSONValue, to target: inout [UInt8]) {
    write(value, to: &target, pretty: false, sortedKeys: false)
  }

  /// Appends a string in quotation marks: `"`, `\` and the control characters escaped, all else
  /// as it is.
  public static func appendString(_ text: String, to target: inout [UInt8]) {
    var text = text
    // A string's own UTF-8 is always well-formed.
    text.withUTF8 { _ = appendString(utf8: $0, to: &target) }
  }

  /// The same for bytes from elsewhere. False where they are not well-formed UTF-8; what was
  /// appended is of no use then.
  package static func appendString(
    utf8: UnsafeBufferPointer<UInt8>, to target: inout [UInt8]
  ) -> Bool {
    target.append(0x22)
    let isWellFormed = appendEscaped(utf8, to: &target)
    target.append(0x22)
    return isWellFormed
  }

  /// Bytes that `appendString` writes, quotation marks included.
  package static func length(ofString utf8: UnsafeBufferPointer<UInt8>) -> Int {
    var length = utf8.count + 2
    var at = 0
    while true {
      at = JSONStrings.skipPlain(utf8, from: at)
      guard at < utf8.count else { return length }
      switch utf8[at] {
      case 0x80...: break
      case 0x22, 0x5c, 0x08, 0x09, 0x0a, 0x0c, 0x0d: length += 1
      default: length += 5
      }
      at += 1
    }
  }

  private static func appendEscaped(
    _ bytes: UnsafeBufferPointer<UInt8>, to target: inout [UInt8]
  ) -> Bool {
    var from = 0
    var at = 0
    while at < bytes.count {
      at = JSONStrings.skipPlain(bytes, from: at)
      guard at < bytes.count else { break }
      let byte = bytes[at]
      if byte >= 0x80 {
        let length = JSONStrings.scalarLength(bytes, at: at)
        guard length > 0 else { return false }
        at += length
        continue
      }
      target.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[from..<at]))
      appendEscape(byte, to: &target)
      at += 1
      from = at
    }
    target.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[from..<bytes.count]))
    return true
  }

  private static func appendEscape(_ byte: UInt8, to target: inout [UInt8]) {
    target.append(0x5c)
    switch byte {
    case 0x22, 0x5c: target.append(byte)
    case 0x08: target.append(UInt8(ascii: "b"))
    case 0x09: target.append(UInt8(ascii: "t"))
    case 0x0a: target.append(UInt8(ascii: "n"))
    case 0x0c: target.append(UInt8(ascii: "f"))
    case 0x0d: target.append(UInt8(ascii: "r"))
    default:
      target.append(contentsOf: "u00".utf8)
      target.append(byte < 0x10 ? 0x30 : 0x31)
      let low = byte & 15
      target.append(low < 10 ? 0x30 + low : 0x57 + low)
    }
  }
}

// MARK: - Containers, with a stack instead of recursion

extension JSONWriter {
  private enum Frame {
    case array(IndexingIterator<[JSONValue]>, isFirst: Bool)
    case object(IndexingIterator<[JSONObject.Member]>, isFirst: Bool)
  }

  private static func write(
    _ value: JSONValue, to target: inout [UInt8], pretty: Bool, sortedKeys: Bool
  ) {
    var stack: [Frame] = []
    var pending: JSONValue? = value
    while true {
      if let value = pending {
        pending = nil
        if let frame = open(value, to: &target, sortedKeys: sortedKeys) { stack.append(frame) }
      }
      guard let frame = stack.popLast() else { return }
      switch frame {
      case .array(var elements, let isFirst):
        pending = elements.next()
        separate(isFirst, pending == nil, stack.count, pretty, &target)
        if pending == nil {
          target.append(UInt8(ascii: "]"))
        } else {
          stack.append(.array(elements, isFirst: false))
        }
      case .object(var members, let isFirst):
        let member = members.next()
        separate(isFirst, member == nil, stack.count, pretty, &target)
        guard let member else {
          target.append(UInt8(ascii: "}"))
          continue
        }
        appendString(member.key, to: &target)
        target.append(UInt8(ascii: ":"))
        if pretty { target.append(0x20) }
        pending = member.value
        stack.append(.object(members, isFirst: false))
      }
    }
  }

  /// Writes a scalar or a container's opening; returns the frame that will write the rest.
  private static func open(
    _ value: JSONValue, to target: inout [UInt8], sortedKeys: Bool
  ) -> Frame? {
    switch value {
    case .null: target.append(contentsOf: "null".utf8)
    case .bool(let flag): target.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number): target.append(contentsOf: number.literal.utf8)
    case .string(let text): appendString(text, to: &target)
    case .array(let values):
      target.append(UInt8(ascii: "["))
      return .array(values.makeIterator(), isFirst: true)
    case .object(let object):
      target.append(UInt8(ascii: "{"))
      var members = object.members
      if sortedKeys {
        members.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      }
      return .object(members.makeIterator(), isFirst: true)
    }
    return nil
  }

  /// Writes what stands before the next element or before the closing bracket.
  private static func separate(
    _ isFirst: Bool, _ isEnd: Bool, _ depth: Int, _ pretty: Bool, _ target: inout [UInt8]
  ) {
    if !isFirst, !isEnd { target.append(UInt8(ascii: ",")) }
    guard pretty, !(isFirst && isEnd) else { return }
    target.append(0x0a)
    target.append(contentsOf: repeatElement(0x20, count: (isEnd ? depth : depth + 1) * 2))
  }
}
