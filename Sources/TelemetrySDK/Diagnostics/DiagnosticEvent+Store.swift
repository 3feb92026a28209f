extension DiagnosticEvent {
  /// What of a store's event the app should hear; nil for pure housekeeping.
  init?(_ event: StoreEvent) {
    switch event {
    case .opened, .walRestarted: return nil
    case .blocked(let block): self = .storageBlocked(BufferReason(block))
    case .unblocked: self = .storageRecovered
    case .dropped(let count, let reason):
      self = .dropped(count: Int(clamping: count), reason: reason)
    case .quarantined(let count, let reason):
      self = .quarantined(count: Int(clamping: count), reason: reason.summary)
    case .movedCorruptFileAside(let lost):
      self = .corruptFileMovedAside(lost: Int(clamping: lost))
    case .newerSchemaLeftAlone(let version): self = .newerSchemaLeftAlone(version: version)
    case .keyRotated: self = .keyRotated
    }
  }
}

extension QuarantineReason {
  /// The kind of reason, without the server's words.
  package var summary: String {
    switch self {
    case .unreadable: return "unreadable"
    case .refused(let status, _): return "refused \(status)"
    case .rejectedByServer: return "rejectedByServer"
    case .tooLarge: return "tooLarge"
    }
  }
}
