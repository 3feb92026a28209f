import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// Random operations, kills, faults and clock jumps, many times over, each from its own seed.
///
/// Death is by the shim: from an operation on nothing has effect any more, the store is thrown
/// away and the files are opened again, as after a SIGKILL.
enum PropertyRun {
  private static let onDiskEvery: UInt64 = 16

  static func run(_ options: Options) -> Findings {
    let runs = options.runs ?? 10_000
    var findings = Findings(
      title: "property, seeds \(options.seed)...\(options.seed + UInt64(runs) - 1)")
    var deaths = 0
    var versionChanges = 0
    for run in 0..<runs where options.isMine(run) {
      let seed = options.seed + UInt64(run)
      Workers.begin("seed \(seed)")
      // Mostly in memory, for the number; the system's own files and locks have their share.
      let isInMemory = !options.keeps && seed % onDiskEvery != 0
      let directory = isInMemory ? "/memory" : Workplace.make("property")
      if isInMemory { memory_clear() }
      let trial = PropertyTrial(seed: seed, directory: directory, isInMemory: isInMemory)
      if let problem = trial.run() {
        findings.violations.append("seed \(seed): \(problem)")
      }
      deaths += trial.deaths
      versionChanges += trial.versionChanges
      findings.cases += 1
      if !isInMemory, !options.keeps { Workplace.remove(directory) }
    }
    findings.counts["deaths"] = deaths
    findings.counts["changes of version"] = versionChanges
    return findings
  }
}

/// One random life of a store.
final class PropertyTrial {
  private var generator: SplitMix
  private let clock: SettableClock
  private var store: SQLiteEventStore
  private(set) var deaths = 0
  private(set) var versionChanges = 0
  /// True time, which only a server knows.
  private var trueMs: Int64 = 1_767_600_000_000
  private var bootCount = 0
  private var ownVersion: Int64 = 0
  private let durability: Durability
  private let capBytes: Int64
  private let makeStore: () -> SQLiteEventStore

  /// What the model knows of every event that was offered: when, in true time, and its fate.
  private enum Fate { case unsure, owed, leaving, gone }
  private var fates: [EventID: (fate: Fate, atMs: Int64)] = [:]
  private var acknowledged: Int64 = 0
  /// What the gate's note may be.
  private var gates: [[UInt8]?] = [nil]
  private var isTroubled = false
  /// True while the queue is of a newer version, and events go into a database beside it.
  private var isBeside = false
  private let database: String
  private static let monthMs: Int64 = 30 * 86_400_000

  init(seed: UInt64, directory: String, isInMemory: Bool) {
    var generator = SplitMix(seed: seed)
    clock = SettableClock(wallMs: 1_767_600_000_000)
    durability = generator.below(3) == 0 ? .powerLoss : .processKill
    capBytes = [1_000_000, 2_000_000, 20_000_000][generator.below(3)]
    let reseals = generator.below(2) == 0
    self.generator = generator
    database = directory + "/queue/queue.sqlite"
    shim_reset()
    makeStore = { [durability, clock, capBytes] in
      Workload.makeStore(
        directory: directory, durability: durability, isInMemory: isInMemory, clock: clock
      ) {
        $0.maxBytesOnDisk = capBytes
        $0.resealsOldRows = reseals
      }
    }
    store = makeStore()
  }

  func run() -> String? {
    _ = store.open()
    for _ in 0..<(20 + generator.below(40)) {
      step()
      if shim_is_dead() != 0 { reviveAfterDeath() }
      if let problem = checkSizes() { return problem }
    }
    heal()
    let problem = judge()
    store.close()
    return problem
  }

  private func reviveAfterDeath() {
    deaths += 1
    store.close()
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    isTroubled = false
    shim_tear(0)
    reopen()
  }

  private func reopen() {
    store = makeStore()
    if generator.below(3) == 0 { planTrouble() }
    _ = store.open()
    if shim_is_dead() != 0 { reviveAfterDeath() }
  }

  private func heal() {
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    store.close()
    if isBeside { setVersion(isBeside: false) }
    store = makeStore()
  }

  /// Another version of the app comes or goes: the queue is of a newer schema from now on, or of this
  /// one again. Not with a queue that leaves little to what is recorded beside it.
  private func changeVersion() {
    guard shim_is_dead() == 0 else { return }
    shim_plan(0, 0, Int32(SHIM_GO_ON))
    isTroubled = false
    // A purge that is not over ends first.
    _ = store.maintain()
    let snapshot = store.snapshot()
    guard snapshot.blocked == nil, isBeside || snapshot.bytesOnDisk < capBytes / 3 else { return }
    store.close()
    setVersion(isBeside: !isBeside)
    reopen()
  }

