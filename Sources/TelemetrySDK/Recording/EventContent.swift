import JSONText

/// What an event says, as it lies under the seal, in one of two forms that the first byte tells
/// apart: the JSON of the wire, or the compact form that `CompactForm` describes.
///
/// The compact form leaves out what the record around it knows already, the event's id and its
/// time, so that its JSON is written when it is read: byte for byte what `EventEncoder` writes.
package struct EventContent: Sendable, Equatable {
  package private(set) var bytes: [UInt8]
  /// Bytes of the event's JSON: limits count these, whatever the form.
  package private(set) var jsonBytes: Int

  /// An event that is JSON already.
  package init(json: [UInt8]) {
    bytes = json
    jsonBytes = json.count
  }

  /// The event without its session, which `finished` adds: right after start it is not known yet.
  /// Nil where arrays and objects are nested deeper than `maxDepth`, the payload itself being the
  /// first level.
  package init?(
    id: EventID, wallMs: Int64, type: String, payload: JSONObject, maxDepth: Int
  ) {
    var writer = CompactWriter()
    writer.appendKey(type)
    guard writer.append(payload, levels: maxDepth) else { return nil }
    if RecordedTime.storable.contains(wallMs) {
      bytes = writer.bytes
      jsonBytes = writer.jsonBytes + EventEncoder.fixedHeadBytes
    } else {
      // The record around the event cannot carry such a time, so the event has to.
      bytes = EventEncoder.head(id: id, wallMs: wallMs, type: type, payload: payload)
      jsonBytes = bytes.count
    }
  }

  /// Completes an event that has no session yet.
  package func finished(session: String) -> EventContent {
    var content = self
    if CompactForm.isCompact(bytes.first) {
      content.jsonBytes += CompactWriter.finish(&content.bytes, session: session)
      content.jsonBytes += EventEncoder.fixedTailBytes
    } else {
      content.bytes = EventEncoder.finish(bytes, session: session)
      content.jsonBytes = content.bytes.count
    }
    return content
  }

  /// True where content begins like none of the two forms, but as a later one will.
  static func isOfLaterForm(_ first: UInt8?) -> Bool {
    (first ?? 0) > CompactForm.form | CompactForm.uuidSession
  }

  /// The JSON of stored content; nil where it is of neither form, or damaged.
  ///
  /// - Parameters:
  ///   - content: As it lay under the seal.
  ///   - id: The event's id, which the row carries.
  ///   - wallMs: When it was recorded, which the record carries.
  package static func json(of content: ArraySlice<UInt8>, id: EventID, wallMs: Int64) -> [UInt8]? {
    if CompactForm.isCompact(content.first) {
      return content.withUnsafeBufferPointer { CompactReader.json(of: $0, id: id, wallMs: wallMs) }
    }
    let json = Array(content)
    // try? because where the text is broken is of no use here.
    return (try? JSONDocument(parsing: json, limits: limits)) == nil ? nil : json
  }
  private static let limits = JSONLimits(
    maxDepth: JSONLimits.deepestAllowed, maxBytes: JSONLimits.longestAllowed)

  /// The same for an event that is not stored yet.
  package func json(id: EventID, wallMs: Int64) -> [UInt8]? {
    EventContent.json(of: bytes[...], id: id, wallMs: wallMs)
  }
}
