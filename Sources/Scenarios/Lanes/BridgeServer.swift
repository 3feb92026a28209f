import Foundation
import JSONText
import MockBatchServer

/// The runner's end of a device's bridge: hands intercepted requests to the engine and carries
/// answers back. The engine and its ledger outlive the device.
///
/// Thread safe.
final class BridgeServer: Sendable {
  private struct State {
    var walkers: [UInt32: ExchangeWalker] = [:]
    var isClosed = false
  }
  private let descriptor: Int32
  private let handler: any ExchangeHandler
  private let nextConnection: @Sendable () -> Int
  private let network: @Sendable () -> ListenerState
  private let onHang: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// Owns the descriptor and closes it at the end of the stream.
  init(
    descriptor: Int32, handler: any ExchangeHandler, nextConnection: @escaping @Sendable () -> Int,
    network: @escaping @Sendable () -> ListenerState, onHang: @escaping @Sendable (String) -> Void
  ) {
    self.descriptor = descriptor
    self.handler = handler
    self.nextConnection = nextConnection
    self.network = network
    self.onHang = onHang
  }

  func start() {
    let thread = Thread { [self] in
      var buffer: [UInt8] = []
      while true {
        let bytes = SystemCalls.read(descriptor)
        buffer += bytes
        guard !bytes.isEmpty, let frames = BridgeFrame.take(from: &buffer) else { break }
        for frame in frames { take(frame) }
      }
      close()
    }
    thread.start()
  }

  private func close() {
    let walkers = state.withLock { state -> [ExchangeWalker] in
      state.isClosed = true
      defer { state.walkers = [:] }
      return Array(state.walkers.values)
    }
    for walker in walkers { walker.cancel() }
    SystemCalls.close(descriptor)
  }

  private func take(_ frame: BridgeFrame) {
    switch frame.kind {
    case .request: begin(frame)
    case .cancel:
      state.withLock { $0.walkers.removeValue(forKey: frame.stream) }?.cancel()
    case .answer, .failure: return
    }
  }

  private func begin(_ frame: BridgeFrame) {
    guard let (head, body) = frame.parts else { return }
    let pairs = BridgeFrame.headers(head["headers"])
    let name = pairs.first { $0.name == DeviceMessage.requestHeader }?.value ?? ""
    switch network() {
    case .refuse: return reply(frame.stream, .failed(code: -1004))
    case .blackhole: return onHang(name)
    case .accept: break
    }
    let request = HTTPRequest(
      method: head["method"]?.stringValue ?? "POST", target: head["target"]?.stringValue ?? "/",
      headers: HTTPHeaders(pairs.map { ($0.name, $0.value) }))
    let connection = nextConnection()
    let stream = frame.stream
    ConnectionWalker.begin(handler, connection: connection, request: request, body: body) {
      [weak self] walker in
      self?.state.withLock { $0.walkers[stream] = walker }
    } deliver: { [weak self] outcome in
      _ = self?.state.withLock { $0.walkers.removeValue(forKey: stream) }
      self?.reply(stream, outcome)
    }
  }

  private func reply(_ stream: UInt32, _ outcome: ClientOutcome) {
    let frame: BridgeFrame
    switch outcome {
    case .answer(let status, let headers, let body):
      frame = BridgeFrame(
        kind: .answer, stream: stream,
        content: BridgeFrame.content(
          head: [
            "status": .number(JSONNumber(status)), "headers": BridgeFrame.headers(headers),
          ], body: body))
    case .failed(let code):
      frame = BridgeFrame(kind: .failure, stream: stream, content: Array("\(code)".utf8))
    }
    guard !state.withLock({ $0.isClosed }) else { return }
    // A device that died meanwhile does not read its answer; its end comes through the stream.
    try? SystemCalls.send(descriptor, frame.bytes)
  }
}

/// Opens a connection of its own for one request, as the plan wants it, and walks the exchange.
enum ConnectionWalker {
  static func begin(
    _ handler: any ExchangeHandler, connection: Int, request: HTTPRequest, body: [UInt8],
    started: @escaping @Sendable (ExchangeWalker) -> Void,
    deliver: @escaping @Sendable (ClientOutcome) -> Void
  ) {
    let plan = handler.connectionOpened(connection, peer: "in-process")
    steps(plan.steps[...], handler, connection, deliver) {
      let context = RequestContext(
        connection: connection, indexOnConnection: 0, peer: "in-process")
      let walker = ExchangeWalker(handler.begin(request, context: context), body: body) {
        deliver($0)
        handler.connectionClosed(connection)
      }
      started(walker)
      walker.walk()
    }
  }

  private static func steps(
    _ rest: ArraySlice<ExchangeStep>, _ handler: any ExchangeHandler, _ connection: Int,
    _ deliver: @escaping @Sendable (ClientOutcome) -> Void,
    then goOn: @escaping @Sendable () -> Void
  ) {
    guard let step = rest.first else { return goOn() }
    switch step {
    case .park(let park):
      park.whenReady { steps(rest.dropFirst(), handler, connection, deliver, then: goOn) }
    case .finish(.stall): return
    case .finish:
      deliver(.failed(code: ExchangeWalker.connectionLost))
      handler.connectionClosed(connection)
    default: steps(rest.dropFirst(), handler, connection, deliver, then: goOn)
    }
  }
}
