import TelemetrySDK

/// Diagnostics as text, for the history's notes.
enum DiagnosticWords {
  /// As Swift itself would write the value. Each request brings three of these: they are spelled
  /// out, for finding the names of cases and labels at run time took longer than sending.
  static func text(_ event: DiagnosticEvent) -> String {
    switch event {
    case .opened(let queued): return "opened(queued: \(queued))"
    case .requestStarted(let events, let bytes):
      return "requestStarted(events: \(events), bytes: \(bytes))"
    case .requestEnded(let outcome, let decision) where isPlain(decision):
      return "requestEnded(\(text(outcome)), decision: \"\(decision)\")"
    case .delivered(let count): return "delivered(count: \(count))"
    case .backingOff(let milliseconds): return "backingOff(milliseconds: \(milliseconds))"
    default: return "\(event)"
    }
  }

  private static func text(_ outcome: DeliveryOutcome) -> String {
    switch outcome {
    case .answered(let status): return "TelemetrySDK.DeliveryOutcome.answered(status: \(status))"
    case .failed(let code): return "TelemetrySDK.DeliveryOutcome.failed(code: \(code))"
    }
  }

  /// Whether the text stands between quotes as it is.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != 0x22 && $0 != 0x5c }
  }
}
