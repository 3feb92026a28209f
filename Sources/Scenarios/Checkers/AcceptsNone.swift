extension Checker {
  /// The server accepted nothing, as the script says.
  package static let acceptsNone = Checker.property(
    "acceptsNone", needs: "the server's side of the run"
  ) { evidence in
    guard evidence.sawServer else { return .unknown("the server's side of the run is missing") }
    let stored = evidence.stories.all.filter { $0.stored > 0 }
    guard stored.isEmpty else {
      return .fail("\(stored.count) events were accepted, the script says none", stored)
    }
    return .pass("nothing was accepted in \(evidence.requests.count) requests")
  }
}
