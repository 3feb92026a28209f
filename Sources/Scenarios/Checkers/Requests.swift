extension Checker {
  /// Requests that reached the server.
  package static let requests = Checker.amount(
    "requests", needs: "the server's side of the run", what: "requests"
  ) { evidence in
    guard evidence.sawServer else { return .missing("the server's side of the run is missing") }
    return .number(Int64(evidence.requests.count))
  }

  /// Events that arrived again and were answered as duplicates.
  package static let duplicates = Checker.amount(
    "duplicates", needs: "the server's side of the run", what: "duplicates answered"
  ) { evidence in
    guard evidence.sawServer else { return .missing("the server's side of the run is missing") }
    return .number(
      Int64(evidence.requests.reduce(0) { $0 + ($1.commit?.duplicates.count ?? 0) }))
  }
}
