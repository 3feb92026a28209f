import Foundation

/// The one lock of this module: a value that is only reached with its lock held, and that threads
/// can wait on. No foreign code is called inside.
final class Guarded<Value>: @unchecked Sendable {
  // Guard: `condition`; `value` is touched with it held.
  private let condition = NSCondition()
  private var value: Value

  init(_ value: Value) { self.value = value }

  /// Runs the body alone and wakes whoever waits for a change.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return try body(&value)
  }

  /// Waits until the body gives a result. Nil when `seconds` of real time have passed; without a
  /// bound it waits for ever.
  func wait<Result>(seconds: Double?, until body: (inout Value) -> Result?) -> Result? {
    let deadline = seconds.map { ProcessInfo.processInfo.systemUptime + $0 }
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result = body(&value) { return result }
      guard let deadline else {
        condition.wait()
        continue
      }
      let remaining = deadline - ProcessInfo.processInfo.systemUptime
      guard remaining > 0 else { return nil }
      // A wall clock that jumps only makes the loop look again earlier or at most a second later.
      _ = condition.wait(until: Date(timeIntervalSinceNow: min(remaining, 1)))
    }
  }
}
