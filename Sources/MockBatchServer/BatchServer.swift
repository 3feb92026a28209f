import Foundation

/// A strict server for telemetry batches, with faults on demand, for tests and for the desk.
///
/// ```swift
/// let server = try BatchServer(plan: FaultPlan(json)).start()
/// defer { server.stop() }
/// // … let the app under test talk to server.url …
/// XCTAssertEqual(server.ledger.counts.unique, 20)
/// ```
///
/// Thread safe.
public final class BatchServer: Sendable {
  /// Where and how a server listens.
  public struct Configuration: Sendable {
    /// A numeric address, or `localhost` for both loopback addresses.
    public var host: String
    /// The contract's port; 0 for any free one.
    public var port: Int
    /// The admin endpoints' own port, 0 for any free one; nil serves them on the contract's port
    /// only.
    public var adminPort: Int?
    /// TLS on the contract's port; nil for plain HTTP.
    public var tls: TLSOptions?
    /// What the admin endpoints ask for; required where `host` is no loopback address.
    public var adminToken: String?
    /// Names besides loopback ones and addresses under which the admin endpoints may be called. A
    /// page of another site cannot choose what a name of yours stands for.
    public var adminHosts: [String] = []
    /// Threads that serve connections, 1 to 64; more than the machine has cores are of no use. On
    /// one, requests are taken strictly one after the other.
    public var threads = 1
    /// Called when a client of the admin endpoints asks for the end. Must not block.
    public var onShutdown: @Sendable () -> Void = {}
    /// Bounds of connections.
    package var limits = HTTPLimits()

    /// A configuration.
    public init(
      host: String = "127.0.0.1", port: Int = 0, adminPort: Int? = nil, tls: TLSOptions? = nil
    ) {
      self.host = host
      self.port = port
      self.adminPort = adminPort
      self.tls = tls
    }
  }

  /// The deciding half: plan, gates, state.
  public let engine: BatchEngine
  private let configuration: Configuration
  private let running = Guarded<Running?>(nil)
  private let handlers: ServerHandlers

  private struct Running {
    var sockets: SocketServer
    var port: Int
    var adminPort: Int?
    /// What the engine calls the sockets by.
    var observer: Int
  }

  /// A server that is not started yet.
  ///
  /// - Parameters:
  ///   - plan: faults and contract; by default none and the usual limits.
  ///   - ledger: in memory by default; one with a file survives restarts.
  ///   - configuration: address, ports, TLS.
  public convenience init(
    plan: FaultPlan = FaultPlan(), ledger: Ledger = Ledger(),
    configuration: Configuration = Configuration()
  ) {
    self.init(
      engine: BatchEngine(plan: plan, ledger: ledger), configuration: configuration)
  }

  /// A server around an engine that exists already, for hosts that bring their own clock.
  public init(engine: BatchEngine, configuration: Configuration = Configuration()) {
    self.engine = engine
    self.configuration = configuration
    handlers = ServerHandlers(engine: engine, configuration)
  }

  deinit { stop() }

  /// Binds, and accepts connections when it returns.
  ///
  /// - Returns: the server itself.
  /// - Throws: `SocketError` (such as a port in use), `TLSError`, or `CapabilityRefusal` when the
  ///   plan holds what sockets cannot express.
  @discardableResult
  public func start() throws -> BatchServer {
    guard running.access({ $0 == nil }) else { return self }
    try engine.attach(.socketServer)
    handlers.admin.allowStreams()
    let acceptor = try configuration.tls.map(TLS.acceptor)
    let sockets = try SocketServer(
      clock: engine.clock, limits: configuration.limits, threads: configuration.threads)
    var contract = SocketServer.Endpoint(
      host: configuration.host, port: configuration.port, handler: handlers.contract)
    contract.tls = acceptor
    var endpoints = [contract]
    if let port = configuration.adminPort {
      endpoints.append(
        SocketServer.Endpoint(
          host: configuration.host, port: port, handler: handlers.admin, followsPlan: false))
    }
    let ports = try sockets.start(endpoints)
    let observer = engine.watchListener { [weak sockets] in sockets?.setListener($0) }
    running.access {
      $0 = Running(
        sockets: sockets, port: ports[0], adminPort: ports.count > 1 ? ports[1] : nil,
        observer: observer)
    }
    return self
  }

  /// Stops at once and gives the port back. Harmless when stopped already; the server can be
  /// started again.
  public func stop() {
    let stopping = running.access { running -> Running? in
      defer { running = nil }
      return running
    }
    guard let stopping else { return }
    engine.unwatchListener(stopping.observer)
    stopping.sockets.stop()
  }

  /// Stops gracefully: no new connections, requests in progress are answered, event streams end.
  ///
  /// - Parameter drained: called once on any thread when no connection is left; call `stop` then.
  public func drain(_ drained: @escaping @Sendable () -> Void) {
    guard let sockets = running.access({ $0?.sockets }) else { return drained() }
    sockets.drain(drained)
    handlers.admin.endStreams()
  }

  /// The contract's port; 0 when not running.
  public var port: Int { running.access { $0?.port ?? 0 } }

  /// The root of the contract's endpoints.
  public var url: URL { makeURL(scheme: configuration.tls == nil ? "http" : "https", port) }

  /// The root of the admin endpoints.
  public var adminURL: URL {
    let own = running.access { $0?.adminPort }
    let root = own.map { makeURL(scheme: "http", $0) } ?? url
    return root.appendingPathComponent("__admin")
  }

  /// What the server believes about every event.
  public var ledger: Ledger { engine.ledger }

  /// Resets every open connection, as a network does that goes away. Returns when it is done.
  package func resetConnections() { running.access { $0?.sockets }?.resetConnections() }

  /// The sockets, while running.
  package var sockets: SocketServer? { running.access { $0?.sockets } }

  private func makeURL(scheme: String, _ port: Int) -> URL {
    var host = configuration.host
    if host == "0.0.0.0" || host == "::" { host = "127.0.0.1" }
    if host.contains(":") { host = "[\(host)]" }
    return URL(string: "\(scheme)://\(host):\(port)") ?? URL(fileURLWithPath: "/")
  }
}

/// Who answers on which listener.
struct ServerHandlers: Sendable {
  let contract: any ExchangeHandler
  let admin: AdminHandler

  init(engine: BatchEngine, _ configuration: BatchServer.Configuration) {
    var settings = AdminHandler.Settings()
    settings.token = configuration.adminToken
    settings.isLoopback =
      configuration.host == "localhost" || configuration.host == "::1"
      || configuration.host.hasPrefix("127.")
    settings.hosts = configuration.adminHosts
    settings.shutdown = configuration.onShutdown
    let admin = AdminHandler(engine: engine, settings: settings)
    self.admin = admin
    contract = SplitHandler(engine: engine, admin: admin)
  }
}
