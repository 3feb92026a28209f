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

/// One line that follows the run in a terminal; plain lines for what failed elsewhere.
final class Progress: Sendable {
  private let isTerminal = Console.isTerminal
  private let lock = Guarded(false)

  func show(_ result: CaseResult, done: Int, total: Int) {
    lock.withLock { hasLine in
      if isTerminal {
        Console.out(
          "\r\u{1b}[K[\(done)/\(total)] \(result.title) · \(result.lane.rawValue)", terminator: "")
        hasLine = true
      } else if result.exitCode != .pass {
        Console.out(
          "[\(done)/\(total)] \(result.verdict) \(result.title) · \(result.lane.rawValue)")
      }
    }
  }

  func end() {
    lock.withLock { if $0 { Console.out("\r\u{1b}[K", terminator: "") } }
  }
}
