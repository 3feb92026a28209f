import MockBatchServer

/// What an HTTP client without sockets gets to see.
enum ClientOutcome: Sendable {
  case answer(status: Int, headers: [(name: String, value: String)], body: [UInt8])
  /// A `URLError` code, as the same event over TCP gives.
  case failed(code: Int)
}

/// Collects an answer for a client that knows whole ones only: the virtual lane's device and the
/// intercepted requests of the `urlprotocol` lane.
final class WholeAnswer: InProcessSink {
  private struct State {
    var head: HTTPResponse?
    var body: [UInt8] = []
  }
  private let state = Guarded(State())
  private let deliver: @Sendable (ClientOutcome) -> Void

  /// `deliver` is called at most once.
  init(deliver: @escaping @Sendable (ClientOutcome) -> Void) { self.deliver = deliver }

  func receive(head: HTTPResponse) { state.withLock { $0.head = head } }
  func receive(body: [UInt8]) { state.withLock { $0.body += body } }

  func finish() {
    let (head, body) = state.withLock { ($0.head, $0.body) }
    guard let head else { return fail(.noAnswer) }
    deliver(
      .answer(
        status: head.status, headers: head.headers.map { (name: $0.name, value: $0.value) },
        body: body))
  }

  func fail(_ failure: InProcessFailure) { deliver(.failed(code: failure.rawValue)) }
}