  private func setVersion(isBeside: Bool) {
    do {
      let connection = try SQLiteConnection(path: database, vfs: "shim", busyMs: 0)
      defer { connection.close() }
      if isBeside { ownVersion = try connection.integer("PRAGMA user_version") ?? 0 }
      try connection.execute("PRAGMA user_version = \(isBeside ? 99 : ownVersion)")
      self.isBeside = isBeside
      versionChanges += 1
    } catch {
      // Not changed: the life goes on with the version that it has.
    }
  }

  private func planTrouble() {
    isTroubled = true
    let now = Int(shim_operations())
    let from = now + 1 + generator.below(60)
    switch generator.below(6) {
    case 0...2:
      shim_tear(generator.below(2) == 0 ? 0 : 1 + generator.below(4096))
      shim_plan(from, Int.max, Int32(SHIM_DIE))
    case 3: shim_plan(from, from + 1 + generator.below(20), Int32(SHIM_EIO))
    case 4: shim_plan(from, from + 1 + generator.below(40), Int32(SHIM_ENOSPC))
    default: shim_plan(from, from + 1 + generator.below(40), Int32(SHIM_BUSY))
    }
  }

  // MARK: - Steps

  private func step() {
    switch generator.below(40) {
    case 0...13: for _ in 0..<(1 + generator.below(12)) { record() }
    case 14...16: recordBatch()
    case 17...21: deliver()
    case 22, 23: refuse()
    case 24: _ = store.requeueQuarantined()
    case 25: clearQuarantine()
    case 26, 27: _ = store.rotateKey()
    case 28...30: _ = store.maintain()
    case 31: _ = store.sync()
    case 32: suspendAndResume()
    case 33: setGate()
    case 34: jump()
    case 35: confirm()
    case 36: if generator.below(6) == 0 && !isBeside { purge() }
    case 37: if generator.below(3) == 0 { dropAccount() }
    case 38: if generator.below(2) == 0 { changeVersion() } else { planTrouble() }
    default: planTrouble()
    }
  }

  private func setGate() {
    let value = UInt8(generator.below(256))
    // A write that failed may yet have come through.
    if store.setNote("gate", [value]) == nil { gates = [[value]] } else { gates.append([value]) }
  }

