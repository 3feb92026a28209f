extension Checker {
  /// No event was sent under a token of another account.
  package static let accountsKept = Checker.property(
    "accountsKept", needs: "events of two accounts, and requests whose account is known"
  ) { evidence in
    let accounts = Set(evidence.stories.all.filter { $0.serial != nil }.map(\.account))
    guard accounts.count > 1 else { return .unknown("only one account recorded events") }
    var checked = 0
    for request in evidence.requests {
      guard let account = request.arrival.account else { continue }
      for id in request.ids {
        guard let story = evidence.stories.story(id: id), story.serial != nil else { continue }
        checked += 1
        guard story.account == account else {
          return .fail(
            "request \(request.number) carried an event of \"\(story.account)\" under a token of"
              + " \"\(account)\"", [story])
        }
      }
    }
    guard checked > 0 else { return .unknown("no request with a known account was seen") }
    return .pass("\(checked) events sent, each under a token of its account")
  }
}
