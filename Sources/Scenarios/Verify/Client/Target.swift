/// Where the batches go: an http or https URL, taken apart without loss.
package struct Target: Sendable, Equatable {
  /// The path where a URL names only a host.
  package static let defaultPath = "/v1/telemetry/batch"

  package var secure: Bool
  package var host: String
  package var port: UInt16
  /// Path and query as they go on the request line.
  package var path: String

  /// Nil with a reason where the text is no URL that can be used.
  package static func parse(_ text: String) -> Result<Target, Problem> {
    let secure = text.lowercased().hasPrefix("https://")
    guard secure || text.lowercased().hasPrefix("http://") else {
      return .failure(Problem("must start with http:// or https://"))
    }
    let rest = text.dropFirst(secure ? 8 : 7).prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else {
      return .failure(Problem("must not carry a user name or password"))
    }
    guard let (host, portText) = split(authority), !host.isEmpty else {
      return .failure(Problem("names no host"))
    }
    var port: UInt16 = secure ? 443 : 80
    if let portText {
      guard let number = UInt16(portText), number > 0 else {
        return .failure(Problem("has the port \"\(portText)\", expected 1 to 65535"))
      }
      port = number
    }
    var path = String(rest.dropFirst(authority.count))
    guard path.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return .failure(Problem("has characters in its path that must be percent-encoded"))
    }
    if path.hasPrefix("?") { path = "/" + path }
    return .success(Target(secure: secure, host: host, port: port, path: path))
  }

  /// Why a text is no target.
  package struct Problem: Error, Equatable, Sendable {
    package var text: String
    init(_ text: String) { self.text = text }
  }

  private static func split(_ authority: Substring) -> (host: String, port: String?)? {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      let host = String(authority[authority.index(after: authority.startIndex)..<end])
      let rest = authority[authority.index(after: end)...]
      return rest.isEmpty ? (host, nil) : rest.first == ":" ? (host, String(rest.dropFirst())) : nil
    }
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2 else { return nil }
    return (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
  }

  /// The same target with the contract's path where the URL named none.
  package var withContractPath: Target {
    var target = self
    if path.isEmpty || path == "/" { target.path = Target.defaultPath }
    return target
  }

  package var hostHeader: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (secure ? 443 : 80) ? name : "\(name):\(port)"
  }
  package var origin: String { "\(secure ? "https" : "http")://\(hostHeader)" }
  package var url: String { origin + path }
}
