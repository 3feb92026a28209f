import JSONText

/// Why the contract refuses a request (RFC 9457 problem details). The raw value ends the problem's
/// `type`, `urn:mock-batch-server:<kind>`.
public enum ProblemKind: String, Sendable, Hashable, CaseIterable {
  case missingToken = "missing-token"
  case badToken = "bad-token"
  case expiredToken = "expired-token"
  case wrongContentType = "wrong-content-type"
  case unsupportedEncoding = "unsupported-encoding"
  case identityBody = "identity-body"
  case gzipBody = "gzip-body"
  case notGzip = "not-gzip"
  case truncatedGzip = "truncated-gzip"
  case corruptGzip = "corrupt-gzip"
  case gzipChecksum = "gzip-checksum"
  case gzipLength = "gzip-length"
  case trailingBytes = "trailing-bytes"
  case concatenatedMembers = "concatenated-members"
  case bomb = "decompression-bomb"
  case bodyTooLarge = "body-too-large"
  case tooManyEvents = "too-many-events"
  case invalidJSON = "invalid-json"
  case duplicateKey = "duplicate-key"
  case wrongEnvelope = "wrong-envelope"
  case emptyBatch = "empty-batch"
  case invalidEvent = "invalid-event"
  case notFound = "not-found"
  case methodNotAllowed = "method-not-allowed"
  case scriptedFault = "scripted-fault"
  case ledgerFailed = "ledger-failed"

  /// The status where the plan names no other.
  var status: Int {
    switch self {
    case .missingToken, .badToken, .expiredToken: return 401
    case .wrongContentType, .unsupportedEncoding, .identityBody, .gzipBody: return 415
    case .bomb, .bodyTooLarge, .tooManyEvents: return 413
    case .notFound: return 404
    case .methodNotAllowed: return 405
    case .scriptedFault, .ledgerFailed: return 503
    default: return 400
    }
  }

  /// The problem's title: the same for every occurrence.
  var title: String {
    switch self {
    case .missingToken: return "A bearer token is required"
    case .badToken: return "The bearer token is not accepted"
    case .expiredToken: return "The bearer token has expired"
    case .wrongContentType: return "The content type must be application/json"
    case .unsupportedEncoding: return "The content encoding is not supported"
    case .identityBody: return "The body must be compressed with gzip"
    case .gzipBody: return "A compressed body is not accepted"
    case .notGzip: return "The body is not gzip"
    case .truncatedGzip: return "The gzip body is cut off"
    case .corruptGzip: return "The gzip body is damaged"
    case .gzipChecksum: return "The CRC of the gzip body is wrong"
    case .gzipLength: return "The length in the gzip trailer is wrong"
    case .trailingBytes: return "Bytes follow the gzip member"
    case .concatenatedMembers: return "The body has more than one gzip member"
    case .bomb: return "The body grows too much when decompressed"
    case .bodyTooLarge: return "The body is too large"
    case .tooManyEvents: return "The batch has too many events"
    case .invalidJSON: return "The body is not JSON"
    case .duplicateKey: return "An object has a key twice"
    case .wrongEnvelope: return "The body is not a batch"
    case .emptyBatch: return "The batch has no events"
    case .invalidEvent: return "An event does not follow the format"
    case .notFound: return "Nothing is here"
    case .methodNotAllowed: return "The method is not allowed"
    case .scriptedFault: return "The fault plan answers so"
    case .ledgerFailed: return "The ledger could not be written"
    }
  }
}

/// One refusal, with what is needed to find its cause.
package struct Problem: Error, Sendable, Hashable {
  package var kind: ProblemKind
  package var status: Int
  /// What is wrong here; never holds the token or payload text.
  package var detail: String
  /// JSON pointer (RFC 6901) to the fault.
  package var pointer: String?
  /// The fault's place in the decompressed text.
  package var position: JSONPosition?
  /// Methods for `Allow`.
  package var allow: [String] = []

  package init(
    _ kind: ProblemKind, _ detail: String, status: Int? = nil, pointer: String? = nil,
    position: JSONPosition? = nil
  ) {
    self.kind = kind
    self.status = status ?? kind.status
    self.detail = detail
    self.pointer = pointer
    self.position = position
  }

  /// The answer: `application/problem+json` with the headers its status asks for.
  package var response: HTTPResponse {
    var members: JSONObject = [
      "type": .string("urn:mock-batch-server:\(kind.rawValue)"), "title": .string(kind.title),
      "status": .number(status), "detail": .string(detail),
    ]
    if let pointer { members["pointer"] = .string(pointer) }
    if let position {
      members["line"] = .number(position.line)
      members["column"] = .number(position.column)
      members["offset"] = .number(position.offset)
    }
    var headers: HTTPHeaders = ["Content-Type": "application/problem+json"]
    if status == 401 { headers.add("WWW-Authenticate", challenge) }
    if status == 405 { headers.add("Allow", allow.joined(separator: ", ")) }
    // RFC 9110, section 12.5.3: a 415 names the codings that would do.
    if kind == .unsupportedEncoding || kind == .identityBody {
      headers.add("Accept-Encoding", "gzip")
    }
    if kind == .gzipBody { headers.add("Accept-Encoding", "identity") }
    return HTTPResponse(status: status, headers: headers, body: JSONWriter.bytes(.object(members)))
  }

  /// RFC 6750, section 3: no error code where no token came.
  private var challenge: String {
    kind == .missingToken
      ? "Bearer realm=\"telemetry\"" : "Bearer realm=\"telemetry\", error=\"invalid_token\""
  }
}
