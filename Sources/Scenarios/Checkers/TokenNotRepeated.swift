extension Checker {
  /// After a 401 nothing was sent with the refused token, as long as that device lived; and the
  /// same body not even by a later one.
  package static let tokenNotRepeated = Checker.property(
    "tokenNotRepeated", needs: "a 401 to a request with a token"
  ) { evidence in
    let refused = evidence.requests.filter { $0.heard?.status == 401 && $0.arrival.token > 0 }
    guard !refused.isEmpty else { return .unknown("no token was answered with 401") }
    for refusal in refused {
      let body = Set(refusal.ids)
      let again = evidence.requests.first {
        $0.order > (refusal.endOrder ?? .max) && $0.arrival.token == refusal.arrival.token
          && ($0.arrival.incarnation == refusal.arrival.incarnation || Set($0.ids) == body)
      }
      guard let again else { continue }
      return .fail(
        "request \(again.number) carries the token that request \(refusal.number) was refused"
          + " for", again.ids.prefix(1).compactMap { evidence.stories.story(id: $0) })
    }
    return .pass("\(refused.count) requests refused for their token, none followed with it")
  }
}
