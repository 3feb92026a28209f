import MockBatchServer
import TelemetrySDK

/// The virtual lane's network: requests wait until the SDK has come to rest, then go straight into
/// the engine, on the same thread.
///
/// Thread safe, though one thread uses it.
final class VirtualTransport: BatchTransport {
  private struct Departure {
    var id: Int
    var request: BatchRequest
    var completion: @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  }
  private struct State {
    var nextID = 0
    var departures: [Departure] = []
    var walkers: [Int: ExchangeWalker] = [:]
    var waiting: [Int: @Sendable (Result<BatchAnswer, TransportFailure>) -> Void] = [:]
    var isCutOff = false
  }

  private let handler: any ExchangeHandler
  private let nextConnection: @Sendable () -> Int
  private let network: @Sendable () -> ListenerState
  private let onHang: @Sendable (String) -> Void
  private let state = Guarded(State())

  init(
    handler: any ExchangeHandler, nextConnection: @escaping @Sendable () -> Int,
    network: @escaping @Sendable () -> ListenerState, onHang: @escaping @Sendable (String) -> Void
  ) {
    self.handler = handler
    self.nextConnection = nextConnection
    self.network = network
    self.onHang = onHang
  }

  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    let id = state.withLock { state -> Int in
      state.nextID += 1
      state.departures.append(
        Departure(id: state.nextID, request: request, completion: completion))
      state.waiting[state.nextID] = completion
      return state.nextID
    }
    return VirtualTask(transport: self, id: id)
  }

  /// Carries one request to the engine. False where none waits.
  func deliverOne() -> Bool {
    let departure = state.withLock { state -> Departure? in
      state.departures.isEmpty ? nil : state.departures.removeFirst()
    }
    guard let departure else { return false }
    let headers = departure.request.headers.map { ($0.name, $0.value) }
    let name =
      headers.first { $0.0 == DeviceMessage.requestHeader }?.1 ?? ""
    switch network() {
    case .refuse:
      finish(departure.id, .failed(code: -1004))
      return true
    case .blackhole:
      onHang(name)
      return true
    case .accept: break
    }
    var fields = HTTPHeaders(headers)
    fields.add("Content-Length", "\(departure.request.body.count)")
    fields.add("Host", "virtual")
    let request = HTTPRequest(
      method: "POST", target: VirtualTransport.target(departure.request.url), headers: fields)
    let id = departure.id
    ConnectionWalker.begin(
      handler, connection: nextConnection(), request: request, body: departure.request.body
    ) { [weak self] walker in
      self?.state.withLock { $0.walkers[id] = walker }
    } deliver: { [weak self] outcome in
      self?.finish(id, outcome)
    }
    return true
  }

  private func finish(_ id: Int, _ outcome: ClientOutcome) {
    let completion = state.withLock {
      state -> (@Sendable (Result<BatchAnswer, TransportFailure>) -> Void)? in
      state.walkers[id] = nil
      defer { state.waiting[id] = nil }
      return state.isCutOff ? nil : state.waiting[id]
    }
    switch outcome {
    case .answer(let status, let headers, let body):
      completion?(.success(BatchAnswer(status: status, headers: headers, body: body)))
    case .failed(let code):
      completion?(.failure(TransportFailure(code: code, description: "scripted")))
    }
  }

  fileprivate func cancel(_ id: Int) {
    let walker = state.withLock { state -> ExchangeWalker? in
      state.departures.removeAll { $0.id == id }
      return state.walkers[id]
    }
    walker?.cancel()
    finish(id, .failed(code: -999))
  }

  /// The device is dead: nothing leaves or arrives any more, and the server sees its connections
  /// go.
  func cutOff() {
    let walkers = state.withLock { state -> [ExchangeWalker] in
      state.isCutOff = true
      state.departures = []
      state.waiting = [:]
      defer { state.walkers = [:] }
      return Array(state.walkers.values)
    }
    for walker in walkers { walker.cancel() }
  }

  private static func target(_ url: String) -> String {
    guard let scheme = url.range(of: "://"),
      let slash = url[scheme.upperBound...].firstIndex(of: "/")
    else { return "/" }
    return String(url[slash...])
  }
}

private struct VirtualTask: TransportTask {
  let transport: VirtualTransport
  let id: Int
  func cancel() { transport.cancel(id) }
}
