import JSONText

/// Writes one event as JSON, once: these bytes are sealed, stored, and joined into batches.
enum EventEncoder {
  /// Bytes after the payload: `,"sessionId":"…"}` with a session of 36 characters.
  static let tailBytes = 53

  /// The event up to and including its payload. The session follows with `finish`, because right
  /// after start it is not known yet.
  static func head(
    id: EventID, wallMs: Int64, type: String, payload: JSONObject
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes.append(contentsOf: #"{"id":""#.utf8)
    bytes.append(contentsOf: id.text)
    bytes.append(contentsOf: #"","ts":""#.utf8)
    Timestamp.append(wallMs, to: &bytes)
    bytes.append(contentsOf: #"","type":"#.utf8)
    JSONWriter.appendString(type, to: &bytes)
    bytes.append(contentsOf: #","payload":"#.utf8)
    JSONWriter.append(.object(payload), to: &bytes)
    return bytes
  }

  /// Completes what `head` began.
  static func finish(_ head: [UInt8], session: String) -> [UInt8] {
    var bytes = head
    bytes.reserveCapacity(head.count + tailBytes)
    bytes.append(contentsOf: #","sessionId":"#.utf8)
    JSONWriter.appendString(session, to: &bytes)
    bytes.append(0x7d)
    return bytes
  }

  /// The payload's members, then the defaults that it does not have.
  static func merging(_ payload: JSONObject, _ defaults: JSONObject) -> JSONObject {
    guard !defaults.isEmpty else { return payload }
    var merged = payload
    for (key, value) in defaults where merged[key] == nil { merged[key] = value }
    return merged
  }

  /// True where arrays and objects are nested deeper than `limit`, the payload itself being the
  /// first level. Goes no deeper than the limit, so any payload is safe on a small stack.
  static func isDeeper(_ payload: JSONObject, than limit: Int) -> Bool {
    guard limit > 0 else { return true }
    return payload.contains { isDeeper($0.value, levels: limit - 1) }
  }

  private static func isDeeper(_ value: JSONValue, levels: Int) -> Bool {
    switch value {
    case .null, .bool, .number, .string: return false
    case .array(let elements):
      return levels == 0 || elements.contains { isDeeper($0, levels: levels - 1) }
    case .object(let members):
      return levels == 0 || members.contains { isDeeper($0.value, levels: levels - 1) }
    }
  }
}
