import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request of `URLSessionTransport`, as its delegate: collects the answer, refuses redirects,
/// calls back once.
final class SessionTask: NSObject, TransportTask, URLSessionDataDelegate, @unchecked Sendable {
  // Guard: `state` is a lock box; everything else is constant.
  typealias Completion = @Sendable (Result<BatchAnswer, TransportFailure>) -> Void

  private struct State {
    var completion: Completion?
    var response: HTTPURLResponse?
    var body: [UInt8] = []
    var reusedConnection = false
    var task: URLSessionDataTask?
  }
  private let state: Guarded<State>

  /// A task that is over.
  static let none = SessionTask(completion: nil)

  /// The session that serves all requests, where the platform allows it.
  final class Box: Sendable {
    let session = Guarded<URLSession?>(nil)
  }

  private init(completion: Completion?) { state = Guarded(State(completion: completion)) }

  static func start(
    _ request: URLRequest, configuration: URLSessionConfiguration, shared: Box?,
    completion: @escaping Completion
  ) -> SessionTask {
    let handler = SessionTask(completion: completion)
    let task: URLSessionDataTask
    #if canImport(FoundationNetworking)
      let session = URLSession(
        configuration: configuration, delegate: handler, delegateQueue: nil)
      task = session.dataTask(with: request)
      handler.state.withLock { $0.task = task }
      task.resume()
      // Frees the session's threads and descriptors once the task is over.
      session.finishTasksAndInvalidate()
    #else
      let session =
        shared?.session.withLock { session -> URLSession in
          let made = session ?? URLSession(configuration: configuration)
          session = made
          return made
        } ?? URLSession(configuration: configuration)
      task = session.dataTask(with: request)
      task.delegate = handler
      handler.state.withLock { $0.task = task }
      task.resume()
    #endif
    return handler
  }

  func cancel() { state.withLock { $0.task }?.cancel() }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Never followed: the token must not leave the host that it was made for.
    state.withLock { $0.response = response }
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    state.withLock { $0.response = response as? HTTPURLResponse }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { state in
      let room = URLSessionTransport.maxAnswerBytes - state.body.count
      if room > 0 { state.body.append(contentsOf: data.prefix(room)) }
    }
  }

  #if !canImport(FoundationNetworking)
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
      let reused = metrics.transactionMetrics.last?.isReusedConnection ?? false
      state.withLock { $0.reusedConnection = reused }
    }
  #endif

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?
  ) {
    let (completion, result) = state.withLock {
      state -> (Completion?, Result<BatchAnswer, TransportFailure>) in
      defer {
        state.completion = nil
        state.task = nil
      }
      return (state.completion, SessionTask.result(state.response, state.body, error, state))
    }
    completion?(result)
  }

  private static func result(
    _ response: HTTPURLResponse?, _ body: [UInt8], _ error: Error?, _ state: State
  ) -> Result<BatchAnswer, TransportFailure> {
    if let error {
      let code = (error as? URLError)?.code.rawValue ?? (error as NSError).code
      let lost = code == URLError.networkConnectionLost.rawValue
      return .failure(
        TransportFailure(
          code: code,
          lostReusedConnection: lost && state.reusedConnection && response == nil,
          description: error.localizedDescription))
    }
    guard let response else {
      return .failure(
        TransportFailure(code: URLError.badServerResponse.rawValue, description: "no answer"))
    }
    let headers = response.allHeaderFields.compactMap { field -> (name: String, value: String)? in
      guard let name = field.key as? String, let value = field.value as? String else { return nil }
      return (name, value)
    }
    return .success(BatchAnswer(status: response.statusCode, headers: headers, body: body))
  }
}
