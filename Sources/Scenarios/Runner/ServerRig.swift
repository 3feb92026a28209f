import Foundation
import JSONText
import MockBatchServer

/// The server's side of one case: engine, onlooker, board, and the sockets where the lane has
/// them.
///
/// Thread safe.
final class ServerRig: Sendable {
  let engine: BatchEngine
  let board: RequestBoard
  let handler: ObservedHandler
  /// Carries requests of the lanes without sockets; its connections are numbered through all of the
  /// device's lives.
  let performer: InProcessPerformer
  /// Where the device posts batches.
  let endpoint: String
  private let clock: RunnerClock
  private let sockets = Guarded<Sockets?>(nil)

  static let path = "/v1/telemetry/batch"

  private struct Sockets {
    var server: SocketServer
    var port: Int
    /// Connections that earlier servers of this case have had.
    var earlier: Int
  }

  init(
    lane: LaneName, plan: FaultPlan, ledger: Ledger, clock: RunnerClock, mailbox: Mailbox,
    onEvent: @escaping @Sendable (EngineEvent) -> Void,
    onSighting: @escaping @Sendable (RequestSighting) -> Void,
    phaseOrders: @escaping PhaseOrders = { _, _ in .goOn }
  ) throws {
    engine = BatchEngine(
      plan: plan, ledger: ledger, clock: clock, journalLimits: .standard, routes: [],
      onEvent: onEvent, phaseOrders: phaseOrders)
    try engine.attach(lane == .socket ? .socketServer : .urlProtocol)
    board = RequestBoard { mailbox.put(.serverMoved) }
    handler = ObservedHandler(engine, board: board, onSighting: onSighting)
    performer = InProcessPerformer(handler: handler)
    self.clock = clock
    guard lane == .socket else {
      endpoint = "http://device.invalid\(ServerRig.path)"
      return
    }
    let started = try ServerRig.start(port: 0, earlier: 0, handler, clock)
    sockets.withLock { $0 = started }
    endpoint = "http://127.0.0.1:\(started.port)\(ServerRig.path)"
    watch(started.server)
  }

  private static func start(
    port: Int, earlier: Int, _ handler: ObservedHandler, _ clock: RunnerClock
  ) throws -> Sockets {
    let server = try SocketServer(clock: clock, firstConnection: earlier + 1)
    let ports = try server.start([
      SocketServer.Endpoint(host: "127.0.0.1", port: port, handler: handler)
    ])
    return Sockets(server: server, port: ports[0], earlier: earlier)
  }

  private func watch(_ server: SocketServer) {
    engine.watchListener { [weak server] in server?.setListener($0) }
  }

  /// The server stops and starts again on its port: requests under way are lost, and the ledger
  /// knows what its file knows. The fault plan is the script's, not the server's: it goes on.
  ///
  /// - Parameter dropConnections: ends what does not go through sockets.
  func restart(dropConnections: () -> Void) throws {
    board.connectionsLost()
    let old = sockets.withLock { $0 }
    old?.server.stop()
    dropConnections()
    try engine.ledger.reopen()
    guard let old else { return }
    let started = try ServerRig.start(
      port: old.port, earlier: old.earlier + old.server.currentCounters.accepted, handler, clock)
    sockets.withLock { $0 = started }
    watch(started.server)
  }

  /// Ends every fault; every gate is open.
  func heal(gates: [String]) {
    engine.endFaults()
    for gate in gates { engine.setGate(gate, isOpen: true) }
  }

  func stop() { sockets.withLock { $0 }?.server.stop() }
}
