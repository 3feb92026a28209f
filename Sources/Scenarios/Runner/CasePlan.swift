import JSONText
import MockBatchServer

/// The fault plan of a case, and what a history says about it.
enum CasePlan {
  /// The plan with the case's seed. Throws `ScriptErrors` with the script's positions.
  static func plan(of scenario: Scenario, seed: UInt64) throws -> FaultPlan {
    guard let text = scenario.plan else {
      var plan = FaultPlan()
      plan.seed = seed
      return plan
    }
    do {
      let document = try JSONDocument(parsing: text.bytes)
      var plan = try FaultPlan(reading: document.root, pointer: "/server", isEmbedded: true)
      plan.seed = seed
      return plan
    } catch let error as FaultPlanError {
      throw ScriptErrors(
        errors: [
          ScriptError(
            file: scenario.file, position: error.position, message: error.message,
            hint: error.suggestion.map { "did you mean \"\($0)\"?" })
        ], source: text.bytes)
    }
  }

  /// Why the lane cannot express the plan; nil where it can.
  static func obstacle(to plan: FaultPlan, in lane: LaneName) -> String? {
    do {
      try plan.check(for: lane == .socket || lane == .remote ? .socketServer : .urlProtocol)
      return nil
    } catch { return "\(error)" }
  }
}

enum CaseHeader {
  /// The SDK's background sync: what a power loss may take at `processKill`.
  private static let syncIntervalNs: Int64 = 500_000_000

  static func make(_ scenario: Scenario, _ settings: CaseSettings) -> HistoryHeader {
    // A plan with mistakes was refused before anything runs.
    let plan = try? CasePlan.plan(of: scenario, seed: settings.seed)
    var triggers: [Int] = []
    var hasStorageTriggers = false
    for step in scenario.timeline {
      guard case .when(let trigger) = step.moment else { continue }
      triggers.append(step.index)
      if case .storage = trigger { hasStorageTriggers = true }
    }
    let lines = SourceLines(file: scenario.file)
    return HistoryHeader(
      scenario: scenario.title, about: scenario.about, file: scenario.file,
      lane: settings.lane.rawValue, seed: settings.seed, replay: settings.replay,
      acceptsNone: scenario.acceptsNone,
      seesServer: settings.remote.map { $0.admin != nil } ?? true,
      hasStorageTriggers: hasStorageTriggers,
      plannedRules: plan.map(faults) ?? [], plannedTriggers: triggers,
      dedupWindowNs: plan?.contract.dedupWindowNs,
      powerLossWindowNs: scenario.device.powerLossDurability ? 0 : syncIntervalNs,
      expectations: scenario.expect.map { expected($0, lines) })
  }

  /// Everything in the plan that has to take effect before a run has shown anything.
  private static func faults(of plan: FaultPlan) -> [String] {
    let rules = plan.rules.flatMap { rule -> [String] in
      guard rule.responses.count > 1 else { return [rule.id] }
      return rule.responses.indices.map { HistoryHeader.fault(rule: rule.id, response: $0) }
    }
    var listener = ListenerState.accept
    var turns: [String] = []
    for change in plan.timeline where change.listener != listener {
      listener = change.listener
      turns.append(HistoryHeader.fault(listener: listener.rawValue, atNs: change.atNs))
    }
    return rules + plan.toxics.map { HistoryHeader.fault(toxic: $0.name) } + turns
  }

  static func expected(_ expectation: Expectation, _ lines: SourceLines) -> ExpectedLine {
    ExpectedLine(
      key: expectation.key,
      value: String(decoding: JSONWriter.bytes(expectation.value), as: UTF8.self),
      line: expectation.position.line, column: expectation.position.column,
      source: lines.line(expectation.position.line))
  }
}
