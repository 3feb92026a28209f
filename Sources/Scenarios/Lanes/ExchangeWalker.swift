import MockBatchServer

/// What an HTTP client without sockets gets to see.
enum ClientOutcome: Sendable {
  case answer(status: Int, headers: [(name: String, value: String)], body: [UInt8])
  /// A `URLError` code, as the same event over TCP gives.
  case failed(code: Int)
}

/// Performs one exchange for a client that knows whole answers only: the virtual lane's device and
/// the intercepted requests of the `urlprotocol` lane.
///
/// Thread safe: parks call back on other threads, the client may cancel at any time.
final class ExchangeWalker: Sendable {
  private struct State {
    var answer: HTTPResponse?
    var body: [UInt8] = []
    var framing: BodyFraming?
    var bytesSent = 0
    var isGarbled = false
    var isComplete = false
    var isOver = false
    var isWalking = false
    var shouldWalkAgain = false
  }

  static let connectionLost = -1005
  static let cannotParse = -1017

  private let exchange: any Exchange
  private let body: [UInt8]
  private let state = Guarded(State())
  private let deliver: @Sendable (ClientOutcome) -> Void

  /// `deliver` is called at most once; never after `cancel`.
  init(
    _ exchange: any Exchange, body: [UInt8], deliver: @escaping @Sendable (ClientOutcome) -> Void
  ) {
    self.exchange = exchange
    self.body = body
    self.deliver = deliver
  }

  /// Goes on until the exchange parks or ends.
  func walk() {
    let mayWalk = state.withLock { state -> Bool in
      if state.isOver { return false }
      if state.isWalking {
        state.shouldWalkAgain = true
        return false
      }
      state.isWalking = true
      return true
    }
    guard mayWalk else { return }
    while true {
      while perform(exchange.next()) {}
      let again = state.withLock { state -> Bool in
        defer { state.shouldWalkAgain = false }
        if state.shouldWalkAgain && !state.isOver { return true }
        state.isWalking = false
        return false
      }
      if !again { return }
    }
  }

  /// The client has gone away.
  func cancel() {
    guard let sent = close() else { return }
    exchange.ended(bytesSent: sent, .clientWentAway)
  }

  /// Nil where it is over already.
  private func close() -> Int? {
    state.withLock { state in
      if state.isOver { return nil }
      state.isOver = true
      return state.bytesSent
    }
  }

  /// True to go on at once.
  private func perform(_ step: ExchangeStep) -> Bool {
    if state.withLock({ $0.isOver }) { return false }
    switch step {
    case .readBody(let limit):
      exchange.supply(body.count > limit ? .tooLarge : .complete(body, trailers: HTTPHeaders()))
    case .park(let park):
      park.whenReady { [self] in walk() }
      return false
    case .send(let response):
      state.withLock { state in
        state.answer = response
        state.body = response.body
        state.bytesSent += response.body.count
        state.isComplete = true
      }
    case .sendHead(let response, let framing):
      state.withLock { state in
        state.answer = response
        state.framing = framing
        if case .untilClose = framing { state.isComplete = true }
        if case .length(0) = framing { state.isComplete = true }
      }
    case .sendBody(let bytes): receive(bytes)
    case .sendRaw(let bytes):
      state.withLock { state in
        // Raw bytes are no HTTP: before the head nothing can be read, after it the body is broken.
        state.isGarbled = true
        state.bytesSent += bytes.count
      }
    case .endBody:
      state.withLock { if case .chunked? = $0.framing { $0.isComplete = true } }
    case .finish(let finish):
      end(finish)
      return false
    }
    return true
  }

  private func receive(_ bytes: [UInt8]) {
    state.withLock { state in
      state.body += bytes
      state.bytesSent += bytes.count
      if case .length(let length)? = state.framing, state.body.count >= length {
        state.body.removeLast(state.body.count - length)
        state.isComplete = true
      }
    }
  }

  private func end(_ finish: ExchangeFinish) {
    let (answer, body, isComplete, isGarbled) = state.withLock {
      ($0.answer, $0.body, $0.isComplete, $0.isGarbled)
    }
    let whole = isComplete && !isGarbled
    switch finish {
    case .stall(let park) where !whole:
      // The client waits; should the park end, the connection is closed.
      park?.whenReady { [self] in finishWith(.failed(code: ExchangeWalker.connectionLost)) }
      return
    case .reset where !whole: finishWith(.failed(code: ExchangeWalker.connectionLost))
    default:
      if whole, let answer {
        finishWith(
          .answer(
            status: answer.status, headers: answer.headers.map { (name: $0.name, value: $0.value) },
            body: body))
      } else {
        finishWith(
          .failed(code: isGarbled ? ExchangeWalker.cannotParse : ExchangeWalker.connectionLost))
      }
    }
  }

  private func finishWith(_ outcome: ClientOutcome) {
    guard let sent = close() else { return }
    exchange.ended(bytesSent: sent, .completed)
    deliver(outcome)
  }
}
