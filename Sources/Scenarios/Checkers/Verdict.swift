/// What a checker says about a run.
package struct Verdict: Sendable, Hashable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case pass, fail
    /// The run gave no evidence: neither a pass nor a fail.
    case unknown
  }

  package var outcome: Outcome
  /// One line: what was found, with figures.
  package var explanation: String
  /// The events that show it, at most `maxSubjects`.
  package var subjects: [LifeStory]

  /// More life stories than a reader looks at.
  package static let maxSubjects = 5

  package init(_ outcome: Outcome, _ explanation: String, subjects: [LifeStory] = []) {
    self.outcome = outcome
    self.explanation = explanation
    self.subjects = Array(subjects.prefix(Verdict.maxSubjects))
  }

  package static func pass(_ explanation: String) -> Verdict { Verdict(.pass, explanation) }
  package static func fail(_ explanation: String, _ subjects: [LifeStory] = []) -> Verdict {
    Verdict(.fail, explanation, subjects: subjects)
  }
  package static func unknown(_ explanation: String) -> Verdict { Verdict(.unknown, explanation) }

  /// For an expectation of `false`: what was to hold must not.
  package var inverted: Verdict {
    switch outcome {
    case .pass: return .fail("expected not to hold, but: \(explanation)")
    case .fail: return .pass("as expected it does not hold: \(explanation)")
    case .unknown: return self
    }
  }
}

/// A verdict with the checker it comes from and the expectation that asked for it.
package struct CheckResult: Sendable, Hashable {
  package var checker: String
  /// Nil for checkers that always run.
  package var expectation: ExpectedLine?
  package var verdict: Verdict

  package init(checker: String, expectation: ExpectedLine? = nil, verdict: Verdict) {
    self.checker = checker
    self.expectation = expectation
    self.verdict = verdict
  }
}
