import JSONText

/// One message on the bridge between a device's intercepted requests and the runner's engine:
/// length (4 bytes, big endian), kind (1), stream (4), then the content.
struct BridgeFrame: Sendable, Equatable {
  enum Kind: UInt8, Sendable {
    /// Device → runner: head as a JSON line, then the body.
    case request = 1
    /// Device → runner: the client has gone away.
    case cancel = 2
    /// Runner → device: head as a JSON line, then the whole body.
    case answer = 3
    /// Runner → device: no answer; the content is a `URLError` code in digits.
    case failure = 4
  }

  /// Larger ones mean that the stream is broken.
  static let maxBytes = 64_000_000
  static let headBytes = 9

  var kind: Kind
  var stream: UInt32
  var content: [UInt8]

  var bytes: [UInt8] {
    BridgeFrame.number(UInt32(content.count)) + [kind.rawValue] + BridgeFrame.number(stream)
      + content
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  /// Takes whole frames off the front of a buffer. Nil where the stream is broken.
  static func take(from buffer: inout [UInt8]) -> [BridgeFrame]? {
    var frames: [BridgeFrame] = []
    var start = 0
    while buffer.count - start >= headBytes {
      func number(_ at: Int) -> Int {
        buffer[(start + at)..<(start + at + 4)].reduce(0) { $0 << 8 | Int($1) }
      }
      let length = number(0)
      guard length <= maxBytes, let kind = Kind(rawValue: buffer[start + 4]) else { return nil }
      guard buffer.count - start >= headBytes + length else { break }
      let content = Array(buffer[(start + headBytes)..<(start + headBytes + length)])
      frames.append(BridgeFrame(kind: kind, stream: UInt32(number(5)), content: content))
      start += headBytes + length
    }
    buffer.removeFirst(start)
    return frames
  }

  /// A JSON head, a line end, a body.
  static func content(head: JSONObject, body: [UInt8]) -> [UInt8] {
    JSONWriter.bytes(.object(head)) + [0x0a] + body
  }

  /// Head and body; nil where the content is not of that form.
  var parts: (head: JSONValue, body: [UInt8])? {
    guard let end = content.firstIndex(of: 0x0a) else { return nil }
    // A head that is no JSON means a broken stream; the caller ends it.
    guard let head = try? JSONValue.parse(Array(content[..<end])) else { return nil }
    return (head, Array(content[(end + 1)...]))
  }

  static func headers(_ list: [(name: String, value: String)]) -> JSONValue {
    .array(list.map { .array([.string($0.name), .string($0.value)]) })
  }

  static func headers(_ value: JSONValue?) -> [(name: String, value: String)] {
    (value?.arrayValue ?? []).compactMap { pair in
      guard let name = pair[0]?.stringValue, let value = pair[1]?.stringValue else { return nil }
      return (name, value)
    }
  }
}
