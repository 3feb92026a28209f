/// A bearer token, and whose it is.
public struct AccessToken: Sendable, Hashable {
  /// Sent as `Authorization: Bearer <value>`. Never stored, never logged.
  public var value: String
  /// Names the account whose events may go out under this token; `""` where the app has no
  /// accounts. At most `maxAccountBytes`; stored under the seal beside each event. A token with a
  /// longer name counts as none.
  public var account: String
  /// Bytes of UTF-8 that an account's name may have.
  public static let maxAccountBytes = 200

  /// Makes a token.
  public init(value: String, account: String = "") {
    self.value = value
    self.account = account
  }
}

/// Where tokens come from: the app.
///
/// Asked by one call at a time: when there is something to send and no token is known, after a
/// 401, and again at foreground, path restored, flush, `tokenDidChange` and every five minutes
/// of activity while none is usable.
public protocol TokenProvider: Sendable {
  /// Answers once, from any thread, now or later; nil where there is no token (signed out, no
  /// network). An answer later than `tokenTimeout` is ignored. Called on the SDK's own executor:
  /// must not block. May call any method of `Telemetry`.
  func token(_ completion: @escaping @Sendable (AccessToken?) -> Void)
}

/// A provider that always gives the same token: for tests, demos and API keys.
public struct StaticTokenProvider: TokenProvider {
  private let answer: AccessToken?

  /// Makes a provider of one token; nil means never any.
  public init(_ token: AccessToken?) { answer = token }

  /// Answers at once.
  public func token(_ completion: @escaping @Sendable (AccessToken?) -> Void) { completion(answer) }
}
