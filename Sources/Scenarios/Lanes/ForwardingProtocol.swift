import Foundation
import JSONText

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The device's end of the bridge: takes every request of its `URLSession` and sends it to the
/// runner instead of the network.
final class ForwardingProtocol: URLProtocol {
  /// Set in `startLoading`, read in `stopLoading`, both on the loading thread.
  private var stream: UInt32?

  /// Requests under way, by stream.
  private struct Bridge {
    var descriptor = DeviceMessage.bridgeDescriptor
    var nextStream: UInt32 = 0
    var waiting: [UInt32: Waiting] = [:]
  }

  /// Guard: after `startLoading` only the bridge's thread touches the protocol, and only once,
  /// when it has taken the request out of `waiting`.
  private struct Waiting: @unchecked Sendable {
    // Guard: see above.
    let request: ForwardingProtocol
  }
  private static let bridge = Guarded(Bridge())

  /// Starts the thread that brings answers. Once in a process.
  static func startBridge() {
    let thread = Thread {
      var buffer: [UInt8] = []
      while true {
        let bytes = SystemCalls.read(DeviceMessage.bridgeDescriptor)
        buffer += bytes
        guard !bytes.isEmpty, let frames = BridgeFrame.take(from: &buffer) else { return }
        for frame in frames { receive(frame) }
      }
    }
    thread.start()
  }

  private static func receive(_ frame: BridgeFrame) {
    let waiting = bridge.withLock { $0.waiting.removeValue(forKey: frame.stream) }
    guard let waiting else { return }
    switch frame.kind {
    case .answer: waiting.request.answer(frame)
    case .failure:
      waiting.request.fail(Int(String(decoding: frame.content, as: UTF8.self)) ?? -1)
    case .request, .cancel: return
    }
  }

  override class func canInit(with request: URLRequest) -> Bool { true }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url else { return fail(URLError.Code.badURL.rawValue) }
    var headers = (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }
    headers.sort { $0.name < $1.name }
    let body = ForwardingProtocol.body(of: request)
    if !headers.contains(where: { $0.name.lowercased() == "content-length" }) {
      headers.append((name: "Content-Length", value: "\(body.count)"))
    }
    if let host = url.host { headers.append((name: "Host", value: host)) }
    let target = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?\($0)" } ?? "")
    let content = BridgeFrame.content(
      head: [
        "method": .string(request.httpMethod ?? "GET"), "target": .string(target),
        "headers": BridgeFrame.headers(headers),
      ], body: body)
    let waiting = Waiting(request: self)
    let stream = ForwardingProtocol.bridge.withLock { bridge -> UInt32 in
      bridge.nextStream += 1
      bridge.waiting[bridge.nextStream] = waiting
      return bridge.nextStream
    }
    self.stream = stream
    send(BridgeFrame(kind: .request, stream: stream, content: content))
  }

  override func stopLoading() {
    guard let stream else { return }
    let wasWaiting = ForwardingProtocol.bridge.withLock {
      $0.waiting.removeValue(forKey: stream) != nil
    }
    if wasWaiting { send(BridgeFrame(kind: .cancel, stream: stream, content: [])) }
  }

  private func send(_ frame: BridgeFrame) {
    do { try SystemCalls.send(DeviceMessage.bridgeDescriptor, frame.bytes) } catch {
      fail(URLError.Code.networkConnectionLost.rawValue)
    }
  }

  private func answer(_ frame: BridgeFrame) {
    guard let (head, body) = frame.parts, let url = request.url,
      let status = head["status"]?.intValue
    else { return fail(URLError.Code.cannotParseResponse.rawValue) }
    var fields: [String: String] = [:]
    for header in BridgeFrame.headers(head["headers"]) {
      // Several fields of one name are joined, as URLSession itself does (RFC 9110 section 5.3).
      fields[header.name] = fields[header.name].map { "\($0), \(header.value)" } ?? header.value
    }
    guard
      let response = HTTPURLResponse(
        url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return fail(URLError.Code.cannotParseResponse.rawValue) }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    if !body.isEmpty { client?.urlProtocol(self, didLoad: Data(body)) }
    client?.urlProtocolDidFinishLoading(self)
  }

  private func fail(_ code: Int) {
    client?.urlProtocol(
      self, didFailWithError: NSError(domain: NSURLErrorDomain, code: code, userInfo: nil))
  }

  /// On Apple platforms the body arrives as a stream, on Linux as data.
  private static func body(of request: URLRequest) -> [UInt8] {
    if let data = request.httpBody { return Array(data) }
    guard let stream = request.httpBodyStream else { return [] }
    stream.open()
    defer { stream.close() }
    var body: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = stream.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { return body }
      body += buffer[..<count]
    }
  }
}
