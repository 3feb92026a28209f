/// Prints a request as a shell command that can be pasted: the token stays a variable, the body
/// travels as base64.
struct CurlCommand {
  private(set) var target: Target
  let tokenVariable: String
  let expiredVariable: String
  let caFile: String?
  /// Cleans what is not the body: base64 must stay as it is, and holds no token.
  let redactor: Redactor

  init(
    target: Target, tokenVariable: String, expiredVariable: String, caFile: String?,
    redactor: Redactor
  ) {
    self.redactor = redactor
    self.target = target
    self.tokenVariable = tokenVariable
    self.expiredVariable = expiredVariable
    self.caFile = caFile
  }

  /// The same for another target.
  init(_ other: CurlCommand, target: Target) {
    self = other
    self.target = target
  }

  /// Longer base64 lines than this are made by a command instead, where one can make them.
  static let longestLine = 100_000

  func text(for request: ProbeRequest) -> String {
    var parts = ["curl -sS -i --http1.1"]
    if let caFile { parts.append("--cacert \(quoted(caFile))") }
    switch request.manner {
    case .resetAfterUpload: parts.append("--max-time 1")
    case .expectContinue: parts.append("-H 'Expect: 100-continue'")
    case .slow: parts.append("--limit-rate \(max(1, request.body.count / 2))")
    case .plain, .halfThenClose: break
    }
    let url = redactor.clean(target.origin + (request.path ?? target.path))
    parts.append("-X \(request.method) \(quoted(url))")
    if let authorization = authorization(request.token) { parts.append("-H \(authorization)") }
    parts.append("-H \(quoted("Accept: \(request.accept)"))")
    guard request.hasBody else { return parts.joined(separator: " ") }
    parts.append("-H \(quoted("Content-Type:" + (request.contentType.map { " " + $0 } ?? "")))")
    if let encoding = request.contentEncoding {
      parts.append("-H \(quoted("Content-Encoding: \(encoding)"))")
    }
    switch request.framing {
    case .contentLength: break
    case .chunked: parts.append("-H 'Transfer-Encoding: chunked'")
    case .fields(let fields): parts += fields.map { "-H \(quoted($0))" }
    }
    parts.append("--data-binary @-")
    return "\(source(of: request.body)) | \(parts.joined(separator: " "))\(note(request))"
  }

  private func authorization(_ token: ProbeRequest.Token) -> String? {
    switch token {
    case .none: return nil
    case .valid: return "\"Authorization: Bearer $\(tokenVariable)\""
    case .expired: return "\"Authorization: Bearer $\(expiredVariable)\""
    case .validWithScheme(let scheme): return "\"Authorization: \(scheme) $\(tokenVariable)\""
    case .field(let value): return quoted("Authorization: \(value)")
    }
  }

  private func source(of body: [UInt8]) -> String {
    let base64 = Base64.text(body)
    if base64.utf8.count <= CurlCommand.longestLine {
      return "printf %s '\(base64)' | base64 -d"
    }
    return "head -c \(body.count) /dev/urandom"
  }

  private func note(_ request: ProbeRequest) -> String {
    switch request.manner {
    case .resetAfterUpload: return "  # verify resets the connection instead of reading the answer"
    case .halfThenClose: return "  # verify sends half of this and closes"
    default: return request.body.count > CurlCommand.longestLine ? "  # same size, random" : ""
    }
  }

  private func quoted(_ text: String) -> String {
    "'" + text.substituting("'", with: "'\\''") + "'"
  }
}
