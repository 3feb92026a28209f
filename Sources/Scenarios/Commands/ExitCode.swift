/// How a command ends. Of several, the first in the order of `precedence` counts.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case pass = 0
  /// An invariant is broken.
  case broken = 1
  /// A verdict rests on no evidence.
  case unknown = 2
  /// A script, or the command line, is invalid; nothing has run.
  case invalid = 3
  /// The runner could not do its work.
  case runnerFailed = 4
  /// The target is not there.
  case unavailable = 5
  /// SIGINT or SIGTERM ended it early; what had run by then is reported.
  case interrupted = 130

  private static let precedence: [ExitCode] = [
    .interrupted, .invalid, .broken, .runnerFailed, .unavailable, .unknown,
  ]

  package static func worst(of codes: [ExitCode]) -> ExitCode {
    precedence.first { codes.contains($0) } ?? .pass
  }
}
