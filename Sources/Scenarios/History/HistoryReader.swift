import JSONText

/// Why a history file cannot be read.
package struct HistoryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line in the file, from 1.
  package var line: Int
  package var reason: String
  package var description: String { "line \(line): \(reason)" }
}

/// Reads what `HistoryText` wrote.
package enum HistoryReader {
  /// Longer files are not read.
  package static let maxBytes = 2_000_000_000
  /// The longest line that is read.
  private static let limits = JSONLimits(maxDepth: 8, maxBytes: 256_000_000)

  /// Reads a whole file. One without its end is refused: a run that was cut off may have lost the
  /// one entry that matters.
  package static func read(_ bytes: [UInt8]) throws -> History {
    var history: History?
    var number = 0
    var hasEnded = false
    var rest = bytes[...]
    while !rest.isEmpty {
      number += 1
      guard let end = rest.firstIndex(of: 0x0a) else {
        throw HistoryError(line: number, reason: "the last line has no end: the file was cut off")
      }
      let fields = try HistoryFields(Array(rest[..<end]), line: number, limits: limits)
      rest = rest[(end + 1)...]
      if hasEnded { throw fields.error("the history ended in the line before") }
      if history == nil {
        history = History(header: try header(fields))
      } else if fields.has("end") {
        try readEnd(fields, of: &history)
        hasEnded = true
      } else {
        let atNs = try fields.int64("at")
        history?.append(try event(fields), atNs: atNs)
      }
    }
    guard let history else { throw HistoryError(line: 1, reason: "the file is empty") }
    guard hasEnded else {
      throw HistoryError(line: number, reason: "no end follows: the file was cut off")
    }
    return history
  }

  private static func readEnd(_ fields: HistoryFields, of history: inout History?) throws {
    let written = try fields.int("end")
    let read = history?.entries.count ?? 0
    guard read == written else {
      throw fields.error("\(read) entries stand before the end, \(written) were written")
    }
    if fields.has("failure") {
      history?.interruption = .failure(try fields.text("failure"))
    } else if fields.has("unavailable") {
      history?.interruption = .unavailable(try fields.text("unavailable"))
    }
  }

  private static func header(_ fields: HistoryFields) throws -> HistoryHeader {
    let version = try fields.int("history")
    guard version == HistoryText.version else {
      throw fields.error("history version \(version), this reads \(HistoryText.version)")
    }
    return HistoryHeader(
      scenario: try fields.text("scenario"), about: try fields.text("about"),
      file: try fields.text("file"), lane: try fields.text("lane"),
      seed: try fields.uint64("seed"), replay: try fields.text("replay"),
      acceptsNone: try fields.bool("acceptsNone"),
      seesServer: fields.has("seesServer") ? try fields.bool("seesServer") : true,
      hasStorageTriggers: try fields.bool("storageTriggers"),
      plannedRules: try fields.texts("rules"), plannedTriggers: try fields.ints("triggers"),
      dedupWindowNs: fields.has("dedupWindowNs") ? try fields.int64("dedupWindowNs") : nil,
      powerLossWindowNs: try fields.int64("powerLossWindowNs"),
      retryAfterCapNs: try fields.int64("retryAfterCapNs"),
      expectations: try expectations(fields))
  }

  private static func expectations(_ fields: HistoryFields) throws -> [ExpectedLine] {
    try fields.objects("expect").map {
      ExpectedLine(
        key: try $0.text("key"), value: try $0.text("value"), line: try $0.int("line"),
        column: try $0.int("column"), source: try $0.text("source"))
    }
  }

  private static func event(_ fields: HistoryFields) throws -> HistoryEvent {
    let name = try fields.text("event")
    switch name {
    case "step": return .step(index: try fields.int("index"), what: try fields.text("what"))
    case "triggerFired": return .triggerFired(step: try fields.int("step"))
    case "condition":
      return .condition(name: try fields.text("name"), value: try fields.text("value"))
    case "asked": return .asked(try expectations(fields))
    case "missed":
      return .missed(step: try fields.int("step"), what: try fields.text("what"))
    case "notOffered":
      return .notOffered(label: try fields.text("label"), count: try fields.int("count"))
    case "drained": return .drained(try fields.bool("done"))
    case "full": return .full(refused: try fields.int("refused"))
    case "note": return .note(try fields.text("text"))
    case "measured": return .measured(bytes: try fields.int64("bytes"))
    case "scanned": return .scanned(try findings(fields))
    case "seals":
      return .seals(
        try fields.objects("seals").map {
          SealSighting(
            key: try $0.text("key"), nonce: try $0.text("nonce"), digest: try $0.text("digest"))
        }, unreadable: try fields.texts("unreadable"))
    default:
      if let event = try deviceEvent(name, fields) { return event }
      if let event = try serverEvent(name, fields) { return event }
      throw fields.error("unknown event \"\(name)\"")
    }
  }

  private static func deviceEvent(
    _ name: String, _ fields: HistoryFields
  ) throws -> HistoryEvent? {
    switch name {
    case "started": return .started(incarnation: try fields.int("incarnation"))
    case "died":
      return .died(incarnation: try fields.int("incarnation"), how: try fields.text("how"))
    case "offered":
      return .offered(
        serial: try fields.int("serial"), label: try fields.text("label"),
        account: try fields.text("account"),
        content: fields.has("content") ? try fields.text("content") : "")
    case "receipt": return .receipt(serial: try fields.int("serial"), try receipt(fields))
    case "becameDurable": return .becameDurable(id: try fields.text("id"))
    case "sending":
      return .sending(incarnation: try fields.int("incarnation"), number: try fields.int("number"))
    case "sent":
      return .sent(
        incarnation: try fields.int("incarnation"), number: try fields.int("number"),
        outcome: try fields.text("outcome"))
    case "acknowledged": return .acknowledged(ids: try fields.texts("ids"))
    case "erased": return .erased(ids: try fields.texts("ids"))
    case "quarantined":
      return .quarantined(
        count: try fields.int("count"), reason: try fields.text("reason"),
        ids: try fields.texts("ids"))
    case "dropped":
      return .dropped(
        count: try fields.int("count"), reason: try fields.text("reason"),
        ids: try fields.texts("ids"))
    case "books": return .books(try books(fields))
    default: return nil
    }
  }

  private static func serverEvent(
    _ name: String, _ fields: HistoryFields
  ) throws -> HistoryEvent? {
    switch name {
    case "arrived":
      return .arrived(
        request: try fields.int("request"),
        Arrival(
          method: try fields.text("method"), path: try fields.text("path"),
          connection: try fields.int("connection"), incarnation: try fields.int("incarnation"),
          number: fields.has("number") ? try fields.int("number") : 0,
          token: fields.has("token") ? try fields.int("token") : 0,
          account: fields.has("account") ? try fields.text("account") : nil))
    case "identified":
      return .identified(
        request: try fields.int("request"), attempt: try fields.int("attempt"),
        ids: try fields.texts("ids"),
        contents: fields.has("contents") ? try fields.texts("contents") : [])
    case "committed":
      return .committed(
        request: try fields.int("request"),
        Commit(
          stored: try fields.texts("stored"), duplicates: try fields.texts("duplicates"),
          conflicting: try fields.texts("conflicting")))
    case "answered": return .answered(request: try fields.int("request"), try answer(fields))
    case "ended": return .ended(request: try fields.int("request"), how: try fields.text("how"))
    case "faultApplied":
      return .faultApplied(
        rule: try fields.text("rule"), response: try fields.int("response"),
        what: try fields.text("what"), request: try fields.int("request"))
    case "held":
      return .held(
        try fields.objects("events").map {
          Holding(id: try $0.text("id"), stored: try $0.int("stored"), seen: try $0.int("seen"))
        })
    default: return nil
    }
  }

  private static func receipt(_ fields: HistoryFields) throws -> Receipt {
    switch try fields.text("is") {
    case "durable": return .durable(id: try fields.text("id"))
    case "buffered":
      return .buffered(id: try fields.text("id"), reason: try fields.text("reason"))
    case "rejected": return .rejected(reason: try fields.text("reason"))
    case let other: throw fields.error("unknown receipt \"\(other)\"")
    }
  }

  private static func answer(_ fields: HistoryFields) throws -> Answer {
    Answer(
      status: try fields.int("status"),
      retryAfter: fields.has("retryAfter") ? try fields.text("retryAfter") : nil,
      date: fields.has("date") ? try fields.text("date") : nil,
      contentType: fields.has("contentType") ? try fields.text("contentType") : nil,
      rejected: fields.has("rejected") ? try fields.texts("rejected") : [])
  }

  private static func books(_ fields: HistoryFields) throws -> DeviceBooks {
    var books = DeviceBooks()
    books.incarnation = try fields.int("incarnation")
    books.state = try fields.text("state")
    books.recorded = try fields.int64("recorded")
    books.delivered = try fields.int64("delivered")
    books.queued = try fields.int64("queued")
    books.quarantined = try fields.int64("quarantined")
    books.buffered = try fields.int64("buffered")
    books.inFlight = try fields.int64("inFlight")
    books.bytesOnDisk = try fields.int64("bytesOnDisk")
    books.dropped = try fields.counts("dropped").map {
      DeviceBooks.Drop(reason: $0.key, count: $0.count)
    }
    return books
  }

  private static func findings(_ fields: HistoryFields) throws -> SecrecyFindings {
    SecrecyFindings(
      files: try fields.int("files"), bytes: try fields.int64("bytes"),
      needles: try fields.int("needles"),
      found: try fields.objects("found").map {
        SecrecyFindings.Finding(
          file: try $0.text("file"), offset: try $0.int64("offset"), what: try $0.text("what"))
      }, unreadable: try fields.texts("unreadable"), leftOut: try fields.int("leftOut"))
  }
}
