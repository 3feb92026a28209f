extension Checker {
  /// Events with a durable receipt that are neither stored on the server nor accounted for on the
  /// device.
  ///
  /// Where the SDK names the events it dropped or holds in quarantine, those are taken out one by
  /// one. Where it only counts them, and for what still lies in the queue, the count is taken off:
  /// then the number is the least that must be lost.
  package static let lost = Checker(
    "lost", needs: "a durable receipt, and an accepted event unless the script says none"
  ) { evidence, value in
    guard let amount = Amount(value) else { return .unknown("not a number: \(value)") }
    let durable = evidence.durable
    guard !durable.isEmpty else { return .unknown("no durable receipt was read") }
    guard evidence.acceptedAnything || evidence.history.header.acceptsNone else {
      return .unknown("the server accepted nothing")
    }
    let missing = durable.filter { $0.stored == 0 && $0.leftFor == nil }
    let excused = missing.filter { evidence.powerLossMayHaveTaken($0) }
    let open = missing.filter { !evidence.powerLossMayHaveTaken($0) }
    if !open.isEmpty, evidence.books.isEmpty {
      return .unknown("\(open.count) events are not on the server, and the SDK's books are missing")
    }
    let accounted = min(Int64(open.count), evidence.accountedWithoutName)
    let lost = Int64(open.count) - accounted
    var text = "\(lost) of \(durable.count) durable events lost"
    if accounted > 0 { text += ", \(accounted) accounted for on the device" }
    if !excused.isEmpty { text += ", \(excused.count) within the window a power loss may take" }
    return amount.contains(lost) ? .pass(text) : .fail("\(text), expected \(amount)", open)
  }
}

extension Evidence {
  /// Events that the SDK's last books hold or dropped, less those it named.
  fileprivate var accountedWithoutName: Int64 {
    guard let last = books.last else { return 0 }
    let named = Int64(stories.all.filter { $0.leftFor != nil && $0.stored == 0 }.count)
    let sum = last.dropped.reduce(last.queued + last.quarantined) { $0 + $1.count }
    return max(0, sum - named)
  }

  /// True where the event became durable so shortly before a power loss that the background sync
  /// need not have reached it.
  fileprivate func powerLossMayHaveTaken(_ story: LifeStory) -> Bool {
    guard !reboots.isEmpty, history.header.powerLossWindowNs > 0,
      let durable = story.moments.last(where: { $0.what == "durable" })?.atNs
    else { return false }
    return reboots.contains {
      $0 >= durable && $0 - durable <= history.header.powerLossWindowNs
    }
  }
}
