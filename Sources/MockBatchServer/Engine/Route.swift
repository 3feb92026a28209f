/// What a route is told about time.
package struct RouteTime: Sendable {
  /// Since the plan's activation, for token expiry.
  package var sinceActivationNs: Int64
  package var wallMs: Int64
}

/// One endpoint of the contract's listener. The batch contract is one; others are a registration
/// away (`BatchEngine(routes:)`).
package protocol Route: Sendable {
  /// For journal and metrics.
  var name: String { get }
  /// Methods besides OPTIONS; others get 405 with `Allow`.
  var methods: [String] { get }
  /// Whether the route answers this path.
  func accepts(path: String) -> Bool
  /// Checks what the head alone shows. `contract` is the active plan's.
  ///
  /// - Throws: `Problem`.
  func checkHead(_ request: HTTPRequest, contract: BatchContract, time: RouteTime) throws
  /// Reads a complete request; changes nothing yet.
  ///
  /// - Throws: `Problem`.
  func prepare(
    _ request: HTTPRequest, contract: BatchContract, time: RouteTime
  ) throws -> PreparedRequest
}

/// A request that a route has read.
package struct PreparedRequest: Sendable {
  /// A hash of what the request carries, the same at every attempt.
  package var identity: UInt64
  /// Events it carries.
  package var eventCount: Int
  package var account: String?
  /// Keys of the good events.
  package var keys: @Sendable () -> [EventKey]
  /// Takes as much as told; everything else about the answer is the engine's.
  ///
  /// - Throws: `LedgerError` when nothing could be taken.
  package var commit: @Sendable (CommitSpec, CommitOrigin) throws -> CommitAnswer

  package init(
    identity: UInt64, eventCount: Int = 0, account: String? = nil,
    keys: @escaping @Sendable () -> [EventKey] = { [] },
    commit: @escaping @Sendable (CommitSpec, CommitOrigin) throws -> CommitAnswer
  ) {
    self.identity = identity
    self.eventCount = eventCount
    self.account = account
    self.keys = keys
    self.commit = commit
  }
}

/// What a commit came to.
package struct CommitAnswer: Sendable {
  package var result: CommitResult
  /// The route's own answer.
  package var status: Int
  /// Further fields, behind `Content-Type: application/json` and `Date`.
  package var headers: [(String, String)]
  package var body: [UInt8]

  package init(
    result: CommitResult, status: Int = 200, headers: [(String, String)] = [], body: [UInt8]
  ) {
    self.result = result
    self.status = status
    self.headers = headers
    self.body = body
  }
}
