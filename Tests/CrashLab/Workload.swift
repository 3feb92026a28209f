import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// What happened in a run, in order, and at which storage operation.
enum Fact: Equatable {
  case offered(Int)
  /// The durable receipt was read.
  case acknowledged(Int)
  case deleting([Int])
  case deleted([Int])
  case quarantining([Int])
  case quarantined([Int])
  /// All that was recorded is to go; all of it is gone.
  case purging
  case purged
  /// Everything acknowledged so far is on the medium.
  case synced
}

/// The scripted run that is killed at every operation: records, deliveries, refusals, rotations,
/// sealing anew, a purge and syncs, the same for the same seed.
struct Workload {
  static let needle = "needle-in-clear"

  let directory: String
  let events: Int
  let seed: UInt64
  var durability = Durability.processKill

  var storeDirectory: String { directory + "/queue" }

  func makeStore() -> SQLiteEventStore {
    Workload.makeStore(directory: directory, durability: durability)
  }

  /// A store behind the shim. Syncs are counted and not carried out.
  ///
  /// - Parameter isInMemory: True where its files lie in the shim's memory.
  static func makeStore(
    directory: String, durability: Durability = .processKill, isInMemory: Bool = false,
    clock: SettableClock = SettableClock(), change: (inout StoreConfiguration) -> Void = { _ in }
  ) -> SQLiteEventStore {
    let system: any FileOperations = isInMemory ? MemoryFiles() : SystemFiles()
    let files = ShimFiles(skipsSyncs: true, system: system)
    shim_use_memory(isInMemory ? 1 : 0)
    shim_skip_syncs(1)
    var configuration = StoreConfiguration(directory: directory + "/queue")
    configuration.usesBackgroundThreads = false
    configuration.durability = durability
    configuration.vfsName = "shim"
    // Small enough for the log to start over several times in a run.
    configuration.walBudgetBytes = 300_000
    configuration.resealsOldRows = true
    change(&configuration)
    return SQLiteEventStore(
      configuration: configuration,
      keyStore: FileKeyStore(directory: directory + "/keys", files: files), clock: clock,
      files: files)
  }

  /// The id of the run's n-th event.
  static func id(_ number: Int, seed: UInt64) -> EventID {
    var generator = SplitMix(seed: seed &* 1_000_003 &+ UInt64(number))
    var bytes = SIMD16<UInt8>()
    for index in 0..<16 { bytes[index] = UInt8(truncatingIfNeeded: generator.next()) }
    return EventID(random: bytes)
  }

  /// The numbers of the run's events by their ids; made once.
  static func numbers(events: Int, seed: UInt64) -> [EventID: Int] {
    made.withLock { made in
      if made.events != events || made.seed != seed {
        made = (events, seed, [:])
        for number in 0..<events { made.numbers[id(number, seed: seed)] = number }
      }
      return made.numbers
    }
  }
  private static let made = Guarded<(events: Int, seed: UInt64, numbers: [EventID: Int])>(
    (0, 0, [:]))

  private func event(_ number: Int) -> NewEvent {
    let id = Workload.id(number, seed: seed)
    let wallMs: Int64 = 1_767_600_000_000
    let content = EventContent.make(
      id: id, wallMs: wallMs, number: number, screen: Workload.needle,
      bytes: number % 7 == 0 ? 900 : 120)
    // Now and then one as earlier versions stored it.
    let json = number % 5 == 0 ? content.json(id: id, wallMs: wallMs) : nil
    return NewEvent(
      id: id, account: number % 3 == 0 ? "needle-in-clear-b" : "",
      content: json.map(EventContent.init(json:)) ?? content, recordedAtMs: wallMs)
  }

  /// Runs and tells each fact as it becomes one.
  func run(_ tell: (Fact) -> Void) {
    let store = makeStore()
    _ = store.open()
    var numbers: [EventID: Int] = [:]
    for number in 0..<events {
      numbers[Workload.id(number, seed: seed)] = number
      tell(.offered(number))
      record(number, store, tell)
      if number % 20 == 19 { deliver(store, numbers, tell) }
      if number % 37 == 36 { refuse(store, numbers, tell) }
      if number % 60 == 59 { _ = store.rotateKey() }
      if number % 25 == 24 { _ = store.maintain() }
      if number % 45 == 44, store.sync() == nil { tell(.synced) }
      if number == 10 { _ = store.setNote("gate", [7]) }
      if number == events / 2 + 3 { purge(store, tell) }
    }
    store.close()
  }

  private func record(_ number: Int, _ store: SQLiteEventStore, _ tell: (Fact) -> Void) {
    switch store.append(event(number)) {
    case .durable: tell(.acknowledged(number))
    case .syncPending:
      guard store.sync() == nil else { return }
      tell(.acknowledged(number))
      tell(.synced)
    case .duplicate, .blocked: break
    }
  }

  private func deliver(
    _ store: SQLiteEventStore, _ numbers: [EventID: Int], _ tell: (Fact) -> Void
  ) {
    let rows = store.readBatch(account: nil, bounds: .make(maxEvents: 12)).events.map(\.row)
    let sent = rows.compactMap { numbers[$0.id] }
    store.markInFlight(rows)
    tell(.deleting(sent))
    if store.deleteDelivered(rows) == nil { tell(.deleted(sent)) }
  }

  private func purge(_ store: SQLiteEventStore, _ tell: (Fact) -> Void) {
    tell(.purging)
    guard store.purge() == nil else { return }
    tell(.purged)
    tell(.synced)
  }

  private func refuse(
    _ store: SQLiteEventStore, _ numbers: [EventID: Int], _ tell: (Fact) -> Void
  ) {
    let rows = store.readBatch(account: nil, bounds: .make(maxEvents: 1)).events.map(\.row)
    let refused = rows.compactMap { numbers[$0.id] }
    tell(.quarantining(refused))
    if store.quarantine(rows, reason: .refused(status: 400, detail: Workload.needle)) == nil {
      tell(.quarantined(refused))
    }
  }
}

/// A small seeded generator; never near a nonce.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
