import Foundation
import JSONText
import MockBatchServer

/// What one run of a scenario in a lane gave.
struct CaseOutcome: Sendable {
  var history: History
  /// Why the runner could not finish; nil where it could.
  var failure: String?
  /// Why the target could not be reached; nil where it could, or where there is none.
  var unavailable: String?
  /// The server's journal as JSON lines, made when somebody wants it.
  var journal: @Sendable () -> [UInt8]
  /// Where device folder and log lie.
  var folder: String
  var realSeconds: Double
}

/// Everything a case needs beyond the scenario.
struct CaseSettings: Sendable {
  var lane: LaneName
  var seed: UInt64
  /// An empty folder of the case's own.
  var folder: String
  /// The workbench itself, which hosts devices.
  var executable: String
  /// Real seconds for the whole case; reaching it is the runner's failure, not the device's.
  var timeoutSeconds = 60.0
  /// The command that repeats the case.
  var replay = ""
  /// The server of the `remote` lane; nil in the others.
  var remote: RemoteSite?
}

/// Runs one scenario in one lane: moves the clock, carries out steps, writes the history.
///
/// One thread owns it. Time moves only when the device has no runnable work and every request it
/// waits for is parked on the server's side.
final class CaseRunner {
  /// Rounds without progress of time after which the device is said to spin.
  static let maxRoundsAtOneMoment = 20_000

  let scenario: Scenario
  let settings: CaseSettings
  let clock = RunnerClock()
  /// Real time, in the `remote` lane.
  let pace: RealTimePace?
  let mailbox = Mailbox()
  let history: HistoryRecorder
  let triggers: TriggerBoard
  let witness: ServerWitness
  var rig: ServerRig?
  /// The `remote` lane's view of the server, where there is one.
  var observer: RemoteObserver?
  var phone = DeviceSetup()
  var tokens: [ContractRules.Token] = []
  var accounts: [String: String] = [:]

  // The device's present life.
  var link: (any DeviceLink)?
  var lastNumber: Int64 = 0
  var replies: [Int64: JSONValue] = [:]
  /// The request to record that waits for its receipts.
  var recording: Recording?
  var idle: DeviceIdle?
  var streamEnded = false
  var brokenReason: String?
  var isExpectedToDie = false
  var lastIncarnation = 0
  var boots = 1
  var abandonedFolders: [String] = []
  /// Who holds the device's database, while the script says that somebody does.
  var databaseLock: DatabaseLock?
  var databaseEditor = DatabaseEditor()

  /// Events on their way into the device.
  struct Recording {
    var number: Int64
    var serials: [Int]
    /// Ids that became durable before their receipt was read.
    var durable: [String] = []
  }

  // The script's progress.
  /// Steps that have a time, in their order, and the next of them.
  let timed: [(index: Int, atNs: Int64)]
  var nextTimed = 0
  var generators: [Generator] = []
  var restartAtNs: Int64?
  var firedSteps: [Int] = []
  var recorded: Int64 = 0
  var serial = 0
  var needles = SecrecyNeedles()
  var sealNames = SealNames()
  var offers: Int64 = 0
  var untouchedFiles: [[UInt8]] = []
  var largestMeasured: Int64 = -1
  /// True where the device's files may have grown since they were last measured. Only devices in
  /// this process tell of it.
  let filesGrew = Guarded(true)
  var deadlineSeconds = 0.0
  var isDraining = false

  init(_ scenario: Scenario, _ settings: CaseSettings) {
    self.scenario = scenario
    self.settings = settings
    timed = scenario.timeline.compactMap { step in step.timeNs.map { (step.index, $0) } }
    let clock = self.clock
    let pace = settings.remote == nil ? nil : RealTimePace()
    self.pace = pace
    history = HistoryRecorder(
      header: CaseHeader.make(scenario, settings), nowNs: { pace?.nowNs ?? clock.nowNs })
    triggers = TriggerBoard(steps: scenario.timeline, mailbox: mailbox)
    witness = ServerWitness(history: history, triggers: triggers)
  }

