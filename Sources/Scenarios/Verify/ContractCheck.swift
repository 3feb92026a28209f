/// What a check found.
package enum ContractVerdict: String, Sendable, CaseIterable {
  case pass
  case fail
  /// Something the check needs was not given.
  case skipped
  /// Nothing that was given can show whether the rule holds.
  case notObservable = "not observable"
}

/// What a check cannot do without.
package enum CheckNeed: Sendable, Hashable {
  case expiredToken
  case restartCommand
  case provokeCommand
  /// Could harm the target; runs only when asked for.
  case destructive
  /// Sees whether an event is stored.
  case observer
  /// A target that tells tokens apart.
  case restrictedTokens
  /// A setting of the policy that is not at null.
  case maxEvents
  case maxBytes
  /// Answers that count what became of the events.
  case counts
}

/// One rule of the contract and the way to try it.
package struct ContractCheck: Sendable {
  /// `subject.what`, stable: reports and `--only` use it.
  package let id: String
  /// One sentence: what the server has to do.
  package let rule: String
  /// One sentence: what a phone loses where it does not.
  package let why: String
  package let needs: [CheckNeed]
  let body: @Sendable (CheckRun) throws -> Finding

  init(
    _ id: String, _ rule: String, why: String, needs: [CheckNeed] = [],
    _ body: @escaping @Sendable (CheckRun) throws -> Finding
  ) {
    self.id = id
    self.rule = rule
    self.why = why
    self.needs = needs
    self.body = body
  }

  package var subject: String { String(id.prefix { $0 != "." }) }
}

/// A verdict with the sentence that explains it.
struct Finding: Sendable, Equatable {
  var verdict: ContractVerdict
  var sentence: String

  static func pass(_ sentence: String) -> Finding { Finding(verdict: .pass, sentence: sentence) }
  static func fail(_ sentence: String) -> Finding { Finding(verdict: .fail, sentence: sentence) }
  static func notObservable(_ sentence: String) -> Finding {
    Finding(verdict: .notObservable, sentence: sentence)
  }
}

/// Ends a check before its last line.
enum CheckStop: Error, Sendable {
  case finding(Finding)
  case budgetSpent
}

/// One request and what came of it, safe to print: no secret is in it.
package struct CheckExchange: Sendable {
  package var request: String
  /// Reproduces the request; the token is `$T`.
  package var curl: String
  package var outcome: String
  package var status: Int?
  package var headers: [String]
  package var excerpt: String
}

/// A check's verdict with its evidence.
package struct ContractResult: Sendable {
  package var id: String
  package var rule: String
  package var why: String
  package var verdict: ContractVerdict
  package var sentence: String
  package var exchanges: [CheckExchange]
  /// Requests made beyond those that are kept as evidence.
  package var exchangesLeftOut = 0
}
