/// Performs exchanges over TCP, on one thread or several. Takes any handler, so that a host can
/// stand between it and the engine.
///
/// Guard: `life` lies in its box; listeners belong to the acceptor's thread; the rest is constant
/// after `start`.
package final class SocketServer: @unchecked Sendable {
  /// One address to listen on, and who answers there.
  package struct Endpoint {
    /// A numeric host, or `localhost` for both loopback addresses.
    package var host: String
    /// The port; 0 for any free one.
    package var port: Int
    /// Who answers.
    package var handler: any ExchangeHandler
    /// Whether `setListener` applies: faults never touch the admin endpoint.
    package var followsPlan: Bool
    var tls: (any TLSAcceptor)?

    package init(
      host: String, port: Int, handler: any ExchangeHandler, followsPlan: Bool = true
    ) {
      self.host = host
      self.port = port
      self.handler = handler
      self.followsPlan = followsPlan
    }
  }

  /// Bounds of every connection.
  package let limits: HTTPLimits
  /// The clock of deadlines and shaped reading.
  package let clock: any EngineClock
  /// The first one accepts; each has its share of the connections.
  private let workers: [SocketWorker]
  private var listeners: [(listener: Listener, followsPlan: Bool)] = []
  private var nextConnection: Int
  private let life = Guarded(Life())

  /// Figures for metrics.
  package struct Counters: Sendable, Equatable {
    /// Connections open now.
    package var open = 0
    /// Connections accepted since the start.
    package var accepted = 0
    /// Connections dropped because no descriptor was left.
    package var dropped = 0
  }

  private struct Life {
    var counters = Counters()
    /// Open connections that follow the plan, and those that do not.
    var open: [Bool: Int] = [:]
    var whenDrained: (@Sendable () -> Void)?
  }

  /// Bytes of a refused request that the journal gets.
  static let maxRefusedBytes = 4_096
  /// Tries to find a port that is free on both loopback addresses.
  private static let maxPortTries = 20
  /// Threads of one server; more than the machine has cores are of no use.
  package static let maxThreads = 64

  /// Makes the loops; nothing is bound yet.
  ///
  /// - Parameters:
  ///   - threads: 1 to `maxThreads`. A connection stays on the thread that it was given.
  ///   - firstConnection: where connections are counted from: a server that takes the place of
  ///     another goes on counting.
  package init(
    clock: any EngineClock, limits: HTTPLimits = HTTPLimits(), threads: Int = 1,
    firstConnection: Int = 1
  ) throws {
    nextConnection = firstConnection
    self.clock = clock
    self.limits = limits
    workers = try (0..<min(max(1, threads), SocketServer.maxThreads)).map { _ in
      try SocketWorker(clock: clock, limits: limits)
    }
  }

  /// The first endpoint's port; constant after `start`.
  private(set) var boundPort = 0

  /// Connections closed at once because no descriptor was left.
  package var droppedForDescriptors: Int { currentCounters.dropped }

  /// What metrics show.
  package var currentCounters: Counters { life.access { $0.counters } }

  private var acceptor: SocketWorker { workers[0] }

  // MARK: Life

  /// Binds all endpoints, starts the threads and accepts. Returns the real port of each endpoint.
  package func start(_ endpoints: [Endpoint]) throws -> [Int] {
    var ports: [Int] = []
    do {
      for endpoint in endpoints {
        let made = try bind(endpoint)
        ports.append(made.first?.address.port ?? 0)
        listeners += made.map { ($0, endpoint.followsPlan) }
      }
      for entry in listeners { try entry.listener.set(.accept) }
    } catch {
      for entry in listeners { entry.listener.close() }
      listeners = []
      for worker in workers { worker.loop.abandon() }
      throw error
    }
    boundPort = ports.first ?? 0
    for worker in workers { worker.loop.start() }
    return ports
  }

  private func bind(_ endpoint: Endpoint) throws -> [Listener] {
    for attempt in 1... {
      do {
        return try bindOnce(endpoint)
      } catch let error as SocketError
        where endpoint.port == 0 && attempt < SocketServer.maxPortTries
      {
        // Any free port will do: the first address was given one that the second cannot have.
        guard error.operation == "bind" else { throw error }
      }
    }
    return []
  }

  private func bindOnce(_ endpoint: Endpoint) throws -> [Listener] {
    var made: [Listener] = []
    do {
      for address in try SocketAddress.resolve(host: endpoint.host, port: endpoint.port) {
        let port = made.first?.address.port ?? endpoint.port
        guard let wanted = SocketAddress(host: address.host, port: port) else { continue }
        do {
          made.append(
            try Listener(address: wanted, loop: acceptor.loop) { [unowned self] accepted in
              take(accepted, endpoint)
            })
        } catch let error as SocketError where !made.isEmpty && error.meansNoSuchAddress {
          // A host without IPv6 still has the other loopback address.
          continue
        }
      }
    } catch {
      for listener in made { listener.close() }
      throw error
    }
    return made
  }

  /// Stops at once: exchanges in progress are told, descriptors are closed, the threads end.
  package func stop() {
    acceptor.loop.run { [self] in closeListeners() }
    // The acceptor first: behind it no connection can come to the others.
    for worker in workers { worker.stop() }
  }

  /// Stops gracefully: no new connections; idle ones close now, the others behind their answer.
  /// `drained` is called once, when none is left.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    acceptor.loop.run { [self] in closeListeners() }
    life.access { $0.whenDrained = drained }
    for worker in workers { worker.drain() }
    reportDrained()
  }

  private func closeListeners() {
    for entry in listeners { entry.listener.close() }
    listeners = []
  }

  private func reportDrained() {
    let action = life.access { life -> (@Sendable () -> Void)? in
      guard life.counters.open == 0 else { return nil }
      defer { life.whenDrained = nil }
      return life.whenDrained
    }
    action?()
  }

  // MARK: Plan

  /// Changes what happens to new connects on the endpoints that follow the plan. Returns when it
  /// is done.
  package func setListener(_ state: ListenerState) {
    acceptor.loop.run { [self] in
      for entry in listeners where entry.followsPlan {
        // Only a port taken by somebody else meanwhile fails here; connects stay refused then.
        try? entry.listener.set(state)
      }
    }
  }

  /// Resets every open connection of the endpoints that follow the plan. Returns when it is done.
  package func resetConnections() {
    for worker in workers { worker.resetConnections() }
  }

  // MARK: Accepting (the acceptor's thread)

  private func take(_ accepted: Listener.Event, _ endpoint: Endpoint) {
    switch accepted {
    case .connection(let socket, let peer): accept(socket, peer, endpoint)
    case .dropped: life.access { $0.counters.dropped += 1 }
    case .exhausted:
      _ = clock.schedule(atNs: clock.nowNs &+ SocketWorker.sweepNs) { [weak self] in
        self?.resumeAccepting()
      }
    }
  }

  private func accept(_ socket: Socket, _ peer: SocketAddress, _ endpoint: Endpoint) {
    let id = nextConnection
    nextConnection += 1
    let isFull = life.access { life -> Bool in
      life.counters.accepted += 1
      life.counters.open += 1
      life.open[endpoint.followsPlan, default: 0] += 1
      return life.open[endpoint.followsPlan, default: 0] >= limits.connections(endpoint.followsPlan)
    }
    if isFull {
      for entry in listeners where entry.followsPlan == endpoint.followsPlan {
        entry.listener.pause()
      }
    }
    let name = peer.description
    endpoint.handler.connectionOpened(id, peer: name)
    let worker = workers[id % workers.count]
    let followsPlan = endpoint.followsPlan
    let connection = Connection(
      id: id, socket: socket, peer: name, handler: endpoint.handler, worker: worker,
      acceptor: endpoint.tls
    ) { [unowned self] in connectionIsGone(followsPlan) }
    connection.followsPlan = endpoint.followsPlan
    guard !worker.loop.isCurrent else { return worker.open(connection) }
    worker.loop.post { worker.open(connection) }
  }

  /// Any thread.
  private func connectionIsGone(_ followsPlan: Bool) {
    let (open, hasRoom) = life.access { life -> (Int, Bool) in
      life.counters.open -= 1
      life.open[followsPlan, default: 0] -= 1
      return (
        life.counters.open,
        life.open[followsPlan, default: 0] == limits.connections(followsPlan) - 1
      )
    }
    if hasRoom { resumeAccepting() }
    if open == 0 { reportDrained() }
  }

  private func resumeAccepting() {
    acceptor.loop.post { [weak self] in
      guard let self else { return }
      let open = life.access { $0.open }
      for entry in listeners
      where open[entry.followsPlan, default: 0] < limits.connections(entry.followsPlan) {
        entry.listener.resume()
      }
    }
  }
}

extension HTTPLimits {
  fileprivate func connections(_ followsPlan: Bool) -> Int {
    followsPlan ? maxConnections : maxAdminConnections
  }
}
