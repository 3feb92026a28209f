extension Checker {
  /// Every rule of the fault plan was applied and every triggered step fired. A run in which they
  /// did not has not shown what it was made to show: unknown, never pass.
  package static let allFaultsFired = Checker.property(
    "allFaultsFired", needs: "a rule or a trigger in the script", looksAtServer: false
  ) { evidence in
    let header = evidence.history.header
    let planned = header.plannedRules.count + header.plannedTriggers.count
    guard planned > 0 else { return .unknown("the script has neither rules nor triggers") }
    var missing = header.plannedRules.filter { !evidence.firedRules.contains($0) }
      .map { "rule \"\($0)\"" }
    missing += header.plannedTriggers.filter { !evidence.firedTriggers.contains($0) }
      .map { "the trigger of step \($0)" }
    guard missing.isEmpty else {
      return .unknown("never fired: \(missing.joined(separator: ", "))")
    }
    return .pass("all \(planned) rules and triggers fired")
  }
}
