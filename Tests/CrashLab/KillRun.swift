import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// A real process that sends itself SIGKILL at its n-th storage operation, for every n.
enum KillRun {
  static func run(_ options: Options) -> Findings {
    var findings = Findings(title: "kill at every operation of \(options.events) events")
    let total = measure(options)
    for operation in 1...max(1, total) where options.isMine(operation) {
      Workers.begin("operation \(operation)")
      let directory = Workplace.make("kill-\(operation)")
      let output = spawn(options, directory: directory, killAt: operation)
      let facts = output.split(separator: "\n").compactMap { Wire.fact(String($0)) }
      findings.cases += 1
      if let problem = judge(facts, directory: directory, options) {
        findings.violations.append("operation \(operation): \(problem)")
      }
      if !options.keeps { Workplace.remove(directory) }
    }
    return findings
  }

  /// How many operations the whole run takes.
  private static func measure(_ options: Options) -> Int {
    let directory = Workplace.make("measure")
    shim_reset()
    Workload(directory: directory, events: options.events, seed: options.seed).run { _ in }
    let total = Int(shim_operations())
    shim_reset()
    Workplace.remove(directory)
    return total
  }

  /// The process that dies.
  static func child(_ options: Options) -> Int32 {
    shim_reset()
    shim_plan(options.killAt, Int.max, Int32(SHIM_KILL))
    let workload = Workload(
      directory: options.directory, events: options.events, seed: options.seed)
    workload.run { fact in
      let line = Array((Wire.line(fact) + "\n").utf8)
      _ = write(1, line, line.count)
    }
    return 0
  }

  /// Starts the child and reads what it told before its death.
  private static func spawn(_ options: Options, directory: String, killAt: Int) -> String {
    Child.run([
      "child", "--directory", directory, "--kill-at", "\(killAt)",
      "--events", "\(options.events)", "--seed", "\(options.seed)",
    ]).output
  }

  /// Nil where the survivors are as they must be.
  private static func judge(
    _ facts: [Fact], directory: String, _ options: Options
  ) -> String? {
    shim_reset()
    var offered: Set<Int> = []
    var owed: Set<Int> = []
    var gone: Set<Int> = []
    for fact in facts {
      switch fact {
      case .offered(let number): offered.insert(number)
      case .acknowledged(let number): owed.insert(number)
      case .deleting(let numbers): owed.subtract(numbers)
      case .deleted(let numbers): gone.formUnion(numbers)
      case .purging: owed = []
      case .purged: gone = offered
      case .quarantining, .quarantined, .synced: break
      }
    }
    let survivors = Survivors(directory: directory, events: options.events, seed: options.seed)
    if let problem = survivors.problem { return problem }
    let present = survivors.queued.union(survivors.quarantined)
    if !owed.isSubset(of: present) { return "lost \(owed.subtracting(present).sorted())" }
    if !present.isSubset(of: offered) { return "ghosts \(present.subtracting(offered))" }
    if !present.isDisjoint(with: gone) { return "came back \(present.intersection(gone))" }
    return nil
  }
}

/// What a store holds after a crash, opened by the real code.
struct Survivors {
  var queued: Set<Int> = []
  var quarantined: Set<Int> = []
  var ledger = ConservationLedger()
  /// What must not be in any case: not opening, imbalance, disorder, clear text.
  var problem: String?

  /// - Parameter isInMemory: True for an image in the shim's memory, which was searched for clear
  ///   text when it was made.
  init(
    directory: String, events: Int, seed: UInt64, durability: Durability = .processKill,
    isInMemory: Bool = false
  ) {
    if !isInMemory, let file = Survivors.fileWithNeedle(directory) {
      problem = "clear text in \(file)"
      return
    }
    let store = Workload.makeStore(
      directory: directory, durability: durability, isInMemory: isInMemory)
    defer { store.abandon() }
    if let block = store.open() {
      problem = "does not open: \(block)"
      return
    }
    read(store, events: events, seed: seed)
    let snapshot = store.snapshot()
    ledger = snapshot.ledger
    if !ledger.balances { problem = "ledger out of balance: \(ledger)" }
    if ledger.queued != Int64(queued.count) { problem = "queued counts differ: \(ledger)" }
    if ledger.quarantined != Int64(quarantined.count) { problem = "quarantine differs" }
    if ledger.dropped.contains(where: { $0.value != 0 && $0.key != "purged" }) {
      problem = "dropped: \(ledger)"
    }
    if snapshot.unknownKeyRows != 0 { problem = "rows of an unknown key" }
  }

  private mutating func read(_ store: SQLiteEventStore, events: Int, seed: UInt64) {
    let numbers = Workload.numbers(events: events, seed: seed)
    for account in store.accounts() {
      var last = -1
      let batch = store.readBatch(
        account: account, bounds: .make(maxEvents: events + 1, maxBytes: .max))
      if batch.hasMore { problem = "more rows than events" }
      for event in batch.events {
        guard let number = numbers[event.row.id] else {
          problem = "an unknown event"
          return
        }
        if number <= last { problem = "order broken at \(number)" }
        last = number
        if !queued.insert(number).inserted { problem = "event \(number) twice" }
      }
    }
    for held in store.quarantinedEvents(limit: 10_000) {
      guard let number = numbers[held.row.id], held.json != nil else {
        problem = "an unreadable event in quarantine"
        return
      }
      if !quarantined.insert(number).inserted { problem = "event \(number) twice" }
    }
    if !queued.isDisjoint(with: quarantined) { problem = "queued and quarantined at once" }
  }

  private static func fileWithNeedle(_ directory: String) -> String? {
    let files = SystemFiles()
    for folder in [directory + "/queue", directory + "/keys"] {
      // try? because a folder that is not there yet holds nothing.
      for name in (try? files.list(folder)) ?? [] {
        let bytes = (try? files.read(folder + "/" + name)) ?? []
        if holdsNeedle(bytes) { return name }
      }
    }
    return nil
  }

  static func holdsNeedle(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { holdsNeedle($0.baseAddress, $0.count) }
  }

  static func holdsNeedle(_ bytes: UnsafeRawPointer?, _ count: Int) -> Bool {
    shim_contains(bytes, Int64(count), needle, Int64(needle.count)) != 0
  }
  static let needle = Array(Workload.needle.utf8)
}

/// Facts as lines: one word and numbers.
enum Wire {
  static func line(_ fact: Fact) -> String {
    switch fact {
    case .offered(let number): "offered \(number)"
    case .acknowledged(let number): "acknowledged \(number)"
    case .deleting(let numbers): "deleting " + list(numbers)
    case .deleted(let numbers): "deleted " + list(numbers)
    case .quarantining(let numbers): "quarantining " + list(numbers)
    case .quarantined(let numbers): "quarantined " + list(numbers)
    case .purging: "purging"
    case .purged: "purged"
    case .synced: "synced"
    }
  }

  private static func list(_ numbers: [Int]) -> String {
    numbers.map(String.init).joined(separator: " ")
  }

  static func fact(_ line: String) -> Fact? {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    switch words.first {
    case "offered": return numbers.first.map(Fact.offered)
    case "acknowledged": return numbers.first.map(Fact.acknowledged)
    case "deleting": return .deleting(numbers)
    case "deleted": return .deleted(numbers)
    case "quarantining": return .quarantining(numbers)
    case "quarantined": return .quarantined(numbers)
    case "purging": return .purging
    case "purged": return .purged
    case "synced": return .synced
    default: return nil
    }
  }
}
