/// What an outcome of a request means: one case per reason.
package enum DeliveryDecision: String, Sendable, CaseIterable {
  /// Rows are deleted; those that the server names as rejected go to quarantine.
  case delivered
  /// Not our server's answer (captive portal, redirect): rows kept, own backoff.
  case notOurServer
  /// Rows kept; `Retry-After` where there is one, else own backoff.
  case retryLater
  /// No answer: rows kept, own backoff that a restored path may cut short.
  case retryConnection
  /// No answer on a connection used before: one retry at once, then as `retryConnection`.
  case retryQuickly
  /// The token is not good: never the same request with it again.
  case refreshToken
  /// The body is too large: never the same body again, in halves instead.
  case split
  /// Final: the body's rows go to quarantine, or in isolate mode the body is halved.
  case refuse
  /// A status that means nothing here: rows kept, own backoff.
  case notUnderstood

  package static func decide(_ outcome: UploadOutcome) -> DeliveryDecision {
    switch outcome {
    case .failed(_, let lostReusedConnection):
      return lostReusedConnection ? .retryQuickly : .retryConnection
    case .answered(let facts):
      return decide(status: facts.status, isHTML: facts.isHTML)
    }
  }

  package static func decide(status: Int, isHTML: Bool) -> DeliveryDecision {
    switch status {
    case 200...299: return isHTML ? .notOurServer : .delivered
    case 300...399, 511: return .notOurServer
    case 401: return .refreshToken
    case 413: return .split
    case 429, 500...599: return .retryLater
    case 400...499: return .refuse
    default: return .notUnderstood
    }
  }
}
