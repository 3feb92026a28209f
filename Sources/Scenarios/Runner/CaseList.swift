import Foundation
import MockBatchServer

/// One scenario in one lane, to be run or skipped.
struct PlannedCase: Sendable {
  var scenario: Scenario
  var lane: LaneName
  var seed: UInt64
  /// Why it is not run; nil where it is.
  var skipped: String?

  var title: String { "\(scenario.title) · \(lane.rawValue)" }
}

/// Which part of the cases this process runs.
struct Shard: Sendable, Equatable {
  var index: Int
  var count: Int

  static let all = Shard(index: 1, count: 1)

  /// Reads `2/3`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let index = parts[0], let count = parts[1], count >= 1,
      count <= 1_000, index >= 1, index <= count
    else { return nil }
    self.init(index: index, count: count)
  }

  private init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  /// Every position belongs to exactly one shard.
  func contains(_ position: Int) -> Bool { position % count == index - 1 }
}

/// Scenarios × lanes, filtered and cut.
enum CaseList {
  static func cases(
    _ scenarios: [Scenario], lanes: [LaneName]?, seed: UInt64?, filter: String?, shard: Shard
  ) -> [PlannedCase] {
    var cases: [PlannedCase] = []
    for scenario in scenarios {
      for lane in scenario.lanes where lanes?.contains(lane) ?? true {
        let planned = PlannedCase(
          scenario: scenario, lane: lane, seed: seed ?? scenario.seed,
          skipped: obstacle(scenario, lane))
        if let filter, !planned.title.contains(filter), !scenario.file.contains(filter) {
          continue
        }
        cases.append(planned)
      }
    }
    return cases.enumerated().filter { shard.contains($0.offset) }.map(\.element)
  }

  private static func obstacle(_ scenario: Scenario, _ lane: LaneName) -> String? {
    for file in scenario.needs where !FileManager.default.fileExists(atPath: file) {
      return "\(file) is not there"
    }
    if let obstacle = LaneCapability.obstacle(to: scenario, in: lane) { return obstacle }
    if lane == .remote { return "no target was given (--target URL)" }
    // A plan with mistakes was refused before; here it can only be too much for the lane.
    guard let plan = try? CasePlan.plan(of: scenario, seed: scenario.seed) else { return nil }
    return CasePlan.obstacle(to: plan, in: lane)
  }
}
