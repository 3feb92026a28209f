import Foundation
import JSONText

/// A real server that the `remote` lane talks to, and what is known of it.
struct RemoteSite: Sendable {
  var target: Target
  /// What the device presents; nil leaves the script's own tokens.
  var token: String?
  /// The server's own view of itself; nil where it has none, or none that we may use.
  var admin: RemoteAdmin?
  /// Longest script that is worth waiting for.
  var maxRealNs: Int64

  static let defaultMaxRealNs: Int64 = 120_000_000_000

  /// Why the lane cannot run the scenario against this server; nil where it can.
  func obstacle(to scenario: Scenario) -> String? {
    if scenario.plan != nil && admin == nil {
      return "the target has no admin endpoints, so it cannot have the script's server plan"
    }
    let span = scenario.spanNs
    if span > maxRealNs {
      return "it takes \(Quantity.text(durationNs: span)) of real time, more than --max-real"
        + " \(Quantity.text(durationNs: maxRealNs))"
    }
    // Without tokens in a plan of its own the target knows nothing of those in the script.
    guard !scenario.namesServerTokens else { return nil }
    for step in scenario.timeline {
      if case .deviceToken(let token) = step.action, token.value != nil {
        return "line \(step.position.line): the target does not know the script's tokens"
      }
    }
    return nil
  }
}

extension Scenario {
  /// Scenario time from the start to the last thing that the script itself does.
  var spanNs: Int64 {
    var span: Int64 = 0
    for step in timeline {
      guard let time = step.timeNs else { continue }
      var end = time
      switch step.action {
      case .record(let record):
        // The parser has checked that this does not overflow; a file's own count is at most this.
        end = time &+ record.everyNs &* max(0, record.count - 1)
      case .kill(let restart?), .reboot(let restart?):
        end = time.addingReportingOverflow(restart).partialValue
      default: break
      }
      span = max(span, end)
    }
    return span
  }

  /// True where the fault plan lists the tokens that the server takes.
  var namesServerTokens: Bool {
    // A plan with mistakes was refused before.
    guard let plan = try? CasePlan.plan(of: self, seed: seed) else { return false }
    return !plan.contract.tokens.isEmpty
  }
}

/// Scenario time that runs as fast as real time.
final class RealTimePace: Sendable {
  private let start = ProcessInfo.processInfo.systemUptime

  /// Nanoseconds since the start.
  var nowNs: Int64 { Int64((ProcessInfo.processInfo.systemUptime - start) * 1_000_000_000) }

  /// How far the wall clock is ahead of the one that scenarios start with.
  static func wallOffsetNs() -> Int64 {
    let nowMs = Int64(Date().timeIntervalSince1970 * 1_000)
    return (nowMs - ScriptedClock.startWallMs) * 1_000_000
  }
}
