import Foundation
import JSONText

/// Journal entries as JSON, and as patterns see them.
struct JournalView {
  let engine: BatchEngine
  /// Bodies are written out up to this length.
  static let maxShownBody = 1_000_000

  /// An entry for patterns; its body is decoded only when a pattern asks.
  func view(_ entry: JournalEntry) -> RequestView {
    let contract = engine.current.contract
    let request = entry.request
    return RequestView(
      request: request, context: entry.context, attempt: entry.attempt,
      // What cannot be decompressed has no decoded body.
      decodedBody: { try? contract.text(of: request) })
  }

  /// Whether an entry fits a pattern.
  ///
  /// - Throws: `AdminProblem` where the pattern asks for too much.
  func matches(_ entry: JournalEntry, _ pattern: RequestPattern) throws -> Bool {
    let view = view(entry)
    let matches = pattern.matches(view)
    try check(view, entry)
    return matches
  }

  /// The conditions that do not hold.
  ///
  /// - Throws: `AdminProblem` where the pattern asks for too much.
  func mismatches(_ entry: JournalEntry, _ pattern: RequestPattern) throws -> [String] {
    let view = view(entry)
    let mismatches = pattern.mismatches(view)
    try check(view, entry)
    return mismatches
  }

  private func check(_ view: RequestView, _ entry: JournalEntry) throws {
    guard let givenUp = view.givenUp else { return }
    throw AdminProblem(400, "\(givenUp.rawValue) in request \(entry.id)")
  }

  /// Fewest failed conditions first, then the newest.
  func nearest(
    _ misses: [(entry: JournalEntry, failed: [String])], of pattern: RequestPattern, limit: Int
  ) -> JSONValue {
    let total = max(1, pattern.criteria.count)
    let nearest = misses.enumerated().sorted {
      ($0.element.failed.count, -$0.offset) < ($1.element.failed.count, -$1.offset)
    }.prefix(limit).map(\.element)
    return .array(
      nearest.map { miss in
        [
          "request": json(miss.entry, withBodies: false),
          "mismatches": .array(miss.failed.map(JSONValue.string)),
          "distance": JSONNumber(Double(miss.failed.count) / Double(total)).map(JSONValue.number)
            ?? .null,
        ]
      })
  }

  func json(_ entry: JournalEntry, withBodies: Bool = true) -> JSONValue {
    var members: JSONObject = [
      "id": .number(entry.id), "atNs": .number(JSONNumber(entry.atNs)),
      "at": .string(JournalView.timestamp(entry.wallMs)),
      "method": .string(entry.request.method), "url": .string(entry.request.target),
      "headers": headers(entry.request.headers), "connection": .number(entry.context.connection),
      "requestOnConnection": .number(entry.context.indexOnConnection),
      "peer": .string(entry.context.peer), "isTLS": .bool(entry.context.isTLS),
      "isComplete": .bool(entry.isComplete), "route": .string(entry.route),
      "attempt": .number(entry.attempt), "events": .number(entry.events),
      "account": entry.account.map(JSONValue.string) ?? .null,
      "incarnation": entry.request.headers[BatchEngine.incarnationHeader].map(JSONValue.string)
        ?? .null,
      "problem": entry.problem.map { .string($0.rawValue) } ?? .null,
      "rule": entry.rule.map { ["id": .string($0), "response": .number(entry.ruleResponse)] }
        ?? .null,
      "effects": .array(entry.effects.map(JSONValue.string)),
      "givenUp": entry.givenUp.map(JSONValue.string) ?? .null, "commit": commit(entry.commit),
      "bytesSent": .number(entry.bytesSent), "ending": .string(entry.ending),
      "endedNs": entry.endedNs.map { .number(JSONNumber($0)) } ?? .null,
    ]
    members["response"] =
      entry.response.map { ["status": .number($0.status), "headers": headers($0.headers)] } ?? .null
    if !entry.request.trailers.isEmpty {
      members["trailers"] = headers(entry.request.trailers)
    }
    if withBodies { addBodies(entry, to: &members) }
    return .object(members)
  }

  private func addBodies(_ entry: JournalEntry, to members: inout JSONObject) {
    let body = entry.request.body
    members["bodyBytes"] = .number(body.count)
    members["rawBodyBase64"] = .string(
      Data(body.prefix(JournalView.maxShownBody)).base64EncodedString())
    let decoded = view(entry).body
    members["decodedBody"] =
      decoded.map {
        .string(String(decoding: $0.prefix(JournalView.maxShownBody), as: UTF8.self))
      } ?? .null
  }

  private func headers(_ headers: HTTPHeaders) -> JSONValue {
    var members = JSONObject()
    for (name, value) in headers {
      if let known = members[name] {
        members[name] = .array((known.arrayValue ?? [known]) + [.string(value)])
      } else {
        members[name] = .string(value)
      }
    }
    return .object(members)
  }

  private func commit(_ result: CommitResult?) -> JSONValue {
    guard let result else { return .null }
    return [
      "stored": .number(result.stored), "duplicatesWithin": .number(result.duplicatesWithin),
      "duplicatesAcross": .number(result.duplicatesAcross),
      "conflicting": .number(result.conflicting),
    ]
  }

  /// `2026-01-05T08:00:00.000Z`.
  static func timestamp(_ wallMs: Int64) -> String {
    let ms = max(0, wallMs)
    let date = HTTPDate.civil(daysSince1970: ms / 86_400_000)
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = "\(digits(Int64(date.year), 4))-\(digits(Int64(date.month), 2))"
    let hour = digits(ms / 3_600_000 % 24, 2)
    let rest = "\(digits(ms / 60_000 % 60, 2)):\(digits(ms / 1000 % 60, 2)).\(digits(ms % 1000, 3))"
    return "\(day)-\(digits(Int64(date.day), 2))T\(hour):\(rest)Z"
  }
}

extension BatchEngine {
  /// The journal as JSON lines, oldest first, each entry as the admin endpoints show it.
  package var journalText: [UInt8] {
    let view = JournalView(engine: self)
    var text: [UInt8] = []
    for entry in journal.entries {
      JSONWriter.append(view.json(entry), to: &text)
      text.append(0x0a)
    }
    return text
  }
}
