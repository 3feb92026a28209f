extension Checker {
  /// The SDK's own books balance at every reading, and agree with what both ends saw: they hold
  /// at least the durable events, and no more deliveries than the device heard acknowledged.
  package static let ledgerBalances = Checker.property(
    "ledgerBalances", needs: "a reading of the SDK's books", looksAtServer: false
  ) { evidence in
    guard let last = evidence.books.last else { return .unknown("the books were never read") }
    for books in evidence.books where !books.balances {
      return .fail("the books of incarnation \(books.incarnation) do not balance: \(books.text)")
    }
    let durable = Set(evidence.durable.compactMap(\.id)).count
    if !evidence.mayHaveForgotten, last.recorded < Int64(durable) {
      return .fail("\(durable) events had durable receipts, the books hold \(last.text)")
    }
    var acknowledged = Set<String>()
    for request in evidence.requests where request.isAcknowledged {
      acknowledged.formUnion(request.ids)
    }
    if !evidence.requests.isEmpty, last.delivered > Int64(acknowledged.count) {
      return .fail(
        "\(acknowledged.count) events were acknowledged by the server, the books hold \(last.text)")
    }
    return .pass("\(evidence.books.count) readings balance, the last: \(last.text)")
  }
}

extension Evidence {
  /// A damaged file, or a power loss that takes what was not synced, may take books back to an
  /// earlier state; an app that does not know its file has others as long as that lasts.
  fileprivate var mayHaveForgotten: Bool {
    (!reboots.isEmpty && history.header.powerLossWindowNs > 0) || hadCondition("disk", "corrupt")
      || conditions.last { $0.name == "database" && $0.value.hasSuffix("Version") }?.value
        == "newerVersion"
  }
}

extension DeviceBooks {
  /// `recorded 7 = delivered 5 + queued 1 + quarantined 0 + dropped 1 (queueFull 1)`.
  package var text: String {
    let sum = dropped.reduce(Int64(0)) { $0 &+ $1.count }
    let reasons = dropped.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
    return "recorded \(recorded), delivered \(delivered), queued \(queued), quarantined"
      + " \(quarantined), dropped \(sum)\(reasons.isEmpty ? "" : " (\(reasons))")"
  }
}
