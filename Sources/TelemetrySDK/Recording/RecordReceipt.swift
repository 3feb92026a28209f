/// What became of one `record` call.
public enum RecordReceipt: Sendable, Hashable {
  /// The event is committed to the queue. From here on SIGKILL cannot lose it; with
  /// `Durability.powerLoss` neither can a power loss.
  case durable(EventID)
  /// The event is held in memory and written as soon as the store takes it; a kill before that
  /// loses it. `syncPending` is the exception: it is committed, only the device flush is missing.
  case buffered(EventID, BufferReason)
  /// The event was not taken, and is counted under the reason.
  case rejected(RejectReason)

  /// The event's id, where the event was taken.
  public var id: EventID? {
    switch self {
    case .durable(let id), .buffered(let id, _): return id
    case .rejected: return nil
    }
  }
}

/// Why an event is not durable yet. Each reason passes by itself.
public enum BufferReason: String, Sendable, Hashable, CaseIterable {
  /// The store is still being opened.
  case notOpen
  /// Somebody else holds the database's lock, or earlier events wait before this one.
  case busy
  /// The disk is full.
  case diskFull
  /// The key cannot be read just now, e.g. before the first unlock.
  case keyUnavailable
  /// The files are protected, or belong to another process just now.
  case locked
  /// The disk reported an error.
  case ioError
  /// The store is closed while the app is suspended.
  case suspended
  /// The write-ahead log is at its budget.
  case walBudget
  /// Committed; the flush to the medium is still to come (`Durability.powerLoss`).
  case syncPending
}

/// Why `record` did not take an event. Each is counted in `TelemetryStatus.rejected`.
public enum RejectReason: String, Sendable, Hashable, CaseIterable, Error {
  /// `start` was given an invalid configuration, so the SDK is off; see the diagnostics.
  case disabled
  /// `shutdown()` was called.
  case shutDown
  /// `setConsent(false)` is in force.
  case noConsent
  /// The `beforeSend` hook answered nil.
  case filtered
  /// The type is empty, or the `beforeSend` hook emptied it.
  case emptyType
  /// The payload is not an object.
  case payloadNotObject
  /// The payload is nested deeper than `maxPayloadDepth`.
  case tooDeep
  /// The event alone exceeds the batch limit.
  case tooLarge
  /// The `Encodable` payload threw while it was encoded.
  case notEncodable
  /// An event with the caller's id is stored already.
  case duplicateID
  /// The memory buffer is full and the store does not take writes.
  case bufferFull
  /// `purge()` came before the event was written.
  case purged
}
