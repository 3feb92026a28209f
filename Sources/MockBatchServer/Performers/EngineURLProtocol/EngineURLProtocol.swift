import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Answers a `URLSession`'s requests from an engine in the same process: no socket, no port.
///
/// ```swift
/// let url = try EngineURLProtocol.register(engine)
/// configuration.protocolClasses = [EngineURLProtocol.self]
/// // requests to `url` are answered by the engine
/// ```
public final class EngineURLProtocol: URLProtocol {
  private struct Registry {
    var performers: [String: InProcessPerformer] = [:]
    var next = 1
  }
  private static let registry = Guarded(Registry())
  private let run = Guarded<InProcessRun?>(nil)

  /// Gives the engine a host name of its own, below `.engine.invalid`.
  ///
  /// - Returns: the URL of the batch endpoint's host, `http://n.engine.invalid`.
  /// - Throws: `CapabilityRefusal` when the engine's plan cannot be expressed without sockets; the
  ///   engine refuses such plans from now on.
  public static func register(_ engine: BatchEngine) throws -> URL {
    try engine.attach(.urlProtocol)
    let performer = InProcessPerformer(handler: engine) { [engine] in engine.listenerState }
    let host = registry.access { registry -> String in
      let host = "\(registry.next).engine.invalid"
      registry.next += 1
      registry.performers[host] = performer
      return host
    }
    var components = URLComponents()
    components.scheme = "http"
    components.host = host
    guard let url = components.url else { throw URLError(.badURL) }
    return url
  }

  /// Forgets an engine that `register` gave this URL; later requests to it are not intercepted.
  public static func unregister(_ url: URL) {
    registry.access { $0.performers[url.host ?? ""] = nil }
  }

  private static func performer(of request: URLRequest) -> InProcessPerformer? {
    registry.access { $0.performers[request.url?.host ?? ""] }
  }

  /// Requests to registered hosts.
  override public class func canInit(with request: URLRequest) -> Bool {
    performer(of: request) != nil
  }

  /// The request itself.
  override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Hands the request to the engine.
  override public func startLoading() {
    guard let performer = EngineURLProtocol.performer(of: request),
      let message = HTTPRequest(request)
    else {
      client?.urlProtocol(self, didFailWithError: URLError(.badURL))
      return
    }
    let started = performer.send(message, peer: "urlprotocol", to: Sink(self))
    run.access { $0 = started }
  }

  /// Tells the engine that the client went away.
  override public func stopLoading() {
    let started = run.access { run -> InProcessRun? in
      defer { run = nil }
      return run
    }
    started?.cancel()
  }

  /// Guard: the run calls in order; the protocol object is only handed on to its client.
  private final class Sink: InProcessSink, @unchecked Sendable {
    private weak var owner: EngineURLProtocol?
    private let pieces = Guarded<[UInt8]>([])

    init(_ owner: EngineURLProtocol) { self.owner = owner }

    func receive(head: HTTPResponse) {
      guard let owner, let url = owner.request.url else { return }
      var fields: [String: String] = [:]
      for (name, value) in head.headers {
        fields[name] = fields[name].map { $0 + ", " + value } ?? value
      }
      guard
        let response = HTTPURLResponse(
          url: url, statusCode: head.status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return }
      owner.client?.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func receive(body: [UInt8]) {
      #if canImport(FoundationNetworking)
        // Linux's URLSession gives a completion handler the last piece only.
        pieces.access { $0 += body }
      #else
        guard let owner else { return }
        owner.client?.urlProtocol(owner, didLoad: Data(body))
      #endif
    }

    private func deliverPieces(to owner: EngineURLProtocol) {
      let whole = pieces.access { $0 }
      if !whole.isEmpty { owner.client?.urlProtocol(owner, didLoad: Data(whole)) }
    }

    func finish() {
      guard let owner else { return }
      deliverPieces(to: owner)
      owner.client?.urlProtocolDidFinishLoading(owner)
    }

    func fail(_ failure: InProcessFailure) {
      guard let owner else { return }
      deliverPieces(to: owner)
      let error = NSError(domain: NSURLErrorDomain, code: failure.rawValue)
      owner.client?.urlProtocol(owner, didFailWithError: error)
    }
  }
}

extension HTTPRequest {
  /// A request as the loading system hands it over. The body comes as data, or on Apple systems as
  /// a stream.
  package init?(_ request: URLRequest) {
    guard let url = request.url,
      let components = URLComponents(url: url, resolvingAgainstBaseURL: false)
    else { return nil }
    var target = components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath
    if let query = components.percentEncodedQuery { target += "?" + query }
    var headers = HTTPHeaders()
    let port = url.port.map { ":\($0)" } ?? ""
    headers.add("Host", (url.host ?? "") + port)
    let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    for (name, value) in fields { headers.add(name, value) }
    let body = request.httpBody.map { Array($0) } ?? HTTPRequest.read(request.httpBodyStream)
    self.init(
      method: request.httpMethod ?? "GET", target: target, headers: headers, body: body,
      wireBytes: body.count)
  }

  private static func read(_ stream: InputStream?) -> [UInt8] {
    guard let stream else { return [] }
    stream.open()
    defer { stream.close() }
    var body: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = stream.read(&piece, maxLength: piece.count)
      guard count > 0, body.count <= maxStreamedBody else { return body }
      body += piece[..<count]
    }
  }

  /// A longer body is cut: it is beyond every limit already.
  private static let maxStreamedBody = 64_000_000
}
