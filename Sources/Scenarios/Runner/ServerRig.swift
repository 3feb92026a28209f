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
  private let server: SocketServer?

  static let path = "/v1/telemetry/batch"

  init(
    lane: LaneName, plan: FaultPlan, clock: RunnerClock, mailbox: Mailbox,
    onEvent: @escaping @Sendable (EngineEvent) -> Void,
    onSighting: @escaping @Sendable (RequestSighting) -> Void
  ) throws {
    engine = BatchEngine(plan: plan, ledger: Ledger(), clock: clock, onEvent: onEvent)
    try engine.attach(lane == .socket ? .socketServer : .urlProtocol)
    board = RequestBoard { mailbox.put(.serverMoved) }
    handler = ObservedHandler(engine, board: board, onSighting: onSighting)
    performer = InProcessPerformer(handler: handler)
    guard lane == .socket else {
      server = nil
      endpoint = "http://device.invalid\(ServerRig.path)"
      return
    }
    let server = try SocketServer(clock: clock)
    let ports = try server.start([
      SocketServer.Endpoint(host: "127.0.0.1", port: 0, handler: handler)
    ])
    self.server = server
    endpoint = "http://127.0.0.1:\(ports[0])\(ServerRig.path)"
    engine.watchListener { [weak server] in server?.setListener($0) }
  }

  /// The server process ends and starts again; what the ledger took stays.
  func restart() { server?.resetConnections() }

  /// Ends every fault: the plan's rules are gone, its contract stays, every gate is open.
  func heal(gates: [String]) throws {
    var plan = FaultPlan()
    plan.seed = engine.plan.seed
    plan.contract = engine.plan.contract
    try engine.use(plan)
    for gate in gates { engine.setGate(gate, isOpen: true) }
  }

  func stop() { server?.stop() }
}
