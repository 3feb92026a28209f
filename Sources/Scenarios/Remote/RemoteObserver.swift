import JSONText

/// The server's half of a remote run, read from its journal and ledger and written as history.
///
/// Belongs to the runner's thread.
final class RemoteObserver {
  private let admin: RemoteAdmin
  private let pace: RealTimePace
  private let accounts: [String: String]
  /// What scenario time is ahead of the server's clock.
  private var clockOffsetNs: Int64 = 0
  private var mark = RemoteAdmin.JournalMark(count: 0)
  private var seen: Set<String> = []
  private var attempts: [[String]: Int] = [:]
  private var tokens: [String: Int] = [:]
  private var planBefore: [UInt8]?

  /// - Parameter accounts: whose the tokens are.
  init(_ admin: RemoteAdmin, pace: RealTimePace, accounts: [String: String]) {
    self.admin = admin
    self.pace = pace
    self.accounts = accounts
  }

  /// Puts the script's plan in force and remembers where the journal stands.
  func begin(plan: [UInt8]?) throws {
    if let plan {
      planBefore = try admin.plan()
      try admin.use(plan: plan)
    }
    try setClock()
    mark = try admin.journalMark()
  }

  private func setClock() throws {
    let before = pace.nowNs
    guard let health = try admin.health(), let clock = health["clockNs"]?.int64Value else {
      throw RunnerFailure("the target's admin endpoints do not tell the time")
    }
    clockOffsetNs = (before + pace.nowNs) / 2 - clock
  }

  /// Ends every fault of the script's plan; its contract stays.
  func heal(plan: [UInt8]?) throws {
    guard let plan else { return }
    try admin.use(plan: plan)
  }

  /// Gives the server back the plan that it had.
  func end() throws {
    guard let planBefore else { return }
    self.planBefore = nil
    try admin.use(plan: planBefore)
  }

  /// What has come since the last call: requests whose body is a batch of these events.
  func news(of ids: Set<String>) throws -> [HistoryEntry] {
    let (entries, missed) = try admin.journal(since: mark)
    mark.count += entries.count + missed
    var history: [HistoryEntry] = []
    if missed > 0 {
      history.append(
        HistoryEntry(
          atNs: pace.nowNs, event: .note("the target's journal had no room for \(missed) requests"))
      )
    }
    for entry in entries { history += read(entry, ids) }
    return history
  }

  func holdings(of ids: Set<String>) throws -> [Holding] { try admin.holdings(of: ids) }

  // MARK: One request

  private func read(_ entry: JSONValue, _ known: Set<String>) -> [HistoryEntry] {
    let body = Array((entry["decodedBody"]?.stringValue ?? "").utf8)
    guard let number = entry["id"]?.intValue, let ids = BatchBody(body)?.ids,
      ids.contains(where: known.contains)
    else { return [] }
    let atNs = (entry["atNs"]?.int64Value ?? 0) + clockOffsetNs
    let endNs = entry["endedNs"]?.int64Value.map { $0 + clockOffsetNs } ?? atNs
    var events: [(Int64, HistoryEvent)] = [(atNs, .arrived(request: number, arrival(entry)))]
    let key = ids.sorted()
    attempts[key, default: 0] += 1
    events.append((atNs, .identified(request: number, attempt: attempts[key] ?? 1, ids: ids)))
    if let rule = entry["rule"]?["id"]?.stringValue {
      let effects = (entry["effects"]?.arrayValue ?? []).compactMap(\.stringValue)
      events.append(
        (
          atNs,
          .faultApplied(
            rule: rule, response: entry["rule"]?["response"]?.intValue ?? 0,
            what: effects.joined(separator: ", "), request: number)
        ))
    }
    if let commit = commit(entry, ids) {
      events.append((atNs, .committed(request: number, commit)))
    }
    if let answer = answer(entry) { events.append((endNs, .answered(request: number, answer))) }
    if let how = entry["ending"]?.stringValue, !how.isEmpty {
      events.append((endNs, .ended(request: number, how: how)))
    }
    return events.map { HistoryEntry(atNs: $0.0, event: $0.1) }
  }

  private func arrival(_ entry: JSONValue) -> Arrival {
    let name = RemoteObserver.header(DeviceMessage.requestHeader, entry["headers"]) ?? ""
    let (incarnation, number) = RequestName.parts(name)
    let authorization = RemoteObserver.header("Authorization", entry["headers"]) ?? ""
    let account =
      entry["account"]?.stringValue ?? accounts[String(authorization.dropFirst("Bearer ".count))]
    // A target that hides tokens in its journal lets nobody tell them apart.
    let isShown = accounts[String(authorization.dropFirst("Bearer ".count))] != nil
    if isShown, tokens[authorization] == nil { tokens[authorization] = tokens.count + 1 }
    return Arrival(
      method: entry["method"]?.stringValue ?? "", path: entry["url"]?.stringValue ?? "",
      connection: entry["connection"]?.intValue ?? 0, incarnation: incarnation, number: number,
      token: tokens[authorization] ?? 0, account: account)
  }

  /// The journal counts what was taken; which those were follows from what was seen before, since
  /// no id of this run is older than the run.
  private func commit(_ entry: JSONValue, _ ids: [String]) -> Commit? {
    guard let counts = entry["commit"]?.objectValue else { return nil }
    let names = ["stored", "duplicatesWithin", "duplicatesAcross", "conflicting"]
    let taken = names.reduce(0) { $0 + (counts[$1]?.intValue ?? 0) }
    var commit = Commit(stored: [])
    for id in ids.prefix(taken) {
      if seen.insert(id).inserted { commit.stored.append(id) } else { commit.duplicates.append(id) }
    }
    return commit
  }

  private func answer(_ entry: JSONValue) -> Answer? {
    guard let response = entry["response"], let status = response["status"]?.intValue else {
      return nil
    }
    let headers = response["headers"]
    return Answer(
      status: status, retryAfter: RemoteObserver.header("Retry-After", headers),
      date: RemoteObserver.header("Date", headers),
      contentType: RemoteObserver.header("Content-Type", headers))
  }

  /// Names are compared without case (RFC 9110, section 5.1).
  private static func header(_ name: String, _ headers: JSONValue?) -> String? {
    for member in headers?.objectValue ?? [:] where member.key.lowercased() == name.lowercased() {
      return member.value.stringValue ?? member.value[0]?.stringValue
    }
    return nil
  }
}
