extension Checker {
  /// Once everything was healed, the queue got empty within the script's budget. A queue that
  /// stays full keeps every promise on paper and delivers nothing.
  package static let drained = Checker.property(
    "drained", needs: "a drain after the last step", looksAtServer: false
  ) { evidence in
    guard let drained = evidence.drained else { return .unknown("the queue was not drained") }
    guard !drained else { return .pass("the queue got empty") }
    let left = evidence.books.last.map { ", the books hold \($0.text)" } ?? ""
    return .fail("the queue did not get empty in its time\(left)")
  }
}
