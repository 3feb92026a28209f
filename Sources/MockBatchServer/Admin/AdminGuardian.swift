import JSONText

/// Who may call the admin: loopback by default; beyond it, who has the token or the cookie that
/// was given for it. Foreign `Host` and `Origin` are refused, so that no web page can reach a
/// developer's server through the browser (DNS rebinding, cross-site requests).
final class AdminGuardian: Sendable {
  static let cookie = "mock_batch_server_admin"
  private let settings: AdminHandler.Settings
  private let sessions = Guarded<[String]>([])
  /// The oldest session ends when more are opened.
  private static let maxSessions = 64

  init(settings: AdminHandler.Settings) { self.settings = settings }

  /// - Throws: `AdminProblem` 401 or 403.
  func admit(_ request: HTTPRequest) throws {
    try checkOrigin(request)
    guard let token = settings.token else {
      guard settings.isLoopback else {
        throw AdminProblem(403, "beyond loopback the admin needs a token, and none is configured")
      }
      return
    }
    if hasToken(request, token) || hasSession(request) { return }
    throw AdminProblem(401, "the admin's token is required")
  }

  /// `POST session`: exchanges the token for a cookie that scripts cannot read.
  func openSession(_ request: HTTPRequest) throws -> HTTPResponse {
    try checkOrigin(request)
    guard request.method == "POST" else {
      var problem = AdminProblem(405, "the endpoint does not take this method")
      problem.allow = ["POST"]
      throw problem
    }
    guard let token = settings.token else { return HTTPResponse(status: 204) }
    guard hasToken(request, token) else {
      throw AdminProblem(401, "the admin's token is required")
    }
    var source = SystemRandomNumberGenerator()
    let session = (0..<4).map { _ in
      String(UInt64.random(in: .min ... .max, using: &source), radix: 16)
    }
    .joined(separator: "-")
    sessions.access { sessions in
      sessions.append(session)
      if sessions.count > AdminGuardian.maxSessions { sessions.removeFirst() }
    }
    let value =
      "\(AdminGuardian.cookie)=\(session); Path=\(AdminHandler.prefix); HttpOnly; SameSite=Strict"
    return HTTPResponse(status: 204, headers: ["Set-Cookie": value])
  }

  private func hasToken(_ request: HTTPRequest, _ token: String) -> Bool {
    request.headers.withValue(of: "authorization") { value in
      BearerToken.range(value).map { range in
        AdminGuardian.isSame(Array(value[range]), Array(token.utf8))
      } ?? false
    } ?? false
  }

  private func hasSession(_ request: HTTPRequest) -> Bool {
    let given = request.headers.all("cookie").flatMap { $0.split(separator: ";") }
      .map { $0.drop { $0 == " " } }
      .filter { $0.hasPrefix(AdminGuardian.cookie + "=") }
      .map { Array($0.dropFirst(AdminGuardian.cookie.count + 1).utf8) }
    let known = sessions.access { $0 }
    return given.contains { value in
      known.contains { AdminGuardian.isSame(value, Array($0.utf8)) }
    }
  }

  /// Takes the same time wherever the difference lies.
  private static func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func checkOrigin(_ request: HTTPRequest) throws {
    let hosts = request.headers.all("host")
    guard hosts.count == 1, let host = hosts.first, isOwn(host) else {
      throw AdminProblem(403, "a foreign Host")
    }
    for origin in request.headers.all("origin") {
      guard origin == "http://" + host || origin == "https://" + host else {
        throw AdminProblem(403, "a foreign Origin")
      }
    }
  }

  private func isOwn(_ host: String) -> Bool {
    let name = AdminGuardian.name(of: host).lowercased()
    if name == "localhost" || name == "[::1]" || AdminGuardian.isLoopbackAddress(name) {
      return true
    }
    if settings.hosts.contains(where: { $0.lowercased() == name }) { return true }
    // An address cannot be rebound to another machine, a name can.
    return !settings.isLoopback && (AdminGuardian.octets(name) != nil || name.hasPrefix("["))
  }

  /// `Host` without its port.
  private static func name(of host: String) -> String {
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
    return host.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) ?? ""
  }

  private static func isLoopbackAddress(_ name: String) -> Bool { octets(name)?.first == 127 }

  private static func octets(_ name: String) -> [UInt8]? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let octets = parts.compactMap { UInt8($0) }
    return parts.count == 4 && octets.count == 4 ? octets : nil
  }
}
