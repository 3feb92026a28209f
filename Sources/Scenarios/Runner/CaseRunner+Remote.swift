import Foundation
import JSONText
import MockBatchServer

/// What is different where the server is a real one and time is real.
extension CaseRunner {
  /// Everything before the device starts.
  func prepareRemote(_ site: RemoteSite, _ pace: RealTimePace) throws {
    phone.seed = UInt64.random(in: 1...UInt64.max)
    phone.wallOffsetNs = RealTimePace.wallOffsetNs()
    phone.endpoint = site.target.url
    var accounts = scenario.deviceAccounts
    let plan = try CasePlan.plan(of: scenario, seed: settings.seed)
    for token in plan.contract.tokens { accounts[token.value] = token.account ?? "" }
    if let token = site.token, plan.contract.tokens.isEmpty {
      accounts[token] = phone.token.account
      phone.token.value = token
    }
    guard let admin = site.admin else { return }
    let observer = RemoteObserver(admin, pace: pace, accounts: accounts)
    self.observer = observer
    try observer.begin(plan: remotePlan())
  }

  /// The script's plan as one of its own, with the case's seed; nil where the script has none.
  private func remotePlan(healed: Bool = false) throws -> [UInt8]? {
    guard let text = scenario.plan else { return nil }
    var plan = try JSONValue.parse(text.bytes).objectValue ?? [:]
    plan["version"] = 1
    plan["seed"] = .number(JSONNumber(settings.seed))
    if healed { for key in ["rules", "toxics", "timeline"] { plan[key] = nil } }
    return JSONWriter.bytes(.object(plan))
  }

  func healRemote() throws { try observer?.heal(plan: remotePlan(healed: true)) }

  func makeRemoteLink(incarnation: Int) throws -> any DeviceLink {
    let mailbox = self.mailbox
    let process = try DeviceProcess(
      executable: settings.executable, logFile: settings.folder + "/device.log", withBridge: false
    ) { mailbox.put(.device(incarnation: incarnation, $0)) }
    return ProcessLink(process: process, bridge: nil)
  }

  /// Waits for the moment or for news of the device, whichever comes first, and moves to where
  /// real time is then.
  func advanceInRealTime(_ pace: RealTimePace, toNs target: Int64) throws {
    let seconds = Double(target - pace.nowNs) / 1_000_000_000
    if seconds > 0, let news = mailbox.await(seconds: min(seconds, remainingSeconds)) { take(news) }
    try move(toNs: max(clock.nowNs, min(target, pace.nowNs)))
  }

  /// Writes down what the server has seen so far.
  func readServer() throws {
    guard let observer else { return }
    history.merge(try observer.news(of: recordedIDs))
  }

  /// The ledger's own view, and the end of the script's plan.
  func finishRemote() throws {
    guard let observer else {
      // Nothing is asked of the server; that it is there is worth knowing before it is judged.
      _ = try settings.remote.map(RemoteProbe.meet)
      return
    }
    try readServer()
    history.append(.held(try observer.holdings(of: recordedIDs)))
    try observer.end()
  }

  private var recordedIDs: Set<String> {
    Set(LifeStories(history.history).all.filter { $0.serial != nil }.compactMap(\.id))
  }
}

/// The first meeting with a target.
enum RemoteProbe {
  /// Throws `TargetUnavailable` where nothing answers. True where it has admin endpoints.
  @discardableResult
  static func meet(_ site: RemoteSite) throws -> Bool {
    let admin = site.admin ?? RemoteAdmin(target: site.target, token: nil)
    return try admin.health() != nil
  }
}
