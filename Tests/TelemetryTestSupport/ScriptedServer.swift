import CZlib
import JSONText
import TelemetrySDK

/// A server without a network: answers as the script says, and keeps what it was sent.
package final class ScriptedServer: BatchTransport {
  /// One request as it came.
  package struct Request: Sendable {
    package let number: Int
    package let at: Moment
    package let token: String
    package let body: [UInt8]
    package let headers: [(name: String, value: String)]
    package let ids: [String]
    package let json: JSONValue
  }

  package enum Reply: Sendable {
    case answer(Int, headers: [(name: String, value: String)] = [], body: String = "")
    case failure(code: Int, lostReusedConnection: Bool = false)
    case hang
  }

  private struct State {
    var requests: [Request] = []
    var underWay: [Int: @Sendable (Result<BatchAnswer, TransportFailure>) -> Void] = [:]
    var most = 0
    var script: @Sendable (Request) -> Reply = { _ in .answer(200) }
    var delayMs: Int64 = 0
    var cancelled = 0
  }
  private let state = Guarded(State())
  private let clock: ManualTime

  package init(clock: ManualTime) { self.clock = clock }

  /// What the following requests are answered.
  package func script(_ script: @escaping @Sendable (Request) -> Reply) {
    state.withLock { $0.script = script }
  }

  package func setDelay(ms: Int64) { state.withLock { $0.delayMs = ms } }

  package var requests: [Request] { state.withLock { $0.requests } }
  package var mostAtOnce: Int { state.withLock { $0.most } }
  package var underWay: Int { state.withLock { $0.underWay.count } }
  package var cancelled: Int { state.withLock { $0.cancelled } }

  /// The process died: its connections too.
  package func forgetConnections() { state.withLock { $0.underWay = [:] } }

  package func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask {
    let now = clock.now()
    let (kept, script, delayMs) = state.withLock {
      state -> (Request, @Sendable (Request) -> Reply, Int64) in
      let kept = ScriptedServer.keep(request, number: state.requests.count, at: now)
      state.requests.append(kept)
      state.underWay[kept.number] = completion
      state.most = max(state.most, state.underWay.count)
      return (kept, state.script, state.delayMs)
    }
    let number = kept.number
    let reply = script(kept)
    if case .hang = reply { return Task { [weak self] in self?.cancel(number) } }
    if delayMs == 0 {
      finish(number, reply)
    } else {
      _ = clock.schedule(at: now.adding(milliseconds: delayMs)) { [weak self] in
        self?.finish(number, reply)
      }
    }
    return Task { [weak self] in self?.cancel(number) }
  }

  private func finish(_ number: Int, _ reply: Reply) {
    let completion = state.withLock { $0.underWay.removeValue(forKey: number) }
    switch reply {
    case .answer(let status, let headers, let body):
      completion?(.success(BatchAnswer(status: status, headers: headers, body: Array(body.utf8))))
    case .failure(let code, let lost):
      completion?(
        .failure(
          TransportFailure(code: code, lostReusedConnection: lost, description: "scripted")))
    case .hang: break
    }
  }

  private func cancel(_ number: Int) {
    let completion = state.withLock { state in
      state.cancelled += 1
      return state.underWay.removeValue(forKey: number)
    }
    completion?(.failure(TransportFailure(code: -999, description: "cancelled")))
  }

  private static func keep(_ request: BatchRequest, number: Int, at now: Moment) -> Request {
    let json = (try? JSONValue.parse(Gunzip.bytes(request.body) ?? [])) ?? .null
    let events = json["events"]?.arrayValue ?? json.arrayValue ?? []
    let header = request.headers.first { $0.name == "Authorization" }?.value ?? ""
    return Request(
      number: number, at: now, token: String(header.dropFirst("Bearer ".count)),
      body: request.body, headers: request.headers,
      ids: events.compactMap { $0["id"]?.stringValue }, json: json)
  }

  private struct Task: TransportTask {
    let action: @Sendable () -> Void
    func cancel() { action() }
  }
}

/// Unpacks one gzip member, for looking into bodies.
package enum Gunzip {
  package static func bytes(_ input: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var input = input
    return input.withUnsafeMutableBufferPointer { source -> [UInt8]? in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      while true {
        let status = chunk.withUnsafeMutableBufferPointer { target -> Int32 in
          stream.next_out = target.baseAddress
          stream.avail_out = UInt32(target.count)
          return inflate(&stream, Z_NO_FLUSH)
        }
        output.append(contentsOf: chunk.prefix(chunk.count - Int(stream.avail_out)))
        if status == Z_STREAM_END { return stream.avail_in == 0 ? output : nil }
        guard status == Z_OK else { return nil }
      }
    }
  }
}
