@testable import Scenarios

/// Builds small histories for tests; times in seconds.
struct HistoryMaker {
  var history: History
  private var serial = 0
  private var request = 0

  init(
    scenario: String = "made", lane: String = "virtual", acceptsNone: Bool = false,
    rules: [String] = [], triggers: [Int] = [], expectations: [ExpectedLine] = []
  ) {
    history = History(
      header: HistoryHeader(
        scenario: scenario, about: "Made by a test.", file: "scenarios/made.json", lane: lane,
        seed: 7, replay: "workbench run scenarios/made.json --lane \(lane) --seed 7",
        acceptsNone: acceptsNone, plannedRules: rules, plannedTriggers: triggers,
        expectations: expectations))
  }

  static func ns(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }

  mutating func add(_ event: HistoryEvent, at seconds: Double = 0) {
    history.append(event, atNs: Self.ns(seconds))
  }

  /// Offers events with durable receipts.
  mutating func record(
    _ ids: [String], label: String = "shift", account: String = "a", at seconds: Double = 0
  ) {
    for id in ids {
      serial += 1
      add(.offered(serial: serial, label: label, account: account), at: seconds)
      add(.receipt(serial: serial, .durable(id: id)), at: seconds)
    }
  }

  /// A whole request. `stored` nil: nothing is committed.
  @discardableResult
  mutating func send(
    _ ids: [String], at seconds: Double, stored: [String]? = nil, duplicates: [String] = [],
    status: Int? = 200, retryAfter: String? = nil, date: String? = nil, account: String? = "a",
    attempt: Int = 1, connection: Int = 1, contentType: String? = nil, tookSeconds: Double = 0,
    token: Int = 1, incarnation: Int = 1, number: Int = 0
  ) -> Int {
    request += 1
    add(
      .arrived(
        request: request,
        Arrival(
          connection: connection, incarnation: incarnation, number: number, token: token,
          account: account)),
      at: seconds)
    add(.identified(request: request, attempt: attempt, ids: ids), at: seconds)
    if stored != nil || !duplicates.isEmpty {
      add(
        .committed(request: request, Commit(stored: stored ?? [], duplicates: duplicates)),
        at: seconds)
    }
    if let status {
      add(
        .answered(
          request: request,
          Answer(status: status, retryAfter: retryAfter, date: date, contentType: contentType)),
        at: seconds + tookSeconds)
    }
    add(
      .ended(request: request, how: status == nil ? "reset" : "keepAlive"),
      at: seconds + tookSeconds)
    return request
  }

  mutating func books(at seconds: Double = 0, _ change: (inout DeviceBooks) -> Void) {
    var books = DeviceBooks()
    change(&books)
    add(.books(books), at: seconds)
  }

  func verdict(_ checker: String, _ value: String = "true") -> Verdict {
    let line = ExpectedLine(key: checker, value: value)
    return Checkers.judge(history, expecting: [line])[0].verdict
  }
}
