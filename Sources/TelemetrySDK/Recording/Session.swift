import JSONText

/// Which session events belong to.
///
/// A session ends after `timeoutMs` in the background, counted on a clock that runs while the
/// phone sleeps, or on request. It survives a kill: the store keeps when it was last seen.
struct SessionKeeper: Sendable {
  let timeoutMs: Int64
  /// Nil until `restore` or `startNew`.
  private(set) var id: String?
  /// The session of events that were recorded before there was any; nil until `restore`.
  private(set) var earlier: String?
  private var backgroundSince: Moment?

  init(timeoutMs: Int64) { self.timeoutMs = timeoutMs }

  /// The session for an event recorded now. `fresh` makes an id when a new session is due.
  /// `started` is true for the first event of a new session.
  mutating func current(
    now: () -> Moment, fresh: () -> String
  ) -> (id: String?, started: Bool) {
    guard let id else { return (nil, false) }
    guard let since = backgroundSince else { return (id, false) }
    let moment = now()
    guard moment.milliseconds(since: since) >= timeoutMs else { return (id, false) }
    // The new session counts its own time in the background.
    backgroundSince = moment
    self.id = fresh()
    return (self.id, true)
  }

  /// Tells what the store kept. Returns true where a new session begins.
  mutating func restore(
    _ record: SessionRecord?, now: Moment, bootID: String, fresh: () -> String
  ) -> Bool {
    guard earlier == nil else { return false }
    var goesOn = false
    if let record, record.bootID == bootID, record.seen <= now,
      now.milliseconds(since: record.seen) < timeoutMs
    {
      earlier = record.id
      goesOn = true
    } else {
      earlier = fresh()
    }
    guard id == nil else { return false }
    id = earlier
    return !goesOn
  }

  /// A new session from now on, also before the store has told which one goes on. Returns its id.
  mutating func startNew(fresh: () -> String) -> String? {
    id = fresh()
    return id
  }

  mutating func enterBackground(now: Moment) {
    if backgroundSince == nil { backgroundSince = now }
  }

  /// Returns true where the time in the background ended the session.
  mutating func enterForeground(now: Moment, fresh: () -> String) -> Bool {
    let (_, started) = current(now: { now }, fresh: fresh)
    backgroundSince = nil
    return started
  }

  /// What to keep for after a kill. `seen` is when the app was last known to be in front, or, in
  /// the background, when it went there.
  func record(now: Moment, bootID: String) -> SessionRecord? {
    id.map { SessionRecord(id: $0, bootID: bootID, seen: backgroundSince ?? now) }
  }
}

/// A session as the store keeps it.
struct SessionRecord: Sendable, Equatable {
  static let noteKey = "session"
  var id: String
  var bootID: String
  var seen: Moment

  var bytes: [UInt8] {
    JSONWriter.bytes([
      "id": .string(id), "boot": .string(bootID), "seen": .number(JSONNumber(seen.nanoseconds)),
    ])
  }

  init(id: String, bootID: String, seen: Moment) {
    self.id = id
    self.bootID = bootID
    self.seen = seen
  }

  /// Nil where the bytes are torn or foreign: a new session begins then.
  init?(_ bytes: [UInt8]) {
    // A torn note is expected after a crash, and answered by nil.
    guard let value = try? JSONValue.parse(bytes), let id = value["id"]?.stringValue,
      let boot = value["boot"]?.stringValue, let seen = value["seen"]?.int64Value
    else { return nil }
    self.init(id: id, bootID: boot, seen: Moment(nanoseconds: seen))
  }
}
