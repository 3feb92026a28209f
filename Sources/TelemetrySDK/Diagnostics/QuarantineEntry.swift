import JSONText

/// An event that the server refused, or that could not be read, kept for the app to look at.
public struct QuarantineEntry: Sendable, Hashable {
  /// Why it lies in quarantine.
  public enum Reason: Sendable, Hashable {
    /// Its seal does not open: altered, swapped, or from another store.
    case unreadable
    /// Its body got a final HTTP status; the server's words, at most 200 bytes.
    case refused(status: Int, detail: String)
    /// The server named it as rejected.
    case rejectedByServer(reason: String)
    /// Alone in a body it was still too large (413).
    case tooLarge
  }

  /// The event's id.
  public let id: EventID
  /// Why it lies in quarantine.
  public let reason: Reason
  /// The event as it was recorded; nil where its seal does not open.
  public let event: JSONValue?

  init(_ stored: QuarantinedEvent) {
    id = stored.row.id
    switch stored.reason {
    case .unreadable: reason = .unreadable
    case .refused(let status, let detail): reason = .refused(status: status, detail: detail)
    case .rejectedByServer(let words): reason = .rejectedByServer(reason: words)
    case .tooLarge: reason = .tooLarge
    }
    // Stored bytes that are no JSON are shown as unreadable content, not as a failure.
    event = stored.json.flatMap { try? JSONValue.parse($0) }
  }
}

extension Telemetry {
  /// The oldest quarantined events; none while the store is closed or cannot be read.
  ///
  /// - Parameter limit: At most this many, 0 to 10,000.
  public func quarantined(limit: Int = 100) async -> [QuarantineEntry] {
    await withCheckedContinuation { continuation in
      quarantined(limit: limit) { continuation.resume(returning: $0) }
    }
  }

  /// The same with a callback, which comes once, on the SDK's executor.
  public func quarantined(
    limit: Int, completion: @escaping @Sendable ([QuarantineEntry]) -> Void
  ) {
    let bounded = min(max(0, limit), 10_000)
    shell.perform { shell in
      completion(shell.store.quarantinedEvents(limit: bounded).map(QuarantineEntry.init))
    }
  }

  /// Puts everything quarantined back at the end of the queue, e.g. after the server was mended.
  /// While the store is closed or takes no writes it stays where it is, as `status().quarantined`
  /// shows.
  ///
  /// - Parameter completion: Called once, on the SDK's executor, with the number of events.
  public func requeueQuarantined(completion: (@Sendable (Int) -> Void)? = nil) {
    shell.perform { shell in
      let count = shell.store.requeueQuarantined()
      shell.refreshSnapshot()
      shell.receive(
        .recorded(events: 0, bytes: 0, lastSequence: shell.recorder.lastSequence))
      shell.receive(.requeued(events: count))
      completion?(count)
    }
  }

  /// Deletes everything quarantined; counted as dropped. While the store is closed or takes no
  /// writes it stays where it is, as `status().quarantined` shows.
  ///
  /// - Parameter completion: Called once, on the SDK's executor, with the number of events.
  public func clearQuarantine(completion: (@Sendable (Int) -> Void)? = nil) {
    shell.perform { shell in
      let count = shell.store.clearQuarantine()
      shell.refreshSnapshot()
      completion?(count)
    }
  }
}
