/// One case as it ended: run and judged, or skipped.
package struct CaseResult: Sendable {
  package var title: String
  package var lane: LaneName
  package var file: String
  /// Why it was not run; nil where it was.
  package var skipped: String?
  /// Why the runner could not finish; nil where it could.
  package var failure: String?
  /// Why the target could not be reached; nil where it could.
  package var unavailable: String?
  package var history: History?
  package var checks: [CheckResult] = []
  /// Where device folder, log and history were kept; nil where they were not.
  package var kept: String?
  package var realSeconds = 0.0
  /// The history's figures, where they were counted already.
  package var figures: CaseFigures?

  package var exitCode: ExitCode {
    if skipped != nil { return .pass }
    var codes: [ExitCode] = failure == nil ? [] : [.runnerFailed]
    if unavailable != nil { codes.append(.unavailable) }
    for check in checks {
      switch check.verdict.outcome {
      case .pass: continue
      case .fail: codes.append(.broken)
      case .unknown: codes.append(.unknown)
      }
    }
    return ExitCode.worst(of: codes)
  }
}