  private func makeEvent() -> NewEvent {
    let isCallers = generator.below(8) == 0
    let number = generator.below(1_000_000)
    let id = EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 1))
    let bytes = generator.below(12) == 0 ? 5_000 : 50 + generator.below(300)
    let wallMs = clock.wallMs()
    let content = EventContent.make(
      id: id, wallMs: wallMs, number: number, screen: "Orders", bytes: bytes)
    // Now and then one as earlier versions stored it.
    let json = number % 5 == 0 ? content.json(id: id, wallMs: wallMs) : nil
    return NewEvent(
      id: id, idIsFromCaller: isCallers, account: ["", "a", "b"][generator.below(3)],
      content: json.map(EventContent.init(json:)) ?? content, recordedAtMs: wallMs)
  }

  private func note(_ event: NewEvent, _ outcome: AppendOutcome?) {
    let isStored = outcome?.sequence != nil
    if isStored { acknowledged += 1 }
    fates[event.id] = (isStored ? .owed : .unsure, trueMs)
  }

  private func record() {
    let event = makeEvent()
    let outcome = store.append(event)
    note(event, outcome)
    if case .blocked = outcome, generator.below(2) == 0 {
      // As the memory buffer would: the same event again, later.
      let again = store.append(batch: [event])
      if fates[event.id]?.fate == .unsure { note(event, again.first) }
    }
  }

  private func recordBatch() {
    let events = (0..<(1 + generator.below(150))).map { _ in makeEvent() }
    let outcomes = store.append(batch: events)
    for (index, event) in events.enumerated() {
      note(event, index < outcomes.count ? outcomes[index] : nil)
    }
  }

  private func readRows() -> [RowReference] {
    store.readBatch(account: nil, bounds: .make(maxEvents: 1 + generator.below(220)))
      .events.map(\.row)
  }

  private func move(_ rows: [RowReference], _ body: () -> StoreBlock?) {
    for row in rows { fates[row.id]?.fate = .leaving }
    if body() == nil { for row in rows { fates[row.id]?.fate = .gone } }
  }

  private func deliver() {
    let rows = readRows()
    store.markInFlight(rows)
    if generator.below(4) == 0 { return store.clearInFlight(rows) }
    if generator.below(4) == 0 { record() }
    move(rows) { store.deleteDelivered(rows) }
  }

  private func refuse() {
    let rows = readRows()
    let fates = rows.map { self.fates[$0.id]?.fate }
    // Quarantined events are still owed: they are kept, elsewhere.
    _ = store.quarantine(rows, reason: .refused(status: 422, detail: "words"))
    for (row, fate) in zip(rows, fates) where fate != nil { self.fates[row.id]?.fate = .owed }
  }

  private func clearQuarantine() {
    let held = store.quarantinedEvents(limit: 10_000).map(\.row)
    for row in held { fates[row.id]?.fate = .leaving }
    if store.clearQuarantine() == held.count { for row in held { fates[row.id]?.fate = .gone } }
  }

  private func dropAccount() {
    for id in fates.keys where fates[id]?.fate == .owed { fates[id]?.fate = .leaving }
    _ = store.dropAll(account: "a")
  }

  private func purge() {
    for id in fates.keys where fates[id]?.fate == .owed { fates[id]?.fate = .leaving }
    // The gate goes with the rest where its own key cannot be saved.
    if isTroubled { gates.append(nil) }
    _ = store.purge()
  }

  private func suspendAndResume() {
    store.suspend()
    _ = store.append(makeEvent())
    _ = store.resume()
  }

  private func jump() {
    let dayMs: Int64 = 86_400_000
    switch generator.below(3) {
    case 0: clock.set { $0.wallMs += Int64(generator.below(2_000) - 1_000) * dayMs }
    case 1:
      let passed = Int64(generator.below(20)) * dayMs
      trueMs += passed
      clock.advance(ms: passed)
    default:
      store.close()
      bootCount += 1
      trueMs += 60_000
      clock.set {
        $0.boot = "boot-\(bootCount)"
        $0.sinceBootMs = 5_000
      }
      reopen()
    }
  }

  private func confirm() {
    for id in fates.keys where fates[id]?.fate == .owed {
      if let at = fates[id]?.atMs, trueMs - at > PropertyTrial.monthMs {
        fates[id]?.fate = .leaving
      }
    }
    store.enforceAge(confirmedNowMs: trueMs, maxAgeMs: PropertyTrial.monthMs)
  }

  // MARK: - Laws

  private func checkSizes() -> String? {
    let bytes = store.snapshot().bytesOnDisk
    return bytes > capBytes ? "\(bytes) bytes on disk, cap \(capBytes)" : nil
  }

  private func judge() -> String? {
    if let block = store.open() { return "does not open: \(block)" }
    var present: Set<EventID> = []
    for event in store.allEvents() where !present.insert(event.row.id).inserted {
      // An event whose write failed is offered again, and may have been stored the first time.
      if fates[event.row.id]?.fate == .owed || fates[event.row.id]?.fate == .leaving { continue }
      return "event \(event.row.id) twice"
    }
    let queued = store.allEvents().count
    let held = store.quarantinedEvents(limit: 100_000)
    present.formUnion(held.map(\.row.id))
    let ledger = store.snapshot().ledger
    if !ledger.balances { return "out of balance: \(ledger)" }
    if ledger.queued != Int64(queued) { return "\(queued) rows, ledger \(ledger)" }
    if ledger.quarantined != Int64(held.count) { return "\(held.count) held, ledger \(ledger)" }
    if (ledger.dropped["corruptFile"] ?? 0) != 0 { return "corruption: \(ledger)" }
    if ledger.recorded < acknowledged { return "\(acknowledged) acknowledged, \(ledger)" }
    if !gates.contains(store.note("gate")) { return "the gate is lost: \(gates)" }
    if held.contains(where: { $0.reason == .unreadable }) { return "an unreadable row" }
    for id in present where fates[id] == nil { return "a ghost \(id)" }
    for id in present where fates[id]?.fate == .gone { return "\(id) came back" }
    let missing = fates.filter { $0.value.fate == .owed && !present.contains($0.key) }.count
    let evicted = ["queueFull", "quarantineFull"].reduce(0) { $0 + (ledger.dropped[$1] ?? 0) }
    if Int64(missing) > evicted { return "\(missing) lost, \(evicted) evicted: \(ledger)" }
    return nil
  }
}
