/// How an exchange fails for a client that has no socket, in the terms of `URLError`.
package enum InProcessFailure: Int, Sendable, Hashable {
  /// Closed before a whole answer came (`badServerResponse`).
  case noAnswer = -1011
  /// Reset, or closed inside the body (`networkConnectionLost`).
  case connectionLost = -1005
  /// Bytes that are no HTTP: `unsupportedURL`, which is what Linux's URLSession makes of them.
  case notHTTP = -1002
  /// Nobody listens (`cannotConnectToHost`).
  case refused = -1004
}

/// Who receives what an exchange sends. Called by one exchange in order, on any thread.
package protocol InProcessSink: AnyObject, Sendable {
  /// The head; `body` is empty.
  func receive(head: HTTPResponse)
  func receive(body: [UInt8])
  /// The answer is complete.
  func finish()
  func fail(_ failure: InProcessFailure)
}

/// Performs exchanges without a socket: for a `URLProtocol` in the same process, and for a runner
/// that answers the intercepted requests of another process.
///
/// A request that stalls never calls its sink back; the client's own deadline ends it.
package final class InProcessPerformer: Sendable {
  private let handler: any ExchangeHandler
  private let listener: @Sendable () -> ListenerState
  private let connections = Guarded(0)

  /// - Parameters:
  ///   - handler: the engine, or who stands before it.
  ///   - listener: what the plan's timeline says the listener does.
  package init(
    handler: any ExchangeHandler, listener: @escaping @Sendable () -> ListenerState = { .accept }
  ) {
    self.handler = handler
    self.listener = listener
  }

  /// Sends a complete request as the only one of a new connection.
  ///
  /// - Returns: the running exchange, to be cancelled when the client goes.
  @discardableResult
  package func send(
    _ request: HTTPRequest, peer: String = "in-process", to sink: any InProcessSink
  ) -> InProcessRun {
    let run = prepare(request, peer: peer, to: sink)
    switch listener() {
    case .accept: run.start()
    case .refuse: sink.fail(.refused)
    case .blackhole: break
    }
    return run
  }

  /// A request that `InProcessRun.start` sends, for callers that must know the run before its sink
  /// is called. The listener's state is theirs to heed.
  package func prepare(
    _ request: HTTPRequest, peer: String = "in-process", to sink: any InProcessSink
  ) -> InProcessRun {
    let connection = connections.access { count -> Int in
      count += 1
      return count
    }
    return InProcessRun(
      handler: handler, request: request, sink: sink, connection: connection, peer: peer)
  }
}

