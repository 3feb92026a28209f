extension Checker {
  /// No event was sent again after the server had forgotten its id: such an event counts as
  /// stored twice, even where this server's memory was longer.
  package static let withinDedupWindow = Checker.property(
    "withinDedupWindow", needs: "an event that was sent twice"
  ) { evidence in
    var firstStored: [String: Int64] = [:]
    var again = 0
    var late: [LifeStory] = []
    for request in evidence.requests {
      for id in request.ids {
        guard let stored = firstStored[id] else { continue }
        again += 1
        if let window = evidence.history.header.dedupWindowNs, request.arrivedNs - stored > window,
          let story = evidence.stories.story(id: id)
        {
          late.append(story)
        }
      }
      guard let commit = request.commit else { continue }
      for id in commit.stored where firstStored[id] == nil {
        firstStored[id] = request.committedNs ?? request.arrivedNs
      }
    }
    guard again > 0 else { return .unknown("no stored event was sent again") }
    guard late.isEmpty else {
      return .fail("\(late.count) of \(again) resent events came behind the dedup window", late)
    }
    return .pass("\(again) resent events, all within the dedup window")
  }
}
