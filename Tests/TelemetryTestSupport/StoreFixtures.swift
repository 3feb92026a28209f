import TelemetrySDK

extension NewEvent {
  /// An event with a random id and a body of ours.
  package static func make(
    _ number: Int = 0, account: String = "", id: EventID? = nil, bytes: Int = 0,
    recordedAtMs: Int64 = 1_767_600_000_000
  ) -> NewEvent {
    let random = EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 7))
    let padding = String(repeating: "x", count: bytes)
    let json = "{\"n\":\(number),\"screen\":\"Orders-needle\",\"pad\":\"\(padding)\"}"
    return NewEvent(
      id: id ?? random, idIsFromCaller: id != nil, account: account, json: Array(json.utf8),
      recordedAtMs: recordedAtMs)
  }
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
