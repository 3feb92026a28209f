import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// Crash images of one recorded run, each opened by the real code: after every operation, with
/// unsynced writes kept, dropped, torn and reordered.
enum PowerRun {
  private struct Mode {
    let title: String
    let durability: Durability
    let onlyFullSyncsCount: Bool
  }

  private static let modes = [
    Mode(title: "process kill", durability: .processKill, onlyFullSyncsCount: false),
    Mode(
      title: "process kill, fsync unordered", durability: .processKill, onlyFullSyncsCount: true),
    Mode(title: "power loss", durability: .powerLoss, onlyFullSyncsCount: false),
    Mode(title: "power loss, fsync unordered", durability: .powerLoss, onlyFullSyncsCount: true),
  ]

  static func runAll(_ options: Options) -> [Findings] { modes.map { run($0, options) } }

  private static func run(_ mode: Mode, _ options: Options) -> Findings {
    var findings = Findings(title: "crash images, durability \(mode.title)")
    let history = record(mode, options)
    if options.events >= 200, history.logRestarts < 3 {
      findings.violations.append("the log was restarted \(history.logRestarts) times only")
    }
    if options.part == 0 {
      findings.counts["operations"] = history.operations
      findings.counts["log restarts"] = history.logRestarts
    }
    let stride = stride(mode, history, options)
    let disk = CrashDisk(onlyFullSyncsCount: mode.onlyFullSyncsCount)
    var number = 0
    for index in 0...history.operations {
      if index > 0 { disk.apply(shim_recorded_at(index - 1).pointee) }
      for (name, choice, isKill) in choices(disk, options.seed &+ UInt64(index)) {
        number += 1
        guard number % stride == 0, options.isMine(number / stride) else { continue }
        Workers.begin("\(mode.title), after operation \(index), \(name)")
        findings.cases += 1
        if let problem = judge(disk, choice, index, isKill, history, mode, options) {
          findings.violations.append("after operation \(index), \(name): \(problem)")
        }
      }
    }
    if options.part == 0 { findings.counts["images in all"] = number }
    shim_reset()
    return findings
  }

  /// Every how manieth image is judged where not all are wanted.
  private static func stride(_ mode: Mode, _ history: History, _ options: Options) -> Int {
    guard options.images > 0 else { return 1 }
    let disk = CrashDisk(onlyFullSyncsCount: mode.onlyFullSyncsCount)
    var number = 0
    for index in 0...history.operations {
      if index > 0 { disk.apply(shim_recorded_at(index - 1).pointee) }
      number += disk.hasPending ? 7 : 1
    }
    return max(1, (number + options.images - 1) / options.images)
  }

  private static func choices(
    _ disk: CrashDisk, _ seed: UInt64
  ) -> [(name: String, choice: CrashDisk.Choice, isKill: Bool)] {
    guard disk.hasPending else { return [("as it is", .all, true)] }
    let random = (0..<3).map { number in
      (
        "random \(number)", CrashDisk.Choice.random(SplitMix(seed: seed &* 31 &+ UInt64(number))),
        false
      )
    }
    return [
      ("all kept", .all, true), ("all dropped", .none, false), ("only the last", .lastOnly, false),
      ("all but the last", .allButLast, false),
    ] + random
  }

  // MARK: - The recorded run

  /// The states that a run went through, and when.
  struct History {
    /// Hash of (queued, quarantined) after each transaction.
    var states: [UInt64] = [0]
    /// When the transaction that led to the state began and was over, in recorded operations.
    var begun: [Int] = [0]
    var done: [Int] = [0]
    /// Operation and number of states that a sync covered.
    var syncs: [(operation: Int, state: Int)] = []
    var operations = 0
    /// How often the write-ahead log began anew.
    var logRestarts = 0
    var tokens: [UInt64] = []

    func token(_ number: Int, quarantined: Bool) -> UInt64 {
      quarantined ? tokens[number] &* 0x9e37_79b9_7f4a_7c15 : tokens[number]
    }
  }

  /// Where the run's files lie on the disk, and those of its images in memory.
  private static let recordDirectory = Workplace.root + "/record"

  private static func record(_ mode: Mode, _ options: Options) -> History {
    let directory = Workplace.make("record")
    shim_reset()
    shim_record(1)
    var generator = SplitMix(seed: 99)
    var history = History()
    history.tokens = (0..<options.events).map { _ in generator.next() | 1 }
    var state: UInt64 = 0
    var begun = 0
    let workload = Workload(
      directory: directory, events: options.events, seed: options.seed,
      durability: mode.durability)
    workload.run { fact in
      let now = Int(shim_recorded())
      func step() {
        history.states.append(state)
        history.begun.append(begun)
        history.done.append(now)
      }
      switch fact {
      case .offered, .deleting, .quarantining, .purging: begun = now
      case .acknowledged(let number):
        state ^= history.token(number, quarantined: false)
        step()
      case .deleted(let numbers):
        for number in numbers { state ^= history.token(number, quarantined: false) }
        step()
      case .quarantined(let numbers):
        for number in numbers {
          state ^= history.token(number, quarantined: false)
          state ^= history.token(number, quarantined: true)
        }
        step()
      case .purged:
        state = 0
        step()
      case .synced: history.syncs.append((now, history.states.count - 1))
      }
    }
    shim_record(0)
    history.operations = Int(shim_recorded())
    let starts = (0..<history.operations).filter { index in
      let operation = shim_recorded_at(index).pointee
      return Int(operation.kind) == Int(SHIM_WRITE) && operation.offset == 0
        && String(cString: shim_path(operation.file)).hasSuffix("-wal")
    }
    history.logRestarts = max(0, starts.count - 1)
    Workplace.remove(directory)
    return history
  }

  // MARK: - Judgement

  private static func judge(
    _ disk: CrashDisk, _ choice: CrashDisk.Choice, _ operation: Int, _ isKill: Bool,
    _ history: History, _ mode: Mode, _ options: Options
  ) -> String? {
    if let path = disk.load(choice) { return "clear text in \(path)" }
    let survivors = Survivors(
      directory: recordDirectory, events: options.events, seed: options.seed,
      durability: mode.durability, isInMemory: true)
    if let problem = survivors.problem { return problem }
    var state: UInt64 = 0
    for number in survivors.queued { state ^= history.token(number, quarantined: false) }
    for number in survivors.quarantined { state ^= history.token(number, quarantined: true) }
    let newest = history.begun.lastIndex { $0 < operation } ?? 0
    let oldest =
      isKill
      ? history.done.lastIndex { $0 <= operation } ?? 0
      : history.syncs.last { $0.operation <= operation }?.state ?? 0
    guard oldest <= newest || oldest == 0 else { return nil }
    let allowed = history.states[min(oldest, newest)...newest]
    return allowed.contains(state)
      ? nil
      : "no state between transactions \(oldest) and \(newest): \(survivors.ledger)"
  }
}
