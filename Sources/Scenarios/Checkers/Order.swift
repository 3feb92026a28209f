extension Checker {
  /// The events of a record step were stored in the order of recording.
  package static let order = Checker("order", needs: "two stored events of that step") {
    evidence, value in
    guard let label = value.stringValue else { return .unknown("not a step's name: \(value)") }
    var inOrderOfStoring: [LifeStory] = []
    for request in evidence.requests.sorted(by: { ($0.committedNs ?? 0) < ($1.committedNs ?? 0) }) {
      for id in request.commit?.stored ?? [] {
        if let story = evidence.stories.story(id: id), story.label == label {
          inOrderOfStoring.append(story)
        }
      }
    }
    guard inOrderOfStoring.count > 1 else {
      return .unknown("\(inOrderOfStoring.count) of \"\(label)\" stored, two are needed")
    }
    for (earlier, later) in zip(inOrderOfStoring, inOrderOfStoring.dropFirst())
    where (earlier.serial ?? 0) > (later.serial ?? 0) {
      return .fail(
        "\(later.name) of \"\(label)\" was recorded before \(earlier.name) and stored after it",
        [earlier, later])
    }
    return .pass("\(inOrderOfStoring.count) of \"\(label)\" stored in the order of recording")
  }
}
