import Foundation

/// The one lock of this module: a value that is only reached with its lock held.
///
/// Nothing that can call foreign code runs inside `access`: callbacks are collected inside and
/// called after it returned.
package final class Guarded<Value>: @unchecked Sendable {
  // Guard: `lock`; what `value` points to is touched in `access` only. Of its own on the heap, for
  // a stored property would be checked for exclusive access once more each time.
  private let lock = NSLock()
  private let value: UnsafeMutablePointer<Value>

  /// Takes the value into guard.
  package init(_ value: Value) {
    self.value = .allocate(capacity: 1)
    self.value.initialize(to: value)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Runs `body` with the lock held and hands back what it returns. Not re-entrant.
  package func access<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value.pointee)
  }
}
