/// Performs exchanges over TCP. Takes any handler, so that a host can stand between it and the
/// engine.
///
/// Guard: everything belongs to the loop's thread except what is constant after `start`.
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
  let loop: EventLoop
  private(set) var isDraining = false

  private var listeners: [(listener: Listener, followsPlan: Bool)] = []
  private var connections: [Int: Connection] = [:]
  private var nextConnection = 1
  private var nextSweepNs = Int64.max
  private var sweep: (any EngineTimer)?
  private var whenDrained: (@Sendable () -> Void)?
  private let counters = Guarded(Counters())

  /// Figures for metrics.
  package struct Counters: Sendable, Equatable {
    /// Connections open now.
    package var open = 0
    /// Connections accepted since the start.
    package var accepted = 0
    /// Connections dropped because no descriptor was left.
    package var dropped = 0
  }

  /// Bytes of a refused request that the journal gets.
  static let maxRefusedBytes = 4_096
  /// Deadlines are looked at no more often than this.
  private static let sweepNs: Int64 = 100_000_000
  /// Tries to find a port that is free on both loopback addresses.
  private static let maxPortTries = 20

  /// Makes the loop; nothing is bound yet.
  package init(clock: any EngineClock, limits: HTTPLimits = HTTPLimits()) throws {
    self.clock = clock
    self.limits = limits
    loop = try EventLoop()
  }

  /// The first endpoint's port; constant after `start`.
  private(set) var boundPort = 0

  /// Connections closed at once because no descriptor was left.
  package var droppedForDescriptors: Int { counters.access { $0.dropped } }

  /// What metrics show.
  package var currentCounters: Counters { counters.access { $0 } }

  // MARK: Life

  /// Binds all endpoints, starts the thread and accepts. Returns the real port of each endpoint.
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
      loop.abandon()
      throw error
    }
    boundPort = ports.first ?? 0
    loop.start()
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
            try Listener(address: wanted, loop: loop) { [unowned self] accepted in
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

  /// Stops at once: exchanges in progress are told, descriptors are closed, the thread ends.
  package func stop() {
    loop.run { [self] in
      closeListeners()
      sweep?.cancel()
      sweep = nil
      for connection in connections.values {
        connection.endExchange(.serverStopped)
        connection.close()
      }
    }
    loop.stop()
  }

  /// Stops gracefully: no new connections; idle ones close now, the others behind their answer.
  /// `drained` is called once, when none is left.
  package func drain(_ drained: @escaping @Sendable () -> Void) {
    loop.run { [self] in
      isDraining = true
      whenDrained = drained
      closeListeners()
      for connection in connections.values {
        connection.context.closes = true
        if connection.phase == .reading, !connection.parser.isInsideHead {
          connection.finishClosing()
        }
      }
      reportDrained()
    }
  }

  private func closeListeners() {
    for entry in listeners { entry.listener.close() }
    listeners = []
  }

  // MARK: Plan

  /// Changes what happens to new connects on the endpoints that follow the plan. Returns when it
  /// is done.
  package func setListener(_ state: ListenerState) {
    loop.run { [self] in
      for entry in listeners where entry.followsPlan {
        // Only a port taken by somebody else meanwhile fails here; connects stay refused then.
        try? entry.listener.set(state)
      }
    }
  }

  /// Resets every open connection of the endpoints that follow the plan. Returns when it is done.
  package func resetConnections() {
    loop.run { [self] in
      for connection in connections.values where connection.followsPlan {
        connection.endExchange(.clientWentAway)
        connection.abort()
      }
    }
  }

  // MARK: Connections (loop's thread)

  private func take(_ accepted: Listener.Event, _ endpoint: Endpoint) {
    switch accepted {
    case .connection(let socket, let peer): accept(socket, peer, endpoint)
    case .dropped: counters.access { $0.dropped += 1 }
    case .exhausted:
      _ = clock.schedule(atNs: clock.nowNs &+ SocketServer.sweepNs) { [weak self] in
        guard let self else { return }
        loop.post { self.listeners.forEach { $0.listener.resume() } }
      }
    }
  }

  private func accept(_ socket: Socket, _ peer: SocketAddress, _ endpoint: Endpoint) {
    let id = nextConnection
    nextConnection += 1
    let name = peer.description
    let plan = endpoint.handler.connectionOpened(id, peer: name)
    let connection = Connection(
      id: id, socket: socket, peer: name, handler: endpoint.handler, server: self, plan: plan,
      acceptor: endpoint.tls)
    connection.followsPlan = endpoint.followsPlan
    connections[id] = connection
    counters.access {
      $0.accepted += 1
      $0.open = connections.count
    }
    if connections.count >= limits.maxConnections { listeners.forEach { $0.listener.pause() } }
    connection.open()
  }

  func forget(_ connection: Connection) {
    connections[connection.id] = nil
    counters.access { $0.open = connections.count }
    if connections.count < limits.maxConnections { listeners.forEach { $0.listener.resume() } }
    reportDrained()
  }

  private func reportDrained() {
    guard isDraining, connections.isEmpty, let action = whenDrained else { return }
    whenDrained = nil
    action()
  }

  // MARK: Deadlines (loop's thread)

  /// Sees to it that a sweep happens no later than `deadline`.
  func noteDeadline(_ deadline: Int64) {
    guard deadline < nextSweepNs else { return }
    sweep?.cancel()
    nextSweepNs = deadline
    sweep = clock.schedule(atNs: deadline) { [weak self] in
      guard let self else { return }
      loop.post { self.sweepDeadlines() }
    }
  }

  private func sweepDeadlines() {
    let now = clock.nowNs
    var earliest = Int64.max
    for connection in connections.values {
      if connection.deadlineNs <= now { connection.expire() }
      if connection.phase != .closed { earliest = min(earliest, connection.deadlineNs) }
    }
    nextSweepNs = .max
    guard earliest < .max else { return }
    noteDeadline(max(earliest, now &+ SocketServer.sweepNs))
  }
}
