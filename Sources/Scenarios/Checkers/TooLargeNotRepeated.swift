extension Checker {
  /// No body was sent again after a 413: it has to be split. Putting the quarantine back in the
  /// queue begins anew.
  package static let tooLargeNotRepeated = Checker.property(
    "tooLargeNotRepeated", needs: "a body that was answered with 413"
  ) { evidence in
    let refused = evidence.requests.filter { $0.heard?.status == 413 && !$0.ids.isEmpty }
    guard !refused.isEmpty else { return .unknown("no body was answered with 413") }
    for refusal in refused {
      guard let again = evidence.repetition(of: refusal) else { continue }
      return .fail(
        "request \(again.number) has the same body as request \(refusal.number), which was too"
          + " large", again.ids.prefix(1).compactMap { evidence.stories.story(id: $0) })
    }
    return .pass("\(refused.count) bodies were too large, none was sent again")
  }
}
