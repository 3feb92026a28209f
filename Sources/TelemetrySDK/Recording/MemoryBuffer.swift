/// An event on its way, before it is in the store.
struct PendingEvent: Sendable {
  let id: EventID
  let idIsFromCaller: Bool
  /// The event without its session.
  let content: EventContent
  let recordedAtMs: Int64
  /// Nil where the store has not told yet which session and account go on.
  var session: String?
  var account: String?

  /// Of its JSON.
  var bytes: Int { content.jsonBytes + EventEncoder.tailBytes }

  func finished(session fallbackSession: String, account fallbackAccount: String) -> NewEvent {
    NewEvent(
      id: id, idIsFromCaller: idIsFromCaller, account: account ?? fallbackAccount,
      content: content.finished(session: session ?? fallbackSession),
      recordedAtMs: recordedAtMs)
  }
}

/// Events that wait for the store, first in, first out, bounded in bytes.
///
/// A full buffer refuses the new event rather than give up one that was promised to be kept.
struct MemoryBuffer: Sendable {
  let limitBytes: Int
  private(set) var bytes = 0
  private var events: [PendingEvent] = []
  /// Events before this index are gone; the array is compacted now and then.
  private var first = 0
  /// Ids that callers chose: a second event of the same id is not kept.
  private var callerIDs: Set<EventID> = []

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  var count: Int { events.count - first }
  var isEmpty: Bool { count == 0 }

  /// False where the event does not fit.
  mutating func append(_ event: PendingEvent) -> Bool {
    guard bytes + event.bytes <= limitBytes else { return false }
    appendBeyondLimit(event)
    return true
  }

  /// For an event that was promised already.
  mutating func appendBeyondLimit(_ event: PendingEvent) {
    events.append(event)
    bytes += event.bytes
    if event.idIsFromCaller { callerIDs.insert(event.id) }
  }

  func holds(_ id: EventID) -> Bool { callerIDs.contains(id) }

  /// The oldest events, at most `limit`.
  func head(_ limit: Int) -> [PendingEvent] {
    Array(events[first..<min(first + limit, events.count)])
  }

  /// Removes the oldest `count` events.
  mutating func removeFirst(_ count: Int) {
    let end = min(first + count, events.count)
    for event in events[first..<end] {
      bytes -= event.bytes
      if event.idIsFromCaller { callerIDs.remove(event.id) }
    }
    first = end
    if first == events.count {
      events = []
      first = 0
    } else if first > 1_024 {
      events.removeFirst(first)
      first = 0
    }
  }

  mutating func removeAll() -> [PendingEvent] {
    defer { self = MemoryBuffer(limitBytes: limitBytes) }
    return head(count)
  }
}
