extension Checker {
  /// Events with a durable receipt that are neither stored on the server nor accounted for on the
  /// device.
  ///
  /// The device's last books account for what is queued, in quarantine or dropped. They count and
  /// do not name: the number is the least that must be lost. Events which the SDK named as in
  /// quarantine and which the server stored all the same excuse no other event.
  package static let lost = Checker(
    "lost",
    needs: "a durable receipt, an accepted event unless the script says none, and books that were"
      + " read after the device's last death where an event is missing"
  ) { evidence, value in
    guard let amount = Amount(value) else { return .unknown("not a number: \(value)") }
    let durable = evidence.durable
    guard !durable.isEmpty else { return .unknown("no durable receipt was read") }
    guard evidence.acceptedAnything || evidence.history.header.acceptsNone else {
      return .unknown("the server accepted nothing")
    }
    let missing = durable.filter { $0.stored == 0 }
    let excused = missing.filter { evidence.powerLossMayHaveTaken($0) }
    let open = missing.filter { !evidence.powerLossMayHaveTaken($0) }
    var accounted: Int64 = 0
    if !open.isEmpty {
      guard let last = evidence.books.last else {
        return .unknown(
          "\(open.count) events are not on the server, and the SDK's books are missing")
      }
      guard evidence.booksAreOfLastLife else {
        return .unknown(
          "\(open.count) events are not on the server, and the SDK's books are older than the"
            + " device's death")
      }
      accounted = min(Int64(open.count), evidence.accounted(by: last))
    }
    let lost = Int64(open.count) - accounted
    var text = "\(lost) of \(durable.count) durable events lost"
    if accounted > 0 { text += ", \(accounted) accounted for on the device" }
    if !excused.isEmpty { text += ", \(excused.count) within the window a power loss may take" }
    let suspects = open.filter { $0.leftFor == nil }
    return amount.contains(lost)
      ? .pass(text) : .fail("\(text), expected \(amount)", suspects.isEmpty ? open : suspects)
  }
}

extension Evidence {
  /// Events that these books hold or dropped, less those which are on the server as well.
  fileprivate func accounted(by books: DeviceBooks) -> Int64 {
    let stored = Int64(stories.all.filter { $0.leftFor != nil && $0.stored > 0 }.count)
    let sum = books.dropped.reduce(books.queued + books.quarantined) { $0 + $1.count }
    return max(0, sum - stored)
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
