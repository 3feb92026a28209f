/// Joins stored events into a body: envelope, fragments and commas, compressed on the way, so
/// that the JSON of a batch never exists as a whole.
///
/// Not thread safe: belongs to the shell's executor.
final class BatchBuilder {
  /// JSON read for one byte of wire limit, where the limit is measured on the wire.
  static let expectedCompression = 8
  /// Tries to meet a wire limit before a single event goes alone.
  private static let maxCuts = 6

  struct Body {
    var gzip: [UInt8]
    /// Bytes of the JSON, envelope included.
    var jsonBytes: Int
    /// How many of the events are in it: all, unless a wire limit cut some off.
    var count: Int
  }

  private let open: [UInt8]
  private let close: [UInt8]
  private let gzip: Gzip
  /// Nil where the limit is measured before compression: the store has met it then.
  private let wireLimitBytes: Int?

  init(envelope: BatchEnvelope, gzipLevel: Int, wireLimitBytes: Int? = nil) {
    (open, close) = envelope.text
    gzip = Gzip(level: gzipLevel)
    self.wireLimitBytes = wireLimitBytes
  }

  /// The body of these events, or of the first ones where the wire limit says so.
  func build(_ events: [StoredEvent]) throws -> Body {
    var count = events.count
    for _ in 0..<BatchBuilder.maxCuts {
      let body = try join(events.prefix(count))
      guard let limit = wireLimitBytes, body.gzip.count > limit, count > 1 else { return body }
      // In proportion, and a little less, because compression is not even.
      count = min(max(1, count * limit / body.gzip.count * 9 / 10), count - 1)
    }
    return try join(events.prefix(1))
  }

  private func join(_ events: ArraySlice<StoredEvent>) throws -> Body {
    var jsonBytes = open.count + close.count + max(0, events.count - 1)
    try gzip.begin()
    try gzip.append(open)
    var isFirst = true
    for event in events {
      if !isFirst { try gzip.append(BatchBuilder.comma) }
      isFirst = false
      try gzip.append(event.json)
      jsonBytes += event.json.count
    }
    try gzip.append(close)
    return Body(gzip: try gzip.finish(), jsonBytes: jsonBytes, count: events.count)
  }

  private static let comma: [UInt8] = [0x2c]
}
