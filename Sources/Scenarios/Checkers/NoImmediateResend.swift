extension Checker {
  /// After a failure nothing identical was sent without a delay, by the device's own clock of its
  /// attempts. Allowed at once: a new token, an explicit flush, and one quick retry when a reused
  /// connection was lost before an answer.
  package static let noImmediateResend = Checker.property(
    "noImmediateResend", needs: "a request that failed and was sent again"
  ) { evidence in
    var judged = 0
    for (failed, again) in evidence.resends {
      judged += 1
      // A server notices late that a client gave up, so the device's own times count.
      let started = again.startedNs ?? again.arrivedNs
      guard started <= (failed.failedNs ?? .max) else { continue }
      if evidence.mayResendAtOnce(failed, again) { continue }
      return .fail(
        "request \(again.number) repeats request \(failed.number) without any delay at"
          + " \(ScenarioTime.text(again.arrivedNs))",
        again.ids.prefix(1).compactMap { evidence.stories.story(id: $0) })
    }
    guard judged > 0 else { return .unknown("no failed body was sent again") }
    return .pass("\(judged) bodies sent again, each after a delay")
  }
}

extension Evidence {
  /// Failed requests with the next request of the same body.
  fileprivate var resends: [(RequestStory, RequestStory)] {
    var last: [Set<String>: RequestStory] = [:]
    var pairs: [(RequestStory, RequestStory)] = []
    for request in requests where !request.ids.isEmpty {
      let body = Set(request.ids)
      if let earlier = last[body], earlier.isTemporaryFailure || earlier.heard?.status == 401 {
        pairs.append((earlier, request))
      }
      last[body] = request
    }
    return pairs
  }

  fileprivate func mayResendAtOnce(_ failed: RequestStory, _ again: RequestStory) -> Bool {
    if again.arrival.token != failed.arrival.token { return true }
    // Where tokens cannot be told apart, the script's new token has to do.
    let allowing = again.arrival.token == 0 ? ["token", "flush"] : ["flush"]
    let wasAllowed = conditions.contains {
      allowing.contains($0.name) && $0.order > failed.order && $0.order < again.order
    }
    if wasAllowed { return true }
    let wasReused = requests.contains {
      $0.arrival.connection == failed.arrival.connection && $0.order < failed.order
    }
    return failed.heard == nil && wasReused && again.attempt == failed.attempt + 1
      && failed.attempt == 1
  }
}
