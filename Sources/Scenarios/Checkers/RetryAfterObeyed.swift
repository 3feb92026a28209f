extension Checker {
  /// A date has whole seconds: this much earlier is no disobedience.
  private static let dateToleranceNs: Int64 = 1_000_000_000

  /// No request came before a `Retry-After` had passed.
  ///
  /// A `Retry-After` counts on 429 and 5xx that the device got, where it is usable: more than zero seconds, or a date
  /// behind the answer's own.
  package static let retryAfterObeyed = Checker.property(
    "retryAfterObeyed", needs: "a 429 or 5xx with a usable Retry-After"
  ) { evidence in
    var gates: [(request: RequestStory, untilNs: Int64)] = []
    for request in evidence.requests {
      guard let answer = request.heard, answer.status == 429 || answer.status >= 500,
        let text = answer.retryAfter, let endedNs = request.endedNs,
        let delay = RetryAfterText.delayNs(text, date: answer.date)
      else { continue }
      let isDate = text.contains(":")
      let bounded = min(delay, evidence.history.header.retryAfterCapNs)
      let (until, overflow) = endedNs.addingReportingOverflow(
        max(0, bounded - (isDate ? dateToleranceNs : 0)))
      gates.append((request, overflow ? .max : until))
    }
    guard !gates.isEmpty else { return .unknown("no usable Retry-After was sent") }
    for gate in gates {
      let early = evidence.requests.first {
        $0.order > (gate.request.endOrder ?? .max) && $0.arrivedNs < gate.untilNs
      }
      if let early {
        let allowed = ScenarioTime.text(gate.untilNs)
        return .fail(
          "request \(early.number) came at \(ScenarioTime.text(early.arrivedNs)), but request"
            + " \(gate.request.number) was told to wait until \(allowed)",
          early.ids.prefix(1).compactMap { evidence.stories.story(id: $0) })
      }
    }
    return .pass("\(gates.count) Retry-After obeyed")
  }
}
