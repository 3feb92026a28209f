/// The rules of one activated plan with their counters.
///
/// A request is matched against the patterns outside the lock; taking a step is atomic.
final class RuleBook: Sendable {
  /// What a rule gives a request.
  struct Step: Sendable {
    var rule: Rule
    var ruleIndex: Int
    var responseIndex: Int
    /// Draws of this request under this rule, after the one that decided.
    var draw: KeyedDraw
    var response: ResponseSpec { rule.responses[responseIndex] }
  }
  /// What random draws are keyed by.
  struct Key: Sendable {
    /// Hash of the set of event ids, or of method and target where there is no batch.
    var identity: UInt64
    var attempt: Int
  }
  private struct Counter {
    var passed = 0
    var applied = 0
  }

  let rules: [Rule]
  private let seed: UInt64
  private let counters: Guarded<[Counter]>
  /// Whether some rule acts before the body; performers need not ask otherwise.
  let hasEarlyRules: Bool

  init(rules: [Rule], seed: UInt64) {
    self.rules = rules
    self.seed = seed
    counters = Guarded([Counter](repeating: Counter(), count: rules.count))
    hasEarlyRules = rules.contains { $0.earliestPhase < .requestBody }
  }

  /// Takes the step of the first rule that applies, if one does: match, window, skip, probability,
  /// next response.
  ///
  /// - Parameters:
  ///   - phase: rules whose earliest effect lies there are asked: `accept`, `requestHead`, or
  ///     `requestBody` for all others.
  ///   - matches: whether a rule's pattern fits the request.
  func take(
    at phase: Phase, sinceActivationNs now: Int64, key: Key, matches: (Rule) -> Bool
  ) -> Step? {
    let candidates = rules.indices.filter { index in
      let rule = rules[index]
      return rule.earliestPhase == phase && now >= rule.fromNs && now < rule.untilNs ?? .max
        && matches(rule)
    }
    guard !candidates.isEmpty else { return nil }
    return counters.access { counters in
      for index in candidates {
        if let step = step(index, &counters[index], key) { return step }
      }
      return nil
    }
  }

  private func step(_ index: Int, _ counter: inout Counter, _ key: Key) -> Step? {
    let rule = rules[index]
    guard let response = RuleBook.next(rule, applied: counter.applied) else { return nil }
    guard counter.passed >= rule.skip else {
      counter.passed += 1
      return nil
    }
    var draw = KeyedDraw(
      seed: seed, name: rule.id, identity: key.identity, attempt: key.attempt)
    guard rule.probability >= 1 || draw.fraction() < rule.probability else { return nil }
    counter.applied += 1
    return Step(rule: rule, ruleIndex: index, responseIndex: response, draw: draw)
  }

  /// Which response comes after so many; nil when the rule is exhausted.
  static func next(_ rule: Rule, applied: Int) -> Int? {
    if let times = rule.times, applied >= times { return nil }
    guard applied >= rule.responses.count else { return applied }
    switch rule.onExhausted {
    case .nextRule: return nil
    case .repeat: return applied % rule.responses.count
    case .last: return rule.responses.count - 1
    }
  }

  /// How often each rule was applied, for status displays and `allFaultsFired`.
  func applied() -> [(rule: String, times: Int)] {
    counters.access { counters in
      zip(rules, counters).map { ($0.id, $1.applied) }
    }
  }
}
