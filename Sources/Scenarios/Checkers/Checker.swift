import JSONText

/// One property of a run. A value, so that expectations can be added without touching the runner:
/// one more file beside this one, one more line in `Checkers.all`.
package struct Checker: Sendable {
  /// The expectation's key in a script.
  package var name: String
  /// What must be in the history for a verdict other than unknown, in words.
  package var needs: String
  /// True where the verdict rests on the server's side of the run.
  package var looksAtServer: Bool
  /// Judges; the value is the expectation's, as the script has it.
  package var judge: @Sendable (Evidence, JSONValue) -> Verdict

  package init(
    _ name: String, needs: String, looksAtServer: Bool = true,
    judge: @escaping @Sendable (Evidence, JSONValue) -> Verdict
  ) {
    self.name = name
    self.needs = needs
    self.looksAtServer = looksAtServer
    self.judge = judge
  }

  /// A property that holds or does not: `true` expects it, `false` expects the contrary.
  package static func property(
    _ name: String, needs: String, looksAtServer: Bool = true,
    judge: @escaping @Sendable (Evidence) -> Verdict
  ) -> Checker {
    Checker(name, needs: needs, looksAtServer: looksAtServer) { evidence, value in
      let verdict = judge(evidence)
      return value.boolValue == false ? verdict.inverted : verdict
    }
  }

  /// A number that must be the expected one, or lie within the expected bounds.
  package static func amount(
    _ name: String, needs: String, what: String, looksAtServer: Bool = true,
    count: @escaping @Sendable (Evidence) -> Counted
  ) -> Checker {
    Checker(name, needs: needs, looksAtServer: looksAtServer) { evidence, value in
      guard let amount = Amount(value) else { return .unknown("not a number: \(value)") }
      switch count(evidence) {
      case .missing(let why): return .unknown(why)
      case .number(let number, let subjects):
        let text = "\(number) \(what)"
        return amount.contains(number)
          ? .pass(text) : .fail("\(text), expected \(amount)", subjects)
      }
    }
  }

  /// What a counting checker found.
  package enum Counted {
    case number(Int64, [LifeStory] = [])
    case missing(String)
  }
}

/// An exact number or a range, as scripts write it.
package struct Amount: Sendable, Hashable, CustomStringConvertible {
  package var min: Int64?
  package var max: Int64?

  /// Nil where the value is neither an integer nor an object with `min` or `max`.
  package init?(_ value: JSONValue) {
    if let exact = value.int64Value {
      min = exact
      max = exact
    } else if let object = value.objectValue, !object.isEmpty {
      for (key, bound) in object where key != "min" && key != "max" || bound.int64Value == nil {
        return nil
      }
      min = object["min"]?.int64Value
      max = object["max"]?.int64Value
    } else {
      return nil
    }
  }

  package func contains(_ number: Int64) -> Bool {
    (min.map { number >= $0 } ?? true) && (max.map { number <= $0 } ?? true)
  }

  package var description: String {
    switch (min, max) {
    case (let min?, let max?): return min == max ? "\(min)" : "\(min) to \(max)"
    case (let min?, nil): return "at least \(min)"
    case (nil, let max?): return "at most \(max)"
    case (nil, nil): return "anything"
    }
  }
}
