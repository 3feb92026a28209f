extension Checker {
  /// No body was sent again after a final 4xx. Putting the quarantine back in the queue begins
  /// anew.
  package static let finalNotRetried = Checker.property(
    "finalNotRetried", needs: "a 4xx other than 401, 413 and 429"
  ) { evidence in
    let refused = evidence.requests.filter { $0.isFinalRefusal && !$0.ids.isEmpty }
    guard !refused.isEmpty else { return .unknown("no body got a final 4xx") }
    for refusal in refused {
      if let again = evidence.repetition(of: refusal) {
        return .fail(
          "request \(again.number) has the same body as request \(refusal.number), which was"
            + " answered with \(refusal.heard?.status ?? 0)",
          again.ids.prefix(1).compactMap { evidence.stories.story(id: $0) })
      }
    }
    return .pass("\(refused.count) bodies refused, none sent again")
  }
}

extension Evidence {
  /// The next request with the same body, unless the app put the quarantine back in between.
  func repetition(of refusal: RequestStory) -> RequestStory? {
    let body = Set(refusal.ids)
    return requests.first {
      $0.order > (refusal.endOrder ?? .max) && Set($0.ids) == body
        && !wasRequeued(after: refusal, before: $0)
    }
  }

  private func wasRequeued(after: RequestStory, before: RequestStory) -> Bool {
    conditions.contains {
      $0.name == "quarantine" && $0.value == "requeue" && $0.order > (after.endOrder ?? .max)
        && $0.order < before.order
    }
  }
}
