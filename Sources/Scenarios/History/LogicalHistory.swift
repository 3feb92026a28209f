/// What must be the same in every lane: per event receipt, final state and reason, and the ordered
/// classes of outcomes. Times, ids and the number of attempts may differ.
package struct LogicalHistory: Sendable, Hashable {
  /// One event's fate.
  package struct Fate: Sendable, Hashable {
    /// Its record step, and its number in the run.
    package var label: String
    package var serial: Int
    /// `durable`, `buffered (diskFull)`, `rejected (tooLarge)`, or `none`.
    package var receipt: String
    /// `stored`, `stored 2 times`, `quarantined`, `dropped`, or `not stored`.
    package var state: String
    /// Why it was dropped or lies in quarantine; empty where the SDK does not name it.
    package var reason: String

    package var text: String {
      "\(receipt), \(state)\(reason.isEmpty ? "" : " (\(reason))")"
    }
  }

  package var lane: String
  package var fates: [Fate]
  /// Runs of the same class are one: how many batches a backlog takes is no difference.
  package var outcomes: [String]

  package init(_ history: History) {
    lane = history.header.lane
    fates = LifeStories(history).all.compactMap(LogicalHistory.fate)
      .sorted { $0.serial < $1.serial }
    outcomes = LogicalHistory.outcomes(history)
  }

  private static func fate(_ story: LifeStory) -> Fate? {
    guard let serial = story.serial else { return nil }
    let receipt: String
    switch story.receipt {
    case .durable?: receipt = "durable"
    case .buffered(_, let reason)?: receipt = "buffered (\(reason))"
    case .rejected(let reason)?: receipt = "rejected (\(reason))"
    case nil: receipt = "none"
    }
    let state: String
    switch story.stored {
    case 0:
      state = story.leftFor == nil ? "not stored" : story.isQuarantined ? "quarantined" : "dropped"
    case 1: state = "stored"
    default: state = "stored \(story.stored) times"
    }
    return Fate(
      label: story.label, serial: serial, receipt: receipt, state: state,
      reason: story.stored == 0 ? story.leftFor ?? "" : "")
  }

  /// As the device saw them; from the server's side where the device's is not in the history.
  private static func outcomes(_ history: History) -> [String] {
    let device = history.entries.compactMap { entry -> String? in
      guard case .sent(_, _, let outcome) = entry.event else { return nil }
      return outcomeClass(outcome)
    }
    if !device.isEmpty { return collapsed(device) }
    return collapsed(
      Evidence(history).requests.map { request in
        request.answer.map { outcomeClass(String($0.status)) } ?? "no answer"
      })
  }

  /// Statuses that the client treats alike are one class; words stay as they are.
  package static func outcomeClass(_ outcome: String) -> String {
    guard let status = Int(outcome) else { return outcome }
    switch status {
    case 401, 413, 429, 511: return String(status)
    case 200...299: return "2xx"
    case 300...399: return "3xx"
    case 400...499: return "4xx"
    case 500...599: return "5xx"
    default: return outcome
    }
  }

  private static func collapsed(_ classes: [String]) -> [String] {
    var kept: [String] = []
    for name in classes where kept.last != name { kept.append(name) }
    return kept
  }
}
