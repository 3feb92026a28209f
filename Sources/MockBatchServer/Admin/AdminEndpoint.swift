import JSONText

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
  var query: [AdminParameter] = []
  /// Schema of the request body.
  var body: JSONValue?
  /// Status and meaning of the answers, besides 401 and 403.
  var answers: [(status: Int, about: String)] = [(200, "Done.")]
  /// Media type of the good answer.
  var mediaType = "application/json"
  /// Whether it looks through many entries or opens bodies, which must not hold up the requests of
  /// others.
  var takesLong = false
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
