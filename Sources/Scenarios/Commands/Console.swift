import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writing for people. A closed or full terminal is no reason to fail a run.
enum Console {
  static func out(_ text: String, terminator: String = "\n") { write(1, text + terminator) }
  static func error(_ text: String, terminator: String = "\n") { write(2, text + terminator) }

  static var isTerminal: Bool { isatty(1) == 1 }

  /// Colours are for terminals, unless NO_COLOR or TERM say otherwise.
  static var usesColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return isTerminal && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
  }

  /// Columns of the terminal; 80 where it does not say.
  static var width: Int {
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  private static func write(_ descriptor: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
          Darwin.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
        #else
          Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done)
        #endif
      }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return }
      done += written
    }
  }
}

/// One line that follows the run in a terminal; a line for each case elsewhere.
final class Progress: Sendable {
  private struct State {
    var hasLine = false
    var failed = 0
  }
  private let isTerminal = Console.isTerminal
  private let report = TerminalReport(usesColour: Console.usesColour)
  private let state = Guarded(State())

  func show(_ result: CaseResult, done: Int, total: Int) {
    state.withLock { state in
      if result.exitCode != .pass { state.failed += 1 }
      guard isTerminal else {
        return Console.out(report.progressLine(CaseReport(result), done: done, of: total))
      }
      state.hasLine = true
      Console.out(
        report.statusLine(
          running: "\(result.title) (\(result.lane.rawValue))", done: done, of: total,
          failed: state.failed, width: Console.width), terminator: "")
    }
  }

  func end() {
    state.withLock { if $0.hasLine { Console.out("\r\u{1b}[K", terminator: "") } }
  }
}
