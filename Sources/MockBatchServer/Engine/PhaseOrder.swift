/// What a host has an exchange do when it has reached a phase: for scripted runs, where something
/// else has to happen in exactly that moment.
package enum PhaseOrder: Sendable, Equatable {
  case goOn
  /// Waits until the gate of this name is open.
  case hold(gate: String)
  /// The client is gone: the connection is reset, and what is still under way on it is not read.
  case drop
}

/// Asked with a request's number when it has reached a phase, on the thread where that happens.
package typealias PhaseOrders = @Sendable (_ request: Int, _ phase: Phase) -> PhaseOrder
