extension Checker {
  /// Distinct events stored on the server.
  package static let stored = Checker.amount(
    "stored", needs: "the server's side of the run", what: "distinct events stored"
  ) { evidence in
    guard evidence.sawServer else { return .missing("the server's side of the run is missing") }
    return .number(Int64(evidence.stories.all.filter { $0.stored > 0 }.count))
  }
}
