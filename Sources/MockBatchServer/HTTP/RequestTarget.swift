/// The grammar of request targets and `Host` values (RFC 9112 section 3.2, RFC 3986).
enum RequestTarget {
  /// Whether the target has a form that the method allows.
  static func isValid(_ target: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer) -> Bool {
    guard let first = target.first else { return false }
    if isMethod(method, "CONNECT") { return isHost(target) && !target.isEmpty }
    if first == UInt8(ascii: "*") { return target.count == 1 && isMethod(method, "OPTIONS") }
    if first == UInt8(ascii: "/") { return isPathAndQuery(target, from: 0) }
    return isAbsolute(target)
  }

  /// Whether a `Host` value is `uri-host [":" port]`; empty is allowed.
  static func isHost(_ value: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    if value.first == UInt8(ascii: "[") {
      index = 1
      while index < value.count, isLiteralByte(value[index]) { index += 1 }
      guard index > 2, index < value.count, value[index] == UInt8(ascii: "]") else { return false }
      index += 1
    } else {
      while index < value.count, value[index] != UInt8(ascii: ":") {
        guard isRegisteredName(value, at: &index) else { return false }
      }
    }
    guard index < value.count else { return true }
    guard value[index] == UInt8(ascii: ":") else { return false }
    return value[(index + 1)...].allSatisfy(ASCII.isDigit)
  }

  private static func isMethod(_ method: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
    method.elementsEqual(name.asciiBytes)
  }

  /// `scheme "://" authority path-abempty [ "?" query ]`, http and https only.
  private static func isAbsolute(_ target: UnsafeRawBufferPointer) -> Bool {
    let start: Int
    if hasPrefix(target, "http://") {
      start = 7
    } else if hasPrefix(target, "https://") {
      start = 8
    } else {
      return false
    }
    var end = start
    while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") {
      end += 1
    }
    guard end > start, isHost(UnsafeRawBufferPointer(rebasing: target[start..<end])) else {
      return false
    }
    return isPathAndQuery(target, from: end)
  }

  private static func hasPrefix(
    _ target: UnsafeRawBufferPointer, _ prefix: StaticString
  ) -> Bool {
    let count = prefix.utf8CodeUnitCount
    guard target.count >= count else { return false }
    return ASCII.equalIgnoringCase(
      UnsafeRawBufferPointer(rebasing: target[..<count]), UnsafeRawBufferPointer(prefix.asciiBytes))
  }

  private static func isPathAndQuery(_ target: UnsafeRawBufferPointer, from start: Int) -> Bool {
    var index = start
    while index < target.count {
      let byte = target[index]
      if byte == UInt8(ascii: "%") {
        guard isEscape(target, at: index) else { return false }
        index += 3
      } else {
        guard isPathByte(byte) else { return false }
        index += 1
      }
    }
    return true
  }

  private static func isEscape(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
    index + 2 < bytes.count && ASCII.hexValue(bytes[index + 1]) != nil
      && ASCII.hexValue(bytes[index + 2]) != nil
  }

  /// `pchar`, `/` and `?`: visible ASCII without `"#<>[\]^` `` ` `` `{|}` and `%`.
  @inline(__always)
  private static func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x24, 0x26...0x3b, 0x3d, 0x3f...0x5a, 0x5f, 0x61...0x7a, 0x7e: return true
    default: return false
    }
  }

  private static func isRegisteredName(_ value: UnsafeRawBufferPointer, at index: inout Int) -> Bool
  {
    let byte = value[index]
    if byte == UInt8(ascii: "%") {
      guard isEscape(value, at: index) else { return false }
      index += 3
      return true
    }
    guard isPathByte(byte), byte != UInt8(ascii: "/"), byte != UInt8(ascii: "?"),
      byte != UInt8(ascii: "@")
    else { return false }
    index += 1
    return true
  }

  /// What stands between the brackets of an IPv6 literal; a zone is not part of the grammar.
  private static func isLiteralByte(_ byte: UInt8) -> Bool {
    ASCII.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }
}