/// One request on its way.
///
/// Guard: `state`; steps are taken by whoever holds `isRunning`.
package final class InProcessRun: @unchecked Sendable {
  private struct State {
    var exchange: (any Exchange)?
    var isRunning = false
    var isOver = false
    /// A park ended while the walk was still on its way out.
    var isReady = false
  }
  private let handler: any ExchangeHandler
  private let request: HTTPRequest
  private let sink: any InProcessSink
  private let connection: Int
  private let peer: String
  private let state = Guarded(State())
  private let progress = Guarded(Progress())

  private struct Progress {
    var sentBytes = 0
    var framing: BodyFraming?
    var hasEnded = false

    /// Whether the client has all of the answer, however the connection ends.
    var isWhole: Bool {
      switch framing {
      case .length(let count): return sentBytes >= count
      case .chunked: return hasEnded
      case .untilClose, nil: return false
      }
    }
  }

  init(
    handler: any ExchangeHandler, request: HTTPRequest, sink: any InProcessSink, connection: Int,
    peer: String
  ) {
    self.handler = handler
    self.request = request
    self.sink = sink
    self.connection = connection
    self.peer = peer
  }

  /// Opens the connection and goes on until the exchange parks or ends. Called once.
  package func start() {
    handler.connectionOpened(connection, peer: peer)
    walk()
  }

  /// The client is gone; nothing more is sent to the sink.
  package func cancel() { end(.clientWentAway) }

  /// The server ends in the midst of it: the client loses its connection.
  package func serverStopped() {
    if end(.serverStopped) { sink.fail(.connectionLost) }
  }

  /// Takes steps until one parks or ends the exchange. A park that ends at once, or meanwhile on
  /// another thread, is taken up by the walk that is on its way, so the stack never grows.
  private func walk() {
    let isMine = state.access { state -> Bool in
      guard !state.isOver else { return false }
      if state.isRunning {
        state.isReady = true
        return false
      }
      state.isRunning = true
      return true
    }
    guard isMine else { return }
    while true {
      var goesOn = true
      while goesOn { goesOn = step() }
      let again = state.access { state -> Bool in
        guard state.isReady, !state.isOver else {
          state.isRunning = false
          return false
        }
        state.isReady = false
        return true
      }
      if !again { return }
    }
  }

  private func step() -> Bool {
    guard let step = nextStep() else { return false }
    switch step {
    case .readBody(let limit):
      exchange?.supply(
        request.body.count > limit
          ? .tooLarge : .complete(request.body, trailers: request.trailers))
    case .limitReading: break
    case .park(let park):
      park.whenReady { [self] in walk() }
      return false
    case .send(let response):
      send(head: response, .length(response.body.count))
      send(body: response.body)
    case .sendHead(let response, let framing): send(head: response, framing)
    case .sendBody(let bytes): send(body: bytes)
    case .sendRaw(let bytes):
      // Behind a whole answer nobody reads on.
      guard !progress.access({ $0.isWhole }) else { break }
      // A head that is cut off is HTTP as far as it goes.
      let isCutHead = bytes.starts(with: "HTTP/1.1".utf8)
      finish(with: isCutHead ? .connectionLost : .notHTTP)
      return false
    case .endBody: progress.access { $0.hasEnded = true }
    case .finish(let finish): return perform(finish)
    }
    return true
  }

  private func nextStep() -> ExchangeStep? {
    guard !isOver else { return nil }
    if let exchange { return exchange.next() }
    var head = request
    head.body = []
    head.trailers = HTTPHeaders()
    let context = RequestContext(
      connection: connection, indexOnConnection: 0, peer: peer)
    let begun = handler.begin(head, context: context)
    state.access { $0.exchange = begun }
    return begun.next()
  }

  private var exchange: (any Exchange)? { state.access { $0.exchange } }

  private var isOver: Bool { state.access { $0.isOver } }

  private func send(head: HTTPResponse, _ framing: BodyFraming) {
    guard !isOver else { return }
    progress.access { $0.framing = request.method == "HEAD" ? .length(0) : framing }
    var head = head
    head.body = []
    sink.receive(head: head)
  }

  private func send(body: [UInt8]) {
    let wanted = progress.access { progress -> Int in
      // A client reads no further than the length that it was told.
      var wanted = body.count
      if case .length(let count)? = progress.framing { wanted = count - progress.sentBytes }
      wanted = max(0, min(wanted, body.count))
      progress.sentBytes += wanted
      return wanted
    }
    guard wanted > 0, !isOver else { return }
    sink.receive(body: wanted < body.count ? Array(body[..<wanted]) : body)
  }

  private func perform(_ finish: ExchangeFinish) -> Bool {
    let progress = progress.access { $0 }
    guard !progress.isWhole else {
      self.finish(with: nil)
      return false
    }
    switch finish {
    case .keepAlive, .close, .halfClose:
      switch progress.framing {
      case nil: self.finish(with: .noAnswer)
      case .untilClose: self.finish(with: nil)
      case .length, .chunked: self.finish(with: .connectionLost)
      }
    case .reset: self.finish(with: .connectionLost)
    case .stall(let park):
      // What ends the stall is the client's deadline (`cancel`) or the plan's.
      park?.whenReady { [self] in
        self.finish(with: progress.framing == nil ? .noAnswer : .connectionLost)
      }
    }
    return false
  }

  private func finish(with failure: InProcessFailure?) {
    guard end(.completed) else { return }
    if let failure { sink.fail(failure) } else { sink.finish() }
  }

  @discardableResult
  private func end(_ ending: ExchangeEnding) -> Bool {
    let ended = state.access { state -> (Bool, (any Exchange)?) in
      guard !state.isOver else { return (false, nil) }
      state.isOver = true
      return (true, state.exchange)
    }
    guard ended.0 else { return false }
    ended.1?.ended(bytesSent: progress.access { $0.sentBytes }, ending)
    handler.connectionClosed(connection)
    return true
  }
}
