import JSONText

/// What delivery must remember beyond a kill: so that a restart is no way around a pause.
package struct GateRecord: Sendable, Equatable {
  package static let noteKey = "gate"

  /// A pause as it was granted.
  package struct Pause: Sendable, Equatable {
    /// When it ends, on the clock of `bootID`.
    package var until: Moment
    /// What was left of it when this record was written: after a reboot, when moments say
    /// nothing, it is waited again; never more.
    package var remainingMs: Int64

    package init(until: Moment, remainingMs: Int64) {
      self.until = until
      self.remainingMs = remainingMs
    }
  }

  package var bootID = ""
  /// The server's `Retry-After`.
  package var server: Pause?
  /// The own backoff, and whether it came from the transport.
  package var backoff: Pause?
  package var backoffIsFromTransport = false
  /// Failures in a row.
  package var attempts = 0
  /// The pause after refused bodies, and how often it has doubled.
  package var refusal: Pause?
  package var refusalLevel = 0
  package var refusalsInRow = 0
  /// The batch limit learned from 413.
  package var sizeLimitBytes: Int?
  package var acceptedSinceSizeLesson = 0
  /// Bodies with a final answer whose rows are still queued.
  package var finalBodies: [FinalBody] = []

  /// A body, and the final status that it was answered with.
  package struct FinalBody: Sendable, Equatable {
    package var mark: BodyMark
    package var status: Int

    package init(mark: BodyMark, status: Int) {
      self.mark = mark
      self.status = status
    }
  }

  package init() {}

  /// True where nothing has changed but the time that is left.
  func isSame(as other: GateRecord) -> Bool {
    var copy = self
    copy.server?.remainingMs = other.server?.remainingMs ?? 0
    copy.backoff?.remainingMs = other.backoff?.remainingMs ?? 0
    copy.refusal?.remainingMs = other.refusal?.remainingMs ?? 0
    return copy == other
  }
}

/// Recognises an exact set of events.
package struct BodyMark: Sendable, Hashable {
  package var count: Int
  package var first: Int64
  package var last: Int64
  /// Order-free mix of all sequence numbers.
  package var mix: UInt64

  package init(_ rows: [RowReference]) {
    count = rows.count
    first = rows.first?.sequence ?? 0
    last = rows.last?.sequence ?? 0
    mix = rows.reduce(0) { $0 &+ BodyMark.scramble(UInt64(bitPattern: $1.sequence)) }
  }

  init(count: Int, first: Int64, last: Int64, mix: UInt64) {
    self.count = count
    self.first = first
    self.last = last
    self.mix = mix
  }

  /// The finaliser of splitmix64.
  private static func scramble(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

// MARK: - As bytes

extension GateRecord {
  var bytes: [UInt8] {
    var object: JSONObject = [
      "version": 1, "boot": .string(bootID), "attempts": .number(attempts),
      "refusalLevel": .number(refusalLevel), "refusalsInRow": .number(refusalsInRow),
      "fromTransport": .bool(backoffIsFromTransport),
      "accepted": .number(acceptedSinceSizeLesson),
    ]
    object["server"] = server?.json
    object["backoff"] = backoff?.json
    object["refusal"] = refusal?.json
    object["sizeLimit"] = sizeLimitBytes.map { .number($0) }
    object["bodies"] = .array(finalBodies.map(\.json))
    return JSONWriter.bytes(.object(object))
  }

  /// Nil where the bytes are torn or of another version: delivery then starts without a memory.
  init?(_ bytes: [UInt8]) {
    // A torn note is expected after a crash, and answered by nil.
    guard let value = try? JSONValue.parse(bytes), value["version"]?.intValue == 1,
      let boot = value["boot"]?.stringValue
    else { return nil }
    bootID = boot
    server = value["server"].flatMap(Pause.init(json:))
    backoff = value["backoff"].flatMap(Pause.init(json:))
    backoffIsFromTransport = value["fromTransport"]?.boolValue ?? false
    attempts = max(0, value["attempts"]?.intValue ?? 0)
    refusal = value["refusal"].flatMap(Pause.init(json:))
    refusalLevel = max(0, value["refusalLevel"]?.intValue ?? 0)
    refusalsInRow = max(0, value["refusalsInRow"]?.intValue ?? 0)
    sizeLimitBytes = value["sizeLimit"]?.intValue
    acceptedSinceSizeLesson = max(0, value["accepted"]?.intValue ?? 0)
    finalBodies = (value["bodies"]?.arrayValue ?? []).compactMap(FinalBody.init(json:))
  }
}

extension GateRecord.Pause {
  fileprivate var json: JSONValue {
    [
      "until": .number(JSONNumber(until.nanoseconds)),
      "remainingMs": .number(JSONNumber(remainingMs)),
    ]
  }

  fileprivate init?(json: JSONValue) {
    guard let until = json["until"]?.int64Value, let remaining = json["remainingMs"]?.int64Value,
      remaining >= 0
    else { return nil }
    self.init(until: Moment(nanoseconds: until), remainingMs: remaining)
  }
}

extension GateRecord.FinalBody {
  fileprivate var json: JSONValue {
    [
      .number(mark.count), .number(JSONNumber(mark.first)), .number(JSONNumber(mark.last)),
      .number(JSONNumber(mark.mix)), .number(status),
    ]
  }

  fileprivate init?(json: JSONValue) {
    guard let count = json[0]?.intValue, let first = json[1]?.int64Value,
      let last = json[2]?.int64Value, let mix = json[3]?.numberValue?.uint64,
      let status = json[4]?.intValue
    else { return nil }
    self.init(mark: BodyMark(count: count, first: first, last: last, mix: mix), status: status)
  }
}
