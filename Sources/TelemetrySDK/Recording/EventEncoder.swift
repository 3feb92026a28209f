import JSONText

/// Writes an event as the JSON of the wire: what goes into a batch, byte for byte.
package enum EventEncoder {
  /// Bytes after the payload: `,"sessionId":"…"}` with a session of 36 characters.
  static let tailBytes = fixedTailBytes + 38
  /// Bytes of an event beside its type, payload and session, before and after the payload's end.
  static let fixedHeadBytes = 95
  static let fixedTailBytes = 14

  static let beforePayload = Array(#","payload":"#.utf8)
  static let beforeSession = Array(#","sessionId":"#.utf8)

  /// An event as a whole.
  package static func json(
    id: EventID, wallMs: Int64, type: String, payload: JSONObject, session: String
  ) -> [UInt8] {
    finish(head(id: id, wallMs: wallMs, type: type, payload: payload), session: session)
  }

  /// What stands before the type.
  static func appendOpening(id: EventID, wallMs: Int64, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: #"{"id":""#.utf8)
    id.appendText(to: &bytes)
    bytes.append(contentsOf: #"","ts":""#.utf8)
    Timestamp.append(wallMs, to: &bytes)
    bytes.append(contentsOf: #"","type":"#.utf8)
  }

  /// The event up to and including its payload. The session follows with `finish`.
  static func head(
    id: EventID, wallMs: Int64, type: String, payload: JSONObject
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    appendOpening(id: id, wallMs: wallMs, to: &bytes)
    JSONWriter.appendString(type, to: &bytes)
    bytes.append(contentsOf: beforePayload)
    JSONWriter.append(.object(payload), to: &bytes)
    return bytes
  }

  /// Completes what `head` began.
  static func finish(_ head: [UInt8], session: String) -> [UInt8] {
    var bytes = head
    bytes.reserveCapacity(head.count + tailBytes)
    bytes.append(contentsOf: beforeSession)
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
}
