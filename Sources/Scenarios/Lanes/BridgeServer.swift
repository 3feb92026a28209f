import Foundation
import JSONText
import MockBatchServer

/// The runner's end of a device's bridge: hands intercepted requests to the engine and carries
/// answers back. The engine and its ledger outlive the device.
///
/// Thread safe.
final class BridgeServer: Sendable {
  private struct State {
    var runs: [UInt32: InProcessRun] = [:]
    var isClosed = false
  }
  private let descriptor: Int32
  private let performer: InProcessPerformer
  private let network: @Sendable () -> ListenerState
  private let onHang: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// Owns the descriptor. It stays open as long as somebody may still write an answer to it, so
  /// that the answer cannot go to a stranger who was given its number.
  init(
    descriptor: Int32, performer: InProcessPerformer,
    network: @escaping @Sendable () -> ListenerState, onHang: @escaping @Sendable (String) -> Void
  ) {
    self.descriptor = descriptor
    self.performer = performer
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

  deinit { SystemCalls.close(descriptor) }

  private func close() {
    let runs = state.withLock { state -> [InProcessRun] in
      state.isClosed = true
      defer { state.runs = [:] }
      return Array(state.runs.values)
    }
    for run in runs { run.cancel() }
  }

  /// The server restarts: its clients lose their connections.
  func dropConnections() {
    for run in state.withLock({ Array($0.runs.values) }) { run.serverStopped() }
  }

  private func take(_ frame: BridgeFrame) {
    switch frame.kind {
    case .request: begin(frame)
    case .cancel:
      state.withLock { $0.runs.removeValue(forKey: frame.stream) }?.cancel()
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
      headers: HTTPHeaders(pairs.map { ($0.name, $0.value) }), body: body)
    let stream = frame.stream
    let sink = WholeAnswer { [weak self] outcome in
      _ = self?.state.withLock { $0.runs.removeValue(forKey: stream) }
      self?.reply(stream, outcome)
    }
    let run = performer.prepare(request, to: sink)
    state.withLock { $0.runs[stream] = run }
    run.start()
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
