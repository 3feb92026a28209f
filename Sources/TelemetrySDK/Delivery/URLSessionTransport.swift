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
  /// Room for a reason of a few kilobytes for each event of the largest usual batch.
  static let maxAnswerBytes = 4_000_000

  private let requestTimeoutSeconds: Double
  private let resourceTimeoutSeconds: Double
  private let allowsExpensivePaths: Bool
  private let allowsConstrainedPaths: Bool
  private let protocolClasses: [AnyClass]
  private let shared: SessionTask.Box?

  /// - Parameters:
  ///   - requestTimeoutSeconds: Real seconds without a byte; a guard behind the engine's own
  ///     deadline.
  ///   - resourceTimeoutSeconds: Real seconds for everything.
  ///   - allowsExpensivePaths: Whether cellular and hotspots are used; the engine's own look at the
  ///     path comes late for a request that starts before the path is known.
  ///   - allowsConstrainedPaths: The same for Low Data Mode.
  ///   - protocolClasses: Intercepting classes, asked before the system's.
  package init(
    requestTimeoutSeconds: Double = 30, resourceTimeoutSeconds: Double = 120,
    allowsExpensivePaths: Bool = true, allowsConstrainedPaths: Bool = true,
    protocolClasses: [AnyClass] = []
  ) {
    self.allowsExpensivePaths = allowsExpensivePaths
    self.allowsConstrainedPaths = allowsConstrainedPaths
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

  /// As a configuration wants it. Deadlines are the engine's timers, which know of slow links;
  /// the session's own are a guard behind the longest of them, also where no byte comes for long.
  package convenience init(
    _ configuration: TelemetryConfiguration, protocolClasses: [AnyClass] = []
  ) {
    let guardMs = configuration.resourceTimeoutMs + URLSessionTransport.guardSlackMs
    self.init(
      requestTimeoutSeconds: Double(guardMs) / 1_000,
      resourceTimeoutSeconds: Double(guardMs) / 1_000,
      allowsExpensivePaths: configuration.allowsExpensivePaths,
      allowsConstrainedPaths: configuration.allowsConstrainedPaths,
      protocolClasses: protocolClasses)
  }
  private static let guardSlackMs: Int64 = 5_000

  func configuration() -> URLSessionConfiguration {
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
    #if !canImport(FoundationNetworking)
      configuration.allowsExpensiveNetworkAccess = allowsExpensivePaths
      configuration.allowsConstrainedNetworkAccess = allowsConstrainedPaths
    #endif
    if !protocolClasses.isEmpty { configuration.protocolClasses = protocolClasses }
    return configuration
  }
}
