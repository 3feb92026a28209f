import JSONText

/// A batch that the contract has read.
package struct DecodedBatch: Sendable {
  /// One good event.
  package struct Event: Sendable, Hashable {
    package var key: EventKey
    /// Hash of what the event says.
    package var content: UInt64
  }
  /// One event that is not taken, and why.
  package struct Rejection: Sendable, Hashable {
    package var index: Int
    package var id: String?
    package var reason: String
  }
  /// The batch as JSON text.
  package var text: [UInt8]
  package var events: [Event] = []
  package var rejections: [Rejection] = []
  /// The account of the token.
  package var account: String?
  /// A hash of the set of event ids: the same for the same events in any order.
  package var identity: UInt64 = 0
  /// How many events the batch holds, rejected ones included.
  package var eventCount: Int { events.count + rejections.count }
}

/// The rules of `POST /v1/telemetry/batch`: what a request must be to be a batch. Pure, but for the
/// inflaters it keeps.
package final class BatchContract: Sendable {
  package let rules: ContractRules
  private let inflaters = InflaterPool()
  private let rejectedTypes: Set<String>
  /// The pointer to the array of events, escaped once.
  private let listPointer: String

  package init(rules: ContractRules) {
    self.rules = rules
    rejectedTypes = Set(rules.rejectTypes)
    listPointer = rules.envelopeKey.map { "/" + PlanReader.escaped($0) } ?? ""
  }

  /// Checks what the head alone shows: token, content type, content encoding.
  ///
  /// - Parameters:
  ///   - sinceActivationNs: the time for the tokens' expiry.
  /// - Returns: the account of the token.
  /// - Throws: `Problem`.
  package func checkHead(_ request: HTTPRequest, sinceActivationNs: Int64) throws -> String? {
    let account = try checkToken(request.headers, sinceActivationNs)
    try checkContentType(request.headers)
    _ = try isCompressed(request.headers)
    return account
  }

  /// Reads the body of a request whose head is good.
  ///
  /// - Throws: `Problem`.
  package func decode(_ request: HTTPRequest, account: String?) throws -> DecodedBatch {
    let text = try self.text(of: request)
    let document: JSONDocument
    do {
      document = try JSONDocument(
        parsing: text, limits: JSONLimits(maxDepth: rules.maxDepth, maxBytes: rules.maxBodyBytes))
    } catch let error as JSONError {
      throw Problem(.invalidJSON, error.reason, position: error.position)
    }
    if let duplicate = document.duplicateKeys.first {
      throw Problem(
        .duplicateKey, "key \"\(duplicate.key)\" was at \(duplicate.firstPosition) already",
        position: duplicate.position)
    }
    var batch = DecodedBatch(text: text)
    batch.account = account
    try document.withCursor { try readEvents($0, into: &batch) }
    return batch
  }

  /// The body's text, decompressed where the head says so. Also serves the journal's views.
  package func text(of request: HTTPRequest) throws -> [UInt8] {
    guard request.body.count <= rules.maxWireBytes else {
      throw Problem(.bodyTooLarge, "more than \(rules.maxWireBytes) bytes were sent")
    }
    if try isCompressed(request.headers) {
      return try inflaters.gunzip(
        request.body, maxBytes: rules.maxBodyBytes, maxRatio: rules.maxRatio)
    }
    guard request.body.count <= rules.maxBodyBytes else {
      throw Problem(.bodyTooLarge, "more than \(rules.maxBodyBytes) bytes")
    }
    return request.body
  }

  // MARK: - Head

  private func checkToken(_ headers: HTTPHeaders, _ sinceActivationNs: Int64) throws -> String? {
    guard headers.contains("authorization") else {
      throw Problem(.missingToken, "no Authorization header")
    }
    if rules.tokens.isEmpty {
      let isBearer = headers.withValue(of: "authorization") { BearerToken.range($0) != nil }
      guard isBearer == true else { throw BatchContract.noBearer }
      return nil
    }
    let token = headers.withValue(of: "authorization") { value in
      BearerToken.range(value).map { String(decoding: value[$0], as: UTF8.self) }
    }
    guard let token = token ?? nil else { throw BatchContract.noBearer }
    guard let known = rules.tokens.first(where: { $0.value == token }) else {
      throw Problem(.badToken, "the token is none of the accepted ones")
    }
    if let expiry = known.expiresAtNs, sinceActivationNs >= expiry {
      throw Problem(.expiredToken, "the token has expired")
    }
    return known.account
  }

  private static let noBearer = Problem(
    .missingToken, "Authorization is not \"Bearer\" and one token")

  private func checkContentType(_ headers: HTTPHeaders) throws {
    if headers.value(of: "content-type", equals: "application/json") { return }
    guard let text = headers["content-type"] else {
      throw Problem(.wrongContentType, "no Content-Type header")
    }
    let parts = text.lowercased().split(separator: ";", omittingEmptySubsequences: false)
      .map { ASCII.trimmed($0) }
    let charsets = ["charset=utf-8", "charset=\"utf-8\""]
    guard parts[0] == "application/json", parts.dropFirst().allSatisfy(charsets.contains) else {
      throw Problem(.wrongContentType, "found another Content-Type than application/json")
    }
  }

  private func isCompressed(_ headers: HTTPHeaders) throws -> Bool {
    if headers.value(of: "content-encoding", equals: "gzip") {
      if case .refuse(let status) = rules.gzipBody {
        throw Problem(.gzipBody, "the plan refuses gzip", status: status)
      }
      return true
    }
    let coding = headers["content-encoding"]?.lowercased()
    guard coding == nil || coding == "identity" else {
      throw Problem(.unsupportedEncoding, "Content-Encoding is neither gzip nor identity")
    }
    if case .refuse(let status) = rules.identityBody {
      throw Problem(.identityBody, "no Content-Encoding: gzip", status: status)
    }
    return false
  }

  // MARK: - Body

  private func readEvents(_ root: JSONCursor, into batch: inout DecodedBatch) throws {
    let (list, pointer) = try self.list(root, batch.text)
    guard list.count <= rules.maxEvents else {
      throw Problem(
        .tooManyEvents, "\(list.count) events, at most \(rules.maxEvents)", pointer: pointer)
    }
    if list.count == 0, case .refuse(let status) = rules.emptyBatch {
      throw Problem(.emptyBatch, "the batch has no events", status: status, pointer: pointer)
    }
    batch.events.reserveCapacity(list.count)
    var item = list.firstChild
    var index = 0
    while let event = item {
      try read(event, index, pointer, into: &batch)
      item = event.next(in: list)
      index += 1
    }
  }

  private func read(
    _ event: JSONCursor, _ index: Int, _ pointer: String, into batch: inout DecodedBatch
  ) throws {
    do {
      let good = try EventCheck.check(event)
      batch.identity &+= good.key.spread
      if !rejectedTypes.isEmpty, let type = good.type.string, rejectedTypes.contains(type) {
        batch.rejections.append(
          DecodedBatch.Rejection(index: index, id: good.key.text, reason: "type not accepted"))
      } else {
        batch.events.append(DecodedBatch.Event(key: good.key, content: good.content))
      }
    } catch let fault as EventFault {
      let whole = "\(pointer)/\(index)\(fault.pointer)"
      guard rules.rejectsInvalidEvents else {
        throw Problem(
          .invalidEvent, fault.detail, pointer: whole,
          position: JSONPosition(offset: fault.offset, in: batch.text))
      }
      batch.rejections.append(
        DecodedBatch.Rejection(
          index: index, id: event.member("id")?.string, reason: "\(fault.detail) at \(whole)"))
    }
  }

  private func list(_ root: JSONCursor, _ text: [UInt8]) throws -> (JSONCursor, String) {
    func wrong(_ detail: String, _ at: JSONCursor, _ pointer: String) -> Problem {
      Problem(
        .wrongEnvelope, detail, pointer: pointer,
        position: JSONPosition(offset: at.offset, in: text))
    }
    guard let key = rules.envelopeKey else {
      guard root.kind == .array else {
        throw wrong("found \(root.kind), expected an array of events", root, "")
      }
      return (root, "")
    }
    guard root.kind == .object else {
      throw wrong("found \(root.kind), expected an object with \"\(key)\"", root, "")
    }
    guard let list = root.member(key) else {
      throw wrong("no member \"\(key)\"", root, "")
    }
    guard list.kind == .array else {
      throw wrong("found \(list.kind), expected an array of events", list, listPointer)
    }
    guard root.count == 1 else { throw wrong("members beside \"\(key)\"", root, "") }
    return (list, listPointer)
  }
}

/// The `Authorization` header of RFC 6750.
enum BearerToken {
  /// Where the token lies in the header's value; nil when it is no bearer token.
  static func range(_ value: UnsafeRawBufferPointer) -> Range<Int>? {
    let scheme: StaticString = "bearer "
    let length = scheme.utf8CodeUnitCount
    guard value.count > length else { return nil }
    for at in 0..<length where ASCII.lowercased(value[at]) != scheme.utf8Start[at] { return nil }
    var start = length
    while start < value.count, value[start] == ASCII.space { start += 1 }
    guard start < value.count else { return nil }
    for at in start..<value.count where value[at] <= 0x20 || value[at] >= 0x7f { return nil }
    return start..<value.count
  }
}
