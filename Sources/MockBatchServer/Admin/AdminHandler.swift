import JSONText

/// The endpoints under `/__admin`, on a listener of their own and beside the contract's.
package final class AdminHandler: ExchangeHandler {
  /// Who may call, and what the host of the server does when asked.
  package struct Settings: Sendable {
    /// Required beyond loopback; nil: none is asked for.
    package var token: String?
    /// Whether only loopback addresses listen.
    package var isLoopback = true
    /// Names that `Host` may have besides loopback ones and addresses.
    package var hosts: [String] = []
    /// Called once when a client asks for the end; must not block.
    package var shutdown: @Sendable () -> Void = {}
    /// Where one part of a list ends.
    package var pageBytes = AdminPage.maxBytes
    /// Further members of `health`, such as URLs.
    package var facts: @Sendable () -> JSONObject = { [:] }

    package init() {}
  }

  package static let prefix = "/__admin"
  let engine: BatchEngine
  let settings: Settings
  private let guardian: AdminGuardian
  private let queue = AdminQueue()
  /// Streams that somebody reads; and whether the server ends, so that no further one begins.
  private let feeds = Guarded<(open: [ObjectIdentifier: EventFeed], isOver: Bool)>(([:], false))

  package init(engine: BatchEngine, settings: Settings = Settings()) {
    self.engine = engine
    self.settings = settings
    guardian = AdminGuardian(settings: settings)
  }

  package func connectionOpened(_ connection: Int, peer: String) {}
  package func connectionClosed(_ connection: Int) {}
  package func refused(
    _ bytes: [UInt8], status: Int, reason: String, context: RequestContext
  ) {}
  package func cut(_ bytes: [UInt8], reason: String, context: RequestContext) {}

  package func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange {
    AdminExchange(handler: self, head: head)
  }

  // MARK: - Event streams

  func openFeed() -> EventFeed {
    let feed = EventFeed(engine: engine)
    let isOver = feeds.access { feeds -> Bool in
      if !feeds.isOver { feeds.open[ObjectIdentifier(feed)] = feed }
      return feeds.isOver
    }
    if isOver { feed.end() }
    return feed
  }

  func leave(_ feed: EventFeed) { feeds.access { $0.open[ObjectIdentifier(feed)] = nil } }

  /// A server that ended begins anew.
  func allowStreams() { feeds.access { $0.isOver = false } }

  /// Ends every stream: a server that ends waits for no listener.
  func endStreams() {
    let open = feeds.access { feeds -> [EventFeed] in
      feeds.isOver = true
      return Array(feeds.open.values)
    }
    for feed in open { feed.end() }
  }

  /// Answers a complete call.
  func respond(to request: HTTPRequest) -> AdminResult {
    do {
      let path = String(request.path.dropFirst(AdminHandler.prefix.count))
      if path == "/session" {
        return .response(try guardian.openSession(request))
      }
      try guardian.admit(request)
      let matching = AdminEndpoints.matching(path)
      guard !matching.isEmpty else { throw AdminProblem(404, "no endpoint has this path") }
      let method = request.method == "HEAD" ? "GET" : request.method
      guard let (endpoint, parameter) = matching.first(where: { $0.0.method == method }) else {
        var problem = AdminProblem(405, "the endpoint does not take this method")
        problem.allow = matching.map(\.0.method).sorted()
        throw problem
      }
      let call = AdminCall(request: request, endpoint: endpoint, parameter: parameter)
      guard endpoint.takesLong else { return try endpoint.perform(call, self) }
      return queue.later(call.work) { [self] in
        do {
          guard case .response(let response) = try endpoint.perform(call, self) else {
            return AdminProblem(500, "the endpoint answers later").response
          }
          return response
        } catch {
          return AdminHandler.problem(error)
        }
      }
    } catch {
      return .response(AdminHandler.problem(error))
    }
  }

  private static func problem(_ error: any Error) -> HTTPResponse {
    switch error {
    case let problem as AdminProblem: return problem.response
    case let error as FaultPlanError:
      var problem = AdminProblem(400, error.messageWithSuggestion, position: error.position)
      problem.extra = ["pointer": .string(error.pointer)]
      if let suggestion = error.suggestion { problem.extra["suggestion"] = .string(suggestion) }
      return problem.response
    default: return AdminProblem(500, "\(error)").response
    }
  }
}

/// Splits one listener's requests between the contract and the admin. The engine counts the
/// connections; what its plan does to them begins with the first request to the contract, so the
/// admin never meets a fault.
package final class SplitHandler: ExchangeHandler {
  private let engine: any ExchangeHandler
  private let admin: AdminHandler

  package init(engine: any ExchangeHandler, admin: AdminHandler) {
    self.engine = engine
    self.admin = admin
  }

  package func connectionOpened(_ connection: Int, peer: String) {
    engine.connectionOpened(connection, peer: peer)
  }
  package func connectionClosed(_ connection: Int) { engine.connectionClosed(connection) }
  package func refused(
    _ bytes: [UInt8], status: Int, reason: String, context: RequestContext
  ) { engine.refused(bytes, status: status, reason: reason, context: context) }
  package func cut(_ bytes: [UInt8], reason: String, context: RequestContext) {
    engine.cut(bytes, reason: reason, context: context)
  }

  package func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange {
    let path = head.path
    let isAdmin = path == AdminHandler.prefix || path.hasPrefix(AdminHandler.prefix + "/")
    return isAdmin
      ? admin.begin(head, context: context) : engine.begin(head, context: context)
  }
}
