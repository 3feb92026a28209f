/// Everything a run is told.
package struct VerifyOptions: Sendable {
  package enum Observe: Sendable, Equatable {
    case none
    /// The admin API of the workbench's own server; nil is the target's own origin.
    case admin(Target?)
    /// A URL with `{id}` where the event's id goes.
    case lookup(String)
  }

  package var target: Target
  package var token: String
  /// Names of the environment variables, for the printed commands.
  package var tokenVariable = "T"
  package var expiredTokenVariable = "EXPIRED"
  package var expiredToken: String?
  package var observe = Observe.none
  package var observeToken: String?
  package var restartCommand: String?
  package var provokeCommand: String?
  package var policy = ServerPolicy()
  package var requireAll = false
  package var destructive = false
  package var dryRun = false
  /// Requests a second at most.
  package var rate = VerifyOptions.defaultRate
  package var budgetNs = VerifyOptions.defaultBudgetNs
  package var caFile: String?
  /// Ids that run; all where empty.
  package var only: [String] = []
  /// A part of the id; all where nil.
  package var filter: String?
  package var jsonFile: String?
  package var junitFile: String?
  package var markdownFile: String?

  package static let defaultRate = 20
  package static let defaultBudgetNs: Int64 = 180_000_000_000

  package init(target: Target, token: String) {
    self.target = target
    self.token = token
  }

  var secrets: [String] {
    [token, expiredToken, observeToken].compactMap { $0 }
  }
}

/// What a run takes from outside.
package struct VerifyEnvironment: Sendable {
  /// Milliseconds since 1970.
  package var wallMs: @Sendable () -> Int64
  /// That many unpredictable bytes.
  package var random: @Sendable (Int) -> [UInt8]

  package init(
    wallMs: @escaping @Sendable () -> Int64, random: @escaping @Sendable (Int) -> [UInt8]
  ) {
    self.wallMs = wallMs
    self.random = random
  }
}
