import JSONText

/// The ledger as JSON.
struct LedgerView {
  let engine: BatchEngine

  var counts: JSONValue {
    .object(JSONObject(engine.ledger.counts.named.map { ($0.name, .number($0.value)) }))
  }

  func json(_ entry: LedgerEntry, withEvent: Bool = false) -> JSONValue {
    var members: JSONObject = [
      "id": .string(entry.id), "firstSeen": .string(JournalView.timestamp(entry.firstSeenMs)),
      "lastSeen": .string(JournalView.timestamp(entry.lastSeenMs)),
      "timesSeen": .number(entry.timesSeen), "timesStored": .number(entry.timesStored),
      "conflicts": .number(entry.conflicts), "firstRequest": .number(entry.firstRequest),
      "firstConnection": .number(entry.firstConnection),
      "incarnation": .string(entry.incarnation),
    ]
    if withEvent, let event = event(entry) { members["event"] = event }
    return .object(members)
  }

  /// The event as it first came, while the journal has that request.
  private func event(_ entry: LedgerEntry) -> JSONValue? {
    guard let request = engine.journal.entry(entry.firstRequest),
      let json = JournalView(engine: engine).view(request).json
    else { return nil }
    let events = json.arrayValue ?? json.objectValue?.compactMap { $0.1.arrayValue }.first ?? []
    return events.first { event in
      event.objectValue?["id"]?.stringValue.flatMap(EventKey.init)?.text == entry.id
    }
  }
}
