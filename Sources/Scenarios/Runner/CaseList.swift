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
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
      Int(part).flatMap { String($0) == part ? $0 : nil }
    }
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

/// Which cases of the loaded scripts are wanted.
struct CaseSelection: Sendable {
  /// Nil: those that each script lists; the remote lane alone where a target was given.
  var lanes: [LaneName]?
  var seed: UInt64?
  /// A part of the title or of the file.
  var filter: String?
  /// The whole title, for the replay of one case.
  var title: String?
  var shard = Shard.all
  var remote: RemoteSite?
}

/// Scenarios × lanes, filtered and cut.
enum CaseList {
  static func cases(_ scenarios: [Scenario], _ selection: CaseSelection) -> [PlannedCase] {
    var cases: [PlannedCase] = []
    for scenario in scenarios {
      for lane in lanes(of: scenario, selection) {
        let planned = PlannedCase(
          scenario: scenario, lane: lane, seed: selection.seed ?? scenario.seed,
          skipped: obstacle(scenario, lane, selection.remote))
        if let title = selection.title, scenario.title != title { continue }
        if let filter = selection.filter, !planned.title.contains(filter),
          !scenario.file.contains(filter)
        {
          continue
        }
        cases.append(planned)
      }
    }
    return cases.enumerated().filter { selection.shard.contains($0.offset) }.map(\.element)
  }

  /// Any script may be asked to run against a target; one that lists other lanes is skipped by
  /// name there.
  private static func lanes(of scenario: Scenario, _ selection: CaseSelection) -> [LaneName] {
    guard let wanted = selection.lanes ?? selection.remote.map({ _ in [.remote] }) else {
      return scenario.lanes
    }
    let listed = scenario.lanes.filter { wanted.contains($0) && $0 != .remote }
    let isRemote = wanted.contains(.remote)
    let mayBeRemote = selection.remote != nil || scenario.lanes.contains(.remote)
    return listed + (isRemote && mayBeRemote ? [.remote] : [])
  }

  private static func obstacle(
    _ scenario: Scenario, _ lane: LaneName, _ remote: RemoteSite?
  ) -> String? {
    for file in scenario.needs where !FileManager.default.fileExists(atPath: file) {
      return "\(file) is not there"
    }
    if lane == .remote {
      if scenario.listsLanes && !scenario.lanes.contains(.remote) {
        let listed = scenario.lanes.map(\.rawValue).joined(separator: ", ")
        return "the script is for other lanes: \(listed)"
      }
      guard let remote else { return "no target was given (--remote URL)" }
      if let obstacle = remote.obstacle(to: scenario) { return obstacle }
    }
    if let obstacle = LaneCapability.obstacle(to: scenario, in: lane) { return obstacle }
    // A plan with mistakes was refused before; here it can only be too much for the lane.
    guard let plan = try? CasePlan.plan(of: scenario, seed: scenario.seed) else { return nil }
    return CasePlan.obstacle(to: plan, in: lane)
  }
}
