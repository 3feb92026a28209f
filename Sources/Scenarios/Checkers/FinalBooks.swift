import JSONText

extension Checker {
  private static func fromLastBooks(
    _ name: String, what: String, _ number: @escaping @Sendable (DeviceBooks) -> Int64
  ) -> Checker {
    .amount(
      name, needs: "a reading of the SDK's books", what: what, looksAtServer: false
    ) { evidence in
      evidence.books.last.map { .number(number($0)) } ?? .missing("the books were never read")
    }
  }

  /// Events in quarantine at the end.
  package static let quarantined = fromLastBooks("quarantined", what: "events in quarantine") {
    $0.quarantined
  }

  /// Events in the queue at the end.
  package static let queued = fromLastBooks("queued", what: "events in the queue") { $0.queued }

  /// Events dropped for a reason, in all. Reasons that are not named must not occur.
  package static let dropped = Checker(
    "dropped", needs: "a reading of the SDK's books", looksAtServer: false
  ) { evidence, value in
    guard let expected = value.objectValue else { return .unknown("not an object: \(value)") }
    guard let books = evidence.books.last else { return .unknown("the books were never read") }
    for (reason, bounds) in expected {
      guard let amount = Amount(bounds) else { return .unknown("not a number: \(bounds)") }
      let count = books.dropped.first { $0.reason == reason }?.count ?? 0
      guard amount.contains(count) else {
        return .fail("\(count) events dropped for \(reason), expected \(amount)")
      }
    }
    if let other = books.dropped.first(where: { $0.count > 0 && expected[$0.reason] == nil }) {
      return .fail("\(other.count) events dropped for \(other.reason), which is not expected")
    }
    return .pass(books.text)
  }

  /// The SDK's own state at the end.
  package static let state = Checker(
    "state", needs: "a reading of the SDK's status", looksAtServer: false
  ) { evidence, value in
    guard let expected = value.stringValue else { return .unknown("not a state: \(value)") }
    guard let books = evidence.books.last else { return .unknown("the status was never read") }
    return books.state == expected
      ? .pass("the state is \(expected)")
      : .fail("the state is \(books.state), expected \(expected)")
  }
}
