/// What the plan gave each open connection. Empty while no plan has asked for anything.
final class ConnectionTable: Sendable {
  struct Connection: Sendable {
    /// The number of the plan that gave it.
    var plan = 0
    var toxics: [Toxic] = []
    /// What its performer was told last.
    var upstream = StreamLimits()
    /// Bytes of answers, for `limit_data`; counted while the connection has such a toxic.
    var sentBytes = 0
  }
  private let connections = Guarded<[Int: Connection]>([:])

  func put(_ id: Int, _ connection: Connection) { connections.access { $0[id] = connection } }
  func remove(_ id: Int) { connections.access { $0[id] = nil } }
  func find(_ id: Int) -> Connection? { connections.access { $0[id] } }

  func noteSent(_ id: Int, _ bytes: Int) {
    connections.access { $0[id]?.sentBytes += bytes }
  }
}
