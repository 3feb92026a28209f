extension Checker {
  /// What arrived is what was recorded, each time.
  package static let contentKept = Checker.property(
    "contentKept", needs: "an event on the wire whose recording was seen"
  ) { evidence in
    var compared = 0
    for request in evidence.requests {
      if let id = request.commit?.conflicting.first {
        return .fail(
          "request \(request.number) brought another content for an id that was stored before",
          [evidence.stories.story(id: id)].compactMap { $0 })
      }
      for (id, content) in zip(request.ids, request.contents) {
        guard let story = evidence.stories.story(id: id), !story.content.isEmpty else { continue }
        compared += 1
        if story.content != content {
          return .fail(
            "request \(request.number) brought an event with another type, time or payload than"
              + " were recorded", [story])
        }
      }
    }
    guard compared > 0 else { return .unknown("no event's content was seen at both ends") }
    return .pass("\(compared) events arrived as they were recorded")
  }
}
