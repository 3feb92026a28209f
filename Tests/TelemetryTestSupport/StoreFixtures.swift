import JSONText
import TelemetrySDK

extension NewEvent {
  /// An event with a random id and a body of ours.
  package static func make(
    _ number: Int = 0, account: String = "", id: EventID? = nil, bytes: Int = 0,
    recordedAtMs: Int64 = 1_767_600_000_000
  ) -> NewEvent {
    let random = EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 7))
    return NewEvent(
      id: id ?? random, idIsFromCaller: id != nil, account: account,
      content: .make(
        id: id ?? random, wallMs: recordedAtMs, number: number, screen: "Orders-needle",
        bytes: bytes),
      recordedAtMs: recordedAtMs)
  }

  /// As it should be read back.
  package var json: [UInt8]? { content.json(id: id, wallMs: recordedAtMs) }
}

extension EventContent {
  /// An event of ours as the SDK records it, with so many bytes of padding.
  package static func make(
    id: EventID, wallMs: Int64, number: Int, screen: String, bytes: Int
  ) -> EventContent {
    let payload: JSONObject = [
      "n": .number(number), "screen": .string(screen),
      "pad": .string(padding(bytes)),
    ]
    // A flat payload is never too deep; no content at all would show in any test.
    return EventContent(id: id, wallMs: wallMs, type: "test", payload: payload, maxDepth: 64)?
      .finished(session: "5e551011-0000-4000-8000-000000000000") ?? EventContent(json: [])
  }
}

/// So many characters; made from bytes, for `String(repeating:count:)` appends them one by one, and
/// property tests make millions.
private func padding(_ bytes: Int) -> String {
  String(decoding: [UInt8](repeating: 0x78, count: bytes), as: UTF8.self)
}

extension BatchBounds {
  /// Bounds of a batch, generous unless told.
  package static func make(
    maxEvents: Int = 1_000, maxBytes: Int = 256_000, envelopeBytes: Int = 13
  ) -> BatchBounds {
    BatchBounds(maxEvents: maxEvents, maxBytes: maxBytes, envelopeBytes: envelopeBytes)
  }
}

extension AppendOutcome {
  /// The sequence number of a row that was written.
  package var sequence: Int64? {
    switch self {
    case .durable(let sequence), .syncPending(let sequence): sequence
    case .duplicate, .blocked: nil
    }
  }
}

extension EventStore {
  /// Everything queued, read in batches as a delivery would.
  package func allEvents(account: String? = nil) -> [StoredEvent] {
    var events: [StoredEvent] = []
    while true {
      let batch = readBatch(account: account, bounds: .make())
      guard !batch.events.isEmpty else { break }
      events += batch.events
      markInFlight(batch.events.map(\.row))
    }
    clearInFlight(events.map(\.row))
    return events
  }
}
