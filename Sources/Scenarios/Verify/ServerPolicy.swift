import JSONText

/// What servers may decide differently without breaking the contract.
package struct ServerPolicy: Sendable, Equatable {
  package enum Choice: String, Sendable, CaseIterable { case accept, refuse, either }
  package enum Envelope: String, Sendable, CaseIterable { case object, array }
  package enum Answer: String, Sendable, CaseIterable { case counts, any2xx }
  package enum Measured: String, Sendable, CaseIterable { case uncompressed, wire }
  package enum InvalidEvent: String, Sendable, CaseIterable {
    case refuseBatch, listRejected, either
  }
  package enum Conflict: String, Sendable, CaseIterable { case keepFirst, refuse, either }

  package var envelope = Envelope.object
  package var envelopeKey = "events"
  package var answer = Answer.counts
  package var identityBody = Choice.refuse
  package var concatenatedMembers = Choice.refuse
  package var emptyBatch = Choice.either
  package var maxEvents: Int? = 1_000
  package var maxBytes: Int? = 256_000
  package var sizeMeasured = Measured.uncompressed
  package var invalidEvent = InvalidEvent.either
  package var conflict = Conflict.keepFirst
  package var rejectedType: String?
  package var concurrency = 8
  package var answerWithinNs: Int64 = 10_000_000_000
  package var storedWithinNs: Int64 = 5_000_000_000
  package var maxRetryAfterNs: Int64 = 86_400_000_000_000

  package init() {}

  /// The settings file's language; the same definition checks a file and fills the reference.
  package static let shape = ObjectShape(
    "a policy",
    [
      FieldShape(
        "envelope", .choice(Envelope.allCases.map(\.rawValue)), byDefault: "object",
        "`object`: events lie under a key of an object; `array`: the body is the list."),
      FieldShape(
        "envelopeKey", .text(maxLength: 100), byDefault: "events",
        "The key of the list in an `object` envelope."),
      FieldShape(
        "answer", .choice(Answer.allCases.map(\.rawValue)), byDefault: "counts",
        "`counts`: an accepted batch is answered with accepted, duplicates, rejected; `any2xx`:"
          + " the status alone counts."),
      FieldShape(
        "identityBody", .choice(Choice.allCases.map(\.rawValue)), byDefault: "refuse",
        "What becomes of a body that is not compressed and says so."),
      FieldShape(
        "concatenatedMembers", .choice(Choice.allCases.map(\.rawValue)), byDefault: "refuse",
        "What becomes of a body of two gzip members, which RFC 1952 allows."),
      FieldShape(
        "emptyBatch", .choice(Choice.allCases.map(\.rawValue)), byDefault: "either",
        "What becomes of a batch without events."),
      FieldShape(
        "maxEvents", .either([.integer(1...100_000), .null]), byDefault: "1000",
        "Events of one batch at most; null where the server has no such limit."),
      FieldShape(
        "maxBytes", .either([.size, .null]), byDefault: "256KB",
        "Size of one batch at most; null where the server has no such limit."),
      FieldShape(
        "sizeMeasured", .choice(Measured.allCases.map(\.rawValue)), byDefault: "uncompressed",
        "Whether `maxBytes` means the JSON text or the compressed body."),
      FieldShape(
        "invalidEvent", .choice(InvalidEvent.allCases.map(\.rawValue)), byDefault: "either",
        "`refuseBatch`: one wrong event refuses all; `listRejected`: it is listed under"
          + " `rejected` and the others are taken."),
      FieldShape(
        "conflict", .choice(Conflict.allCases.map(\.rawValue)), byDefault: "keepFirst",
        "A known id with other content. `keepFirst`: a duplicate, the first content stays;"
          + " `refuse`: rejected or refused."),
      FieldShape(
        "rejectedType", .text(maxLength: 200),
        "An event type that the server rejects, for the check of partial results."),
      FieldShape(
        "concurrency", .integer(2...64), byDefault: "8",
        "Identical batches sent at the same moment."),
      FieldShape(
        "answerWithin", .duration, byDefault: "10s", "Time one request gets for its answer."),
      FieldShape(
        "storedWithin", .duration, byDefault: "5s",
        "Time an accepted event gets until the observer sees it."),
      FieldShape(
        "maxRetryAfter", .duration, byDefault: "24h",
        "The longest pause that a Retry-After may ask for; clients cut off what lies beyond."),
    ])

  /// Bytes of a policy file at most.
  package static let maxFileBytes = 100_000

  /// Reads a settings file. Throws `ScriptErrors` with a place for every mistake.
  package static func parse(file: String, bytes: [UInt8]) throws -> ServerPolicy {
    let document: JSONDocument
    do {
      document = try JSONDocument(parsing: bytes, limits: JSONLimits(maxBytes: maxFileBytes))
    } catch let error as JSONError {
      throw ScriptErrors(
        errors: [
          ScriptError(
            file: file, position: error.position, message: "not JSON: \(error.reason)")
        ], source: bytes)
    }
    var check = ShapeCheck(file: file)
    for duplicate in document.duplicateKeys {
      check.fail(
        duplicate.position, "the key \"\(duplicate.key)\" stands here a second time",
        length: duplicate.key.unicodeScalars.count + 2)
    }
    var plain = Substitution(values: [:], bytes: bytes)
    let node = plain.node(document.root)
    check.check(node, .object(shape), label: "the policy")
    var policy = ServerPolicy()
    if check.errors.isEmpty { policy.take(node, check: &check) }
    guard check.errors.isEmpty else { throw ScriptErrors(errors: check.errors, source: bytes) }
    return policy
  }

  private mutating func take(_ node: ScriptNode, check: inout ShapeCheck) {
    func choice<Value: RawRepresentable>(_ key: String, _ target: inout Value)
    where Value.RawValue == String {
      if let text = node[key]?.string, let value = Value(rawValue: text) { target = value }
    }
    choice("envelope", &envelope)
    choice("answer", &answer)
    choice("identityBody", &identityBody)
    choice("concatenatedMembers", &concatenatedMembers)
    choice("emptyBatch", &emptyBatch)
    choice("sizeMeasured", &sizeMeasured)
    choice("invalidEvent", &invalidEvent)
    choice("conflict", &conflict)
    envelopeKey = node["envelopeKey"]?.string ?? envelopeKey
    rejectedType = node["rejectedType"]?.string
    if let limit = node["maxEvents"] { maxEvents = limit.integer.map { Int($0) } }
    if let limit = node["maxBytes"] { takeMaxBytes(limit, check: &check) }
    concurrency = node["concurrency"]?.integer.map { Int($0) } ?? concurrency
    answerWithinNs = ServerPolicy.duration(node["answerWithin"]) ?? answerWithinNs
    storedWithinNs = ServerPolicy.duration(node["storedWithin"]) ?? storedWithinNs
    maxRetryAfterNs = ServerPolicy.duration(node["maxRetryAfter"]) ?? maxRetryAfterNs
    if let within = node["answerWithin"], answerWithinNs == 0 {
      check.fail(within.position, "\"answerWithin\" is zero")
    }
  }

  /// Sizes that a check can make: an event with its envelope at least, memory at most.
  private static let sizes: ClosedRange<Int64> = 2_000...64_000_000

  private mutating func takeMaxBytes(_ node: ScriptNode, check: inout ShapeCheck) {
    maxBytes = nil
    // The shape has checked the text; null is no text and means no limit.
    guard let text = node.string, let size = try? Quantity.size(text) else { return }
    guard ServerPolicy.sizes.contains(size) else {
      return check.fail(
        node.position, "\"maxBytes\" is out of range (2KB to 64MB)", length: text.count + 2)
    }
    maxBytes = Int(size)
  }

  private static func duration(_ node: ScriptNode?) -> Int64? {
    // The shape has checked the text.
    node?.string.flatMap { try? Quantity.duration($0) }
  }
}
