extension Checker {
  /// All events of a record step that got a durable receipt are stored on the server.
  package static let delivered = Checker("delivered", needs: "a durable receipt of that step") {
    evidence, value in
    guard let label = value.stringValue else { return .unknown("not a step's name: \(value)") }
    let durable = evidence.events(of: label).filter(\.isDurable)
    guard !durable.isEmpty else {
      return .unknown("no durable receipt of \"\(label)\" was read")
    }
    let missing = durable.filter { $0.stored == 0 }
    let text = "\(durable.count - missing.count) of \(durable.count) of \"\(label)\" delivered"
    return missing.isEmpty ? .pass(text) : .fail("\(text), \(missing.count) are missing", missing)
  }

  /// No event of a record step is stored on the server.
  package static let undelivered = Checker("undelivered", needs: "an offered event of that step") {
    evidence, value in
    guard let label = value.stringValue else { return .unknown("not a step's name: \(value)") }
    let offered = evidence.events(of: label)
    guard !offered.isEmpty else { return .unknown("no event of \"\(label)\" was offered") }
    let stored = offered.filter { $0.stored > 0 }
    guard stored.isEmpty else {
      return .fail("\(stored.count) of \(offered.count) of \"\(label)\" were delivered", stored)
    }
    return .pass("none of \(offered.count) of \"\(label)\" was delivered")
  }
}
