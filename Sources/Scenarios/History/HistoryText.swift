import JSONText

/// Writes a history as JSON lines: the header, then one entry a line. The format is described in
/// `docs/reference/history.md`; the same history always gives the same bytes.
package enum HistoryText {
  /// The format's version, in the header.
  package static let version = 2

  /// The whole text, each line with a newline at its end.
  package static func bytes(_ history: History) -> [UInt8] {
    var text: [UInt8] = []
    JSONWriter.append(.object(header(history.header)), to: &text)
    text.append(0x0a)
    for entry in history.entries {
      JSONWriter.append(.object(line(entry)), to: &text)
      text.append(0x0a)
    }
    JSONWriter.append(.object(end(history)), to: &text)
    text.append(0x0a)
    return text
  }

  private static func end(_ history: History) -> JSONObject {
    var object: JSONObject = ["end": .number(history.entries.count)]
    switch history.interruption {
    case .failure(let why): object["failure"] = .string(why)
    case .unavailable(let why): object["unavailable"] = .string(why)
    case nil: break
    }
    return object
  }

  private static func header(_ header: HistoryHeader) -> JSONObject {
    var object: JSONObject = [
      "history": .number(version), "scenario": .string(header.scenario),
      "about": .string(header.about), "file": .string(header.file), "lane": .string(header.lane),
      "seed": .number(JSONNumber(header.seed)), "replay": .string(header.replay),
      "acceptsNone": .bool(header.acceptsNone), "seesServer": .bool(header.seesServer),
      "storageTriggers": .bool(header.hasStorageTriggers),
      "rules": texts(header.plannedRules),
      "triggers": .array(header.plannedTriggers.map { .number($0) }),
      "powerLossWindowNs": .number(JSONNumber(header.powerLossWindowNs)),
      "retryAfterCapNs": .number(JSONNumber(header.retryAfterCapNs)),
      "expect": .array(header.expectations.map { .object(expectation($0)) }),
    ]
    if let window = header.dedupWindowNs { object["dedupWindowNs"] = .number(JSONNumber(window)) }
    return object
  }

  private static func expectation(_ line: ExpectedLine) -> JSONObject {
    [
      "key": .string(line.key), "value": .string(line.value), "line": .number(line.line),
      "column": .number(line.column), "source": .string(line.source),
    ]
  }

  /// One entry, without the newline.
  package static func line(_ entry: HistoryEntry) -> JSONObject {
    let (name, fields) = parts(entry.event)
    return JSONObject(
      [("at", .number(JSONNumber(entry.atNs))), ("event", .string(name))] + fields)
  }

  private typealias Fields = [(String, JSONValue)]

  private static func parts(_ event: HistoryEvent) -> (String, Fields) {
    switch event {
    case .step(let index, let what):
      return ("step", [("index", .number(index)), ("what", .string(what))])
    case .triggerFired(let step): return ("triggerFired", [("step", .number(step))])
    case .condition(let name, let value):
      return ("condition", [("name", .string(name)), ("value", .string(value))])
    case .asked(let lines):
      return ("asked", [("expect", .array(lines.map { .object(expectation($0)) }))])
    case .missed(let step, let what):
      return ("missed", [("step", .number(step)), ("what", .string(what))])
    case .notOffered(let label, let count):
      return ("notOffered", [("label", .string(label)), ("count", .number(count))])
    case .drained(let done): return ("drained", [("done", .bool(done))])
    case .full(let refused): return ("full", [("refused", .number(refused))])
    case .note(let text): return ("note", [("text", .string(text))])
    case .started, .died, .offered, .receipt, .becameDurable, .sending, .sent, .acknowledged,
      .erased, .quarantined, .dropped, .books:
      return deviceParts(event)
    case .arrived, .identified, .committed, .answered, .ended, .faultApplied, .held:
      return serverParts(event)
    case .scanned(let findings): return ("scanned", scan(findings))
    case .measured(let bytes): return ("measured", [("bytes", .number(JSONNumber(bytes)))])
    case .seals(let seals, let unreadable):
      let list = seals.map { seal -> JSONValue in
        [
          "key": .string(seal.key), "nonce": .string(seal.nonce), "digest": .string(seal.digest),
        ]
      }
      return ("seals", [("seals", .array(list)), ("unreadable", texts(unreadable))])
    }
  }

  private static func deviceParts(_ event: HistoryEvent) -> (String, Fields) {
    switch event {
    case .started(let incarnation): return ("started", [("incarnation", .number(incarnation))])
    case .died(let incarnation, let how):
      return ("died", [("incarnation", .number(incarnation)), ("how", .string(how))])
    case .offered(let serial, let label, let account, let content):
      var fields: Fields = [
        ("serial", .number(serial)), ("label", .string(label)), ("account", .string(account)),
      ]
      if !content.isEmpty { fields.append(("content", .string(content))) }
      return ("offered", fields)
    case .receipt(let serial, let receipt):
      return ("receipt", [("serial", .number(serial))] + receiptFields(receipt))
    case .becameDurable(let id): return ("becameDurable", [("id", .string(id))])
    case .sending(let incarnation, let number):
      return ("sending", [("incarnation", .number(incarnation)), ("number", .number(number))])
    case .sent(let incarnation, let number, let outcome):
      return (
        "sent",
        [
          ("incarnation", .number(incarnation)), ("number", .number(number)),
          ("outcome", .string(outcome)),
        ]
      )
    case .acknowledged(let ids): return ("acknowledged", [("ids", texts(ids))])
    case .erased(let ids): return ("erased", [("ids", texts(ids))])
    case .quarantined(let count, let reason, let ids):
      return ("quarantined", leaving(count, reason, ids))
    case .dropped(let count, let reason, let ids): return ("dropped", leaving(count, reason, ids))
    case .books(let books): return ("books", bookFields(books))
    default: return ("note", [("text", "unknown event")])
    }
  }

  private static func serverParts(_ event: HistoryEvent) -> (String, Fields) {
    switch event {
    case .arrived(let request, let arrival):
      return ("arrived", [("request", .number(request))] + arrivalFields(arrival))
    case .identified(let request, let attempt, let ids, let contents):
      var fields: Fields = [
        ("request", .number(request)), ("attempt", .number(attempt)), ("ids", texts(ids)),
      ]
      if !contents.isEmpty { fields.append(("contents", texts(contents))) }
      return ("identified", fields)
    case .committed(let request, let commit):
      return (
        "committed",
        [
          ("request", .number(request)), ("stored", texts(commit.stored)),
          ("duplicates", texts(commit.duplicates)), ("conflicting", texts(commit.conflicting)),
        ]
      )
    case .answered(let request, let answer):
      return ("answered", [("request", .number(request))] + answerFields(answer))
    case .ended(let request, let how):
      return ("ended", [("request", .number(request)), ("how", .string(how))])
    case .faultApplied(let rule, let response, let what, let request):
      return (
        "faultApplied",
        [
          ("rule", .string(rule)), ("response", .number(response)), ("what", .string(what)),
          ("request", .number(request)),
        ]
      )
    case .held(let holdings):
      let list = holdings.map { holding -> JSONValue in
        [
          "id": .string(holding.id), "stored": .number(holding.stored),
          "seen": .number(holding.seen),
        ]
      }
      return ("held", [("events", .array(list))])
    default: return ("note", [("text", "unknown event")])
    }
  }
}