  func run() -> CaseOutcome {
    let start = ProcessInfo.processInfo.systemUptime
    deadlineSeconds = start + settings.timeoutSeconds
    var failure: String?
    var unavailable: String?
    do {
      try prepare()
      try startDevice()
      try runTimeline()
      if !scenario.drainSkipped { try drain() }
      try finish()
    } catch let gone as TargetUnavailable {
      unavailable = gone.sentence
      history.append(.note("the target is not there: \(gone.sentence)"))
    } catch is DeviceCrashed {
      history.append(.note("the run ends with the device's crash"))
      readLedger()
    } catch {
      failure = "\(error)"
      history.append(.note("the runner failed: \(error)"))
    }
    tearDown()
    let engine = rig?.engine
    var history = history.history
    history.interruption =
      failure.map { .failure($0) } ?? unavailable.map { .unavailable($0) }
    return CaseOutcome(
      history: history, failure: failure, unavailable: unavailable,
      journal: { engine?.journalText ?? [] }, folder: settings.folder,
      realSeconds: ProcessInfo.processInfo.systemUptime - start)
  }

  private func prepare() throws {
    phone.seed = settings.seed
    phone.settings = scenario.device
    phone.token = scenario.device.token
    phone.folder = settings.folder + "/device"
    phone.medium = scenario.losesPower ? settings.folder + "/medium" : ""
    try FileManager.default.createDirectory(
      atPath: phone.folder, withIntermediateDirectories: true)
    if let site = settings.remote, let pace {
      try prepareRemote(site, pace)
    } else {
      try prepareServer()
    }
    history.append(.condition(name: "network", value: phone.network.rawValue))
    history.append(.condition(name: "app", value: "foreground"))
  }

  private func prepareServer() throws {
    let plan = try CasePlan.plan(of: scenario, seed: settings.seed)
    tokens = plan.contract.tokens
    let witness = self.witness
    let rig = try ServerRig(
      lane: settings.lane, plan: plan, ledger: try ledger(), clock: clock, mailbox: mailbox,
      onEvent: { witness.engine($0) }, onSighting: { witness.sighted($0) },
      phaseOrders: { witness.order($0, $1) })
    self.rig = rig
    tellAccounts()
    phone.endpoint = rig.endpoint
  }

  /// A ledger that has to outlive its server lies in a file.
  private func ledger() throws -> Ledger {
    let restarts = scenario.timeline.contains { step in
      if case .serverRestart = step.action { return true }
      return false
    }
    return restarts ? try Ledger(path: settings.folder + "/ledger.sqlite") : Ledger()
  }

  /// Whose tokens are whose, those that expired long ago included.
  func tellAccounts() {
    accounts.merge(scenario.deviceAccounts) { known, _ in known }
    for token in tokens { accounts[token.value] = token.account ?? accounts[token.value] ?? "" }
    witness.setAccounts(accounts)
  }

  private func tearDown() {
    if let link {
      isExpectedToDie = true
      link.kill()
      _ = link.bury()
    }
    triggers.setLink(nil)
    databaseLock?.release()
    databaseLock = nil
    rig?.stop()
    // A target that is gone has no plan to be given back; the case says that it is gone.
    try? observer?.end()
  }

  /// Whole seconds of real time that are left; reaching zero fails the case.
  var remainingSeconds: Double { deadlineSeconds - ProcessInfo.processInfo.systemUptime }

  /// Throws where the case has had its time.
  func seeThatTimeIsLeft() throws {
    guard remainingSeconds > 0 else {
      throw RunnerFailure("\(Int(settings.timeoutSeconds)) s of real time passed")
    }
  }

  // MARK: The clock

  /// The next moment at which anything is due.
  func nextMoment() -> Int64? {
    var next = Int64.max
    if let step = nextTimedStep { next = min(next, step) }
    for generator in generators { next = min(next, generator.nextNs) }
    if let restartAtNs { next = min(next, restartAtNs) }
    if link != nil, let due = idle?.nextDueNs { next = min(next, due) }
    if let due = clock.nextDueNs { next = min(next, due) }
    return next == .max ? nil : max(next, clock.nowNs)
  }

  /// Moves server and device to that moment and waits until both have come to rest.
  func advance(toNs target: Int64) throws {
    guard let pace else { return try move(toNs: target) }
    try advanceInRealTime(pace, toNs: target)
  }

  func move(toNs target: Int64) throws {
    clock.advance(toNs: target)
    guard link != nil else { return try settle() }
    do {
      _ = try call("advance", ["to": .number(JSONNumber(target))])
      try settle()
      // At most moments a device writes where it wrote before: no size can be a new largest one.
      if takeGrowth() { measureFiles() }
    } catch is DeviceGone {
      try settle()
    }
  }
}
