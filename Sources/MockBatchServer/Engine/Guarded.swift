import Foundation

/// The one lock of this module: a value that is only reached with its lock held.
///
/// Nothing that can call foreign code runs inside `access`: callbacks are collected inside and
/// called after it returned.
package final class Guarded<Value>: @unchecked Sendable {
  // Guard: `lock`; `value` is touched in `access` only.
  private let lock = NSLock()
  private var value: Value

  /// Takes the value into guard.
  package init(_ value: Value) { self.value = value }

  /// Runs `body` with the lock held and hands back what it returns. Not re-entrant.
  package func access<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