// MARK: - Fields of larger entries

extension HistoryText {
  private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

  private static func receiptFields(_ receipt: Receipt) -> Fields {
    switch receipt {
    case .durable(let id): return [("is", "durable"), ("id", .string(id))]
    case .buffered(let id, let reason):
      return [("is", "buffered"), ("id", .string(id)), ("reason", .string(reason))]
    case .rejected(let reason): return [("is", "rejected"), ("reason", .string(reason))]
    }
  }

  private static func leaving(_ count: Int, _ reason: String, _ ids: [String]) -> Fields {
    [("count", .number(count)), ("reason", .string(reason)), ("ids", texts(ids))]
  }

  private static func arrivalFields(_ arrival: Arrival) -> Fields {
    var fields: Fields = [
      ("method", .string(arrival.method)), ("path", .string(arrival.path)),
      ("connection", .number(arrival.connection)), ("incarnation", .number(arrival.incarnation)),
      ("token", .number(arrival.token)),
    ]
    if arrival.number > 0 { fields.append(("number", .number(arrival.number))) }
    if let account = arrival.account { fields.append(("account", .string(account))) }
    return fields
  }

  private static func answerFields(_ answer: Answer) -> Fields {
    var fields: Fields = [("status", .number(answer.status))]
    if let text = answer.retryAfter { fields.append(("retryAfter", .string(text))) }
    if let text = answer.date { fields.append(("date", .string(text))) }
    if let text = answer.contentType { fields.append(("contentType", .string(text))) }
    if !answer.rejected.isEmpty { fields.append(("rejected", texts(answer.rejected))) }
    return fields
  }

  private static func bookFields(_ books: DeviceBooks) -> Fields {
    let numbers: [(String, Int64)] = [
      ("recorded", books.recorded), ("delivered", books.delivered), ("queued", books.queued),
      ("quarantined", books.quarantined), ("buffered", books.buffered),
      ("inFlight", books.inFlight), ("bytesOnDisk", books.bytesOnDisk),
    ]
    let dropped = JSONObject(books.dropped.map { ($0.reason, .number(JSONNumber($0.count))) })
    return [("incarnation", .number(books.incarnation)), ("state", .string(books.state))]
      + numbers.map { ($0.0, .number(JSONNumber($0.1))) } + [("dropped", .object(dropped))]
  }

  private static func scan(_ findings: SecrecyFindings) -> Fields {
    let found = findings.found.map { finding -> JSONValue in
      [
        "file": .string(finding.file), "offset": .number(JSONNumber(finding.offset)),
        "what": .string(finding.what),
      ]
    }
    return [
      ("files", .number(findings.files)), ("bytes", .number(JSONNumber(findings.bytes))),
      ("needles", .number(findings.needles)), ("found", .array(found)),
      ("unreadable", texts(findings.unreadable)), ("leftOut", .number(findings.leftOut)),
    ]
  }
}
