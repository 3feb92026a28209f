/// Something that happened in the engine, with the engine's time. `BatchEngine.onEvent` receives
/// them, outside every lock; `sequence` gives their order where threads race.
public struct EngineEvent: Sendable, Hashable {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    /// A head arrived.
    case requestStarted(method: String, path: String, connection: Int, incarnation: String?)
    /// The request is complete: the ids of its good events, and how often this exact set of ids
    /// was seen in a complete request, this one included.
    case identified(ids: [String], attempt: Int)
    /// The request passed a phase.
    case phase(Phase)
    /// A rule of the plan answers this request: its id and which of its responses (from 0).
    case ruleApplied(rule: String, response: Int)
    /// A fault, an effect or a toxic took hold, by its name in the plan.
    case faultApplied(String)
    /// The request waits at a gate.
    case gateHeld(String)
    /// A gate was opened or held by the admin or the host.
    case gateChanged(name: String, isOpen: Bool)
    /// The request waits for a moment of the engine's clock.
    case delayed(untilNs: Int64)
    /// The ledger took events of the request: ids stored as new, known before, and known with
    /// other content.
    case committed(stored: [String], duplicates: [String], conflicting: [String])
    /// The contract refused the request or some of its events: the problem's type.
    case invalid(reason: String)
    /// An answer's first byte is about to be sent; with the texts of its Retry-After and Date.
    case responded(status: Int, retryAfter: String?, date: String?)
    /// The exchange is over.
    case finished(bytesSent: Int, ending: String)
    /// The plan's timeline moved the listener.
    case listener(ListenerState)
    /// A plan came into force.
    case planActivated
  }

  /// Position in the engine's own order, from 1, without holes.
  public let sequence: Int
  /// The engine's clock.
  public let atNs: Int64
  /// Number of the request (the journal's id), 0 for events that belong to none.
  public let request: Int
  /// What happened.
  public let kind: Kind
}

/// What the contract's listening socket does with new connections.
public enum ListenerState: String, Sendable, Hashable, CaseIterable {
  /// Connections are accepted.
  case accept
  /// Connections are refused by the system (nobody listens); the port stays reserved.
  case refuse
  /// Connections are neither accepted nor refused: the client waits.
  case blackhole
}
