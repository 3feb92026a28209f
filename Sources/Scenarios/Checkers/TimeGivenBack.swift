extension Checker {
  /// The system ends an app that keeps background time for longer, nanoseconds.
  private static let graceNs: Int64 = 5_000_000_000

  /// Background time was given back exactly once: soon after the system took it back, and at the
  /// latest when the queue was empty with the app in front. What a dead device held is gone with
  /// it.
  package static let timeGivenBack = Checker.property(
    "timeGivenBack", needs: "background time that the system granted", looksAtServer: false
  ) { evidence in
    let (times, stranger) = evidence.backgroundTimes
    if let stranger { return .fail("the \(stranger) was ended and never begun") }
    let nowNs = evidence.history.entries.last?.atNs ?? 0
    guard !times.isEmpty else { return .unknown("no background time was granted") }
    for time in times {
      guard time.ends.count < 2 else {
        return .fail("the \(time.name) was ended \(time.ends.count) times")
      }
      if let expiring = time.expiringNs {
        // In the middle of a run it may be about to end.
        let isOver = evidence.drained != nil
        let over = time.ends.first ?? time.deathNs ?? (isOver ? .max : nowNs)
        guard over - expiring <= graceNs else {
          return .fail(
            "the \(time.name) was taken back at \(ScenarioTime.text(expiring)) and not ended")
        }
      } else if time.ends.isEmpty, time.deathNs == nil, evidence.drained == true {
        return .fail("the \(time.name) was never ended")
      }
    }
    let expired = times.filter { $0.expiringNs != nil }.count
    return .pass(
      "\(times.count) pieces of background time given back, \(expired) taken back before")
  }
}

/// One piece of background time, from its beginning to its end.
struct BackgroundTimeStory: Sendable, Hashable {
  /// `assertion 1.2` or `task 1.3`.
  var name: String
  var order: Int
  var expiringNs: Int64?
  /// When it was ended, once or more often.
  var ends: [Int64] = []
  /// When the device died that held it; nil where it lived on to the end of the run.
  var deathNs: Int64?
}

extension Evidence {
  /// In the order in which it was granted, and the first that was ended without a beginning.
  var backgroundTimes: (stories: [BackgroundTimeStory], stranger: String?) {
    var stranger: String?
    var stories: [BackgroundTimeStory] = []
    var places: [String: Int] = [:]
    for condition in conditions where condition.name == "assertion" || condition.name == "task" {
      let words = condition.value.split(separator: " ").map(String.init)
      guard words.count == 2 else { continue }
      let name = "\(condition.name) \(words[0])"
      switch (words[1], places[name]) {
      case ("begun", _):
        places[name] = stories.count
        let death = deaths.first { $0.order > condition.order && $0.how != "closed" }
        stories.append(
          BackgroundTimeStory(name: name, order: condition.order, deathNs: death?.atNs))
      case ("expiring", let place?): stories[place].expiringNs = condition.atNs
      case ("ended", let place?): stories[place].ends.append(condition.atNs)
      case ("ended", nil): stranger = stranger ?? name
      default: continue
      }
    }
    return (stories, stranger)
  }
}
