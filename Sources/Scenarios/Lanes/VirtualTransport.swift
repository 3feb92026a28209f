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
    var runs: [Int: InProcessRun] = [:]
    var waiting: [Int: @Sendable (Result<BatchAnswer, TransportFailure>) -> Void] = [:]
    var isCutOff = false
  }

  private let performer: InProcessPerformer
  private let network: @Sendable () -> ListenerState
  private let onHang: @Sendable (String) -> Void
  private let state = Guarded(State())

  init(
    performer: InProcessPerformer, network: @escaping @Sendable () -> ListenerState,
    onHang: @escaping @Sendable (String) -> Void
  ) {
    self.performer = performer
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
      method: "POST", target: VirtualTransport.target(departure.request.url), headers: fields,
      body: departure.request.body)
    let id = departure.id
    let run = performer.prepare(
      request, to: WholeAnswer { [weak self] outcome in self?.finish(id, outcome) })
    state.withLock { $0.runs[id] = run }
    run.start()
    return true
  }

  private func finish(_ id: Int, _ outcome: ClientOutcome) {
    let completion = state.withLock {
      state -> (@Sendable (Result<BatchAnswer, TransportFailure>) -> Void)? in
      state.runs[id] = nil
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
    let run = state.withLock { state -> InProcessRun? in
      state.departures.removeAll { $0.id == id }
      return state.runs[id]
    }
    run?.cancel()
    finish(id, .failed(code: -999))
  }

  /// The server restarts: its clients lose their connections.
  func dropConnections() {
    let runs = state.withLock { state in state.runs.sorted { $0.key < $1.key }.map(\.value) }
    for run in runs { run.serverStopped() }
  }

  /// The device is dead: nothing leaves or arrives any more, and the server sees its connections
  /// go.
  func cutOff() {
    let runs = state.withLock { state -> [InProcessRun] in
      state.isCutOff = true
      state.departures = []
      state.waiting = [:]
      defer { state.runs = [:] }
      return Array(state.runs.values)
    }
    for run in runs { run.cancel() }
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
