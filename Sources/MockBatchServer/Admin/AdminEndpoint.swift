import JSONText

/// A request to an endpoint of the admin, its path taken apart.
struct AdminCall {
  let request: HTTPRequest
  /// What stands in the place of `{…}` in the endpoint's path.
  let parameter: String

  /// The first value of a query parameter.
  func query(_ name: String) -> String? {
    RequestView(
      request: request, context: RequestContext(connection: 0, indexOnConnection: 0), attempt: nil,
      decodedBody: { nil }
    ).queryValues(name).first
  }

  /// An integer query parameter within bounds; the default where it is absent.
  ///
  /// - Throws: `AdminProblem`.
  func integer(_ name: String, default standard: Int, in range: ClosedRange<Int>) throws -> Int {
    guard let text = query(name) else { return standard }
    guard let value = Int(text), range.contains(value) else {
      throw AdminProblem(
        400, "\(name) is an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  /// The body as JSON.
  ///
  /// - Throws: `AdminProblem`.
  func json() throws -> JSONDocument {
    do {
      return try JSONDocument(
        parsing: request.body, limits: JSONLimits(maxDepth: 64, maxBytes: AdminCall.maxBody))
    } catch let error as JSONError {
      throw AdminProblem(400, "the body is not JSON: \(error.reason)", position: error.position)
    }
  }

  /// Bytes of a body.
  static let maxBody = 4_000_000
}

/// Why the admin refuses a call.
struct AdminProblem: Error {
  let status: Int
  let detail: String
  var position: JSONPosition?
  var extra: JSONObject = [:]
  var allow: [String] = []

  init(_ status: Int, _ detail: String, position: JSONPosition? = nil) {
    self.status = status
    self.detail = detail
    self.position = position
  }

  var response: HTTPResponse {
    var members: JSONObject = [
      "type": "urn:mock-batch-server:admin", "title": .string("\(HTTPResponse.reason(status))"),
      "status": .number(status), "detail": .string(detail),
    ]
    if let position {
      members["line"] = .number(position.line)
      members["column"] = .number(position.column)
    }
    for (key, value) in extra { members[key] = value }
    var headers: HTTPHeaders = ["Content-Type": "application/problem+json"]
    if !allow.isEmpty { headers.add("Allow", allow.joined(separator: ", ")) }
    if status == 401 { headers.add("WWW-Authenticate", "Bearer realm=\"admin\"") }
    return HTTPResponse(status: status, headers: headers, body: JSONWriter.bytes(.object(members)))
  }
}

/// What an endpoint comes to.
enum AdminResult {
  case response(HTTPResponse)
  /// The answer comes when `park` ends.
  case later(park: Park, cancel: @Sendable () -> Void, answer: @Sendable () -> HTTPResponse)
  /// Server-sent events until the client goes.
  case events(EventFeed)

  static func json(_ value: JSONValue, status: Int = 200) -> AdminResult {
    .response(
      HTTPResponse(
        status: status, headers: ["Content-Type": "application/json"],
        body: JSONWriter.bytes(value)))
  }
  static let nothing = AdminResult.response(HTTPResponse(status: 204))
}

/// One endpoint: the table of these is what is routed, and what the OpenAPI text is made from.
struct AdminEndpoint {
  let method: String
  /// Below `/__admin`; a last segment `{…}` stands for any.
  let path: String
  let about: String
  /// Names of query parameters with what they mean.
  var query: [(name: String, about: String)] = []
  /// Schema of the request body.
  var body: JSONValue?
  /// Status and meaning of the answers, besides 401 and 403.
  var answers: [(status: Int, about: String)] = [(200, "Done.")]
  /// Media type of the good answer.
  var mediaType = "application/json"
  let perform: @Sendable (AdminCall, AdminHandler) throws -> AdminResult

  /// What stands for `{…}` where the path is this endpoint's; nil where it is not.
  func parameter(of path: String) -> String? {
    guard let brace = self.path.firstIndex(of: "{") else { return path == self.path ? "" : nil }
    let stem = self.path[..<brace]
    guard path.hasPrefix(stem) else { return nil }
    let rest = path.dropFirst(stem.count)
    return rest.isEmpty || rest.contains("/") ? nil : PercentCoding.decodePath(rest)
  }
}

extension PercentCoding {
  /// Decodes a path segment, where `+` is itself.
  static func decodePath(_ text: some StringProtocol) -> String {
    decode(text.replacing("+", with: "%2B"))
  }
}

extension StringProtocol {
  /// Every occurrence of one character replaced.
  fileprivate func replacing(_ character: Character, with other: String) -> String {
    reduce(into: "") { $0 += $1 == character ? other : String($1) }
  }
}
