extension Checker {
  /// Events that the server stored more than once.
  package static let duplicatesAfterDedup = Checker.amount(
    "duplicatesAfterDedup", needs: "an accepted event", what: "events stored more than once"
  ) { evidence in
    guard evidence.acceptedAnything else { return .missing("the server accepted nothing") }
    let twice = evidence.stories.all.filter { $0.stored > 1 }
    return .number(Int64(twice.count), twice)
  }
}
