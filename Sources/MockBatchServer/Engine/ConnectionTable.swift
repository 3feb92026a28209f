/// What the plan gave each open connection: toxics, and the step of an accept rule. Empty while
/// the plan has neither.
final class ConnectionTable: Sendable {
  struct Connection: Sendable {
    var toxics: [Toxic] = []
    /// Taken at accept; answers the first request.
    var pending: RuleBook.Step?
    /// Bytes of answers, for `limit_data`; counted while the connection has such a toxic.
    var sentBytes = 0
  }
  private let connections = Guarded<[Int: Connection]>([:])

  func put(_ id: Int, _ connection: Connection) { connections.access { $0[id] = connection } }
  func remove(_ id: Int) { connections.access { $0[id] = nil } }

  /// The connection as a new request finds it; a pending step is handed out once.
  func forRequest(_ id: Int) -> Connection? {
    connections.access { connections in
      let found = connections[id]
      connections[id]?.pending = nil
      return found
    }
  }

  func noteSent(_ id: Int, _ bytes: Int) {
    connections.access { $0[id]?.sentBytes += bytes }
  }
}
