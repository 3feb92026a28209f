extension Checker {
  /// Every response of every rule of the fault plan, every toxic and every turn of the listener
  /// took effect, every triggered step fired, and every step found the living device it needs. A
  /// run in which they did not has not shown what it was made to show: unknown, never pass.
  package static let allFaultsFired = Checker.property(
    "allFaultsFired", needs: "a fault or a trigger in the script", looksAtServer: false
  ) { evidence in
    if let missed = evidence.missedSteps.first {
      return .unknown("no living device for: \(missed)")
    }
    let header = evidence.history.header
    let planned = header.plannedRules.count + header.plannedTriggers.count
    guard planned > 0 else { return .unknown("the script has neither faults nor triggers") }
    var missing = header.plannedRules.filter { !evidence.firedRules.contains($0) }
      .map { "\"\($0)\"" }
    missing += header.plannedTriggers.filter { !evidence.firedTriggers.contains($0) }
      .map { "the trigger of step \($0)" }
    guard missing.isEmpty else {
      return .unknown("never fired: \(missing.joined(separator: ", "))")
    }
    return .pass("all \(planned) faults and triggers took effect")
  }
}
