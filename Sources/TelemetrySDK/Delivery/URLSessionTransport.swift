import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends batches with `URLSession`: ephemeral, no cache, no cookies, redirects refused.
///
/// The body goes as `httpBody` of a data task: an upload task's body is hidden from a
/// `URLProtocol` on Linux. One session a request there, because libcurl hangs when a connection
/// that it reused was dropped; elsewhere one session serves all.
package final class URLSessionTransport: BatchTransport {
  /// An answer's body beyond this is cut off.
  static let maxAnswerBytes = 1_000_000

  private let requestTimeoutSeconds: Double
  private let resourceTimeoutSeconds: Double
  private let protocolClasses: [AnyClass]
  private let shared: SessionTask.Box?

  /// - Parameters:
  ///   - requestTimeoutSeconds: Real seconds without a byte; a guard behind the engine's own
  ///     deadline.
  ///   - resourceTimeoutSeconds: Real seconds for everything.
  ///   - protocolClasses: Intercepting classes, asked before the system's.
  package init(
    requestTimeoutSeconds: Double = 30, resourceTimeoutSeconds: Double = 120,
    protocolClasses: [AnyClass] = []
  ) {
    self.requestTimeoutSeconds = requestTimeoutSeconds
    self.resourceTimeoutSeconds = resourceTimeoutSeconds
    self.protocolClasses = protocolClasses
    #if canImport(FoundationNetworking)
      shared = nil
    #else
      shared = SessionTask.Box()
    #endif
  }

  package func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    guard let url = URL(string: request.url) else {
      completion(.failure(TransportFailure(code: URLError.badURL.rawValue, description: "url")))
      return SessionTask.none
    }
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = "POST"
    urlRequest.httpBody = Data(request.body)
    urlRequest.httpShouldHandleCookies = false
    for header in request.headers {
      urlRequest.setValue(header.value, forHTTPHeaderField: header.name)
    }
    return SessionTask.start(
      urlRequest, configuration: configuration(), shared: shared, completion: completion)
  }

  private func configuration() -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.timeoutIntervalForRequest = requestTimeoutSeconds
    configuration.timeoutIntervalForResource = resourceTimeoutSeconds
    configuration.httpMaximumConnectionsPerHost = 1
    if !protocolClasses.isEmpty { configuration.protocolClasses = protocolClasses }
    return configuration
  }
}
