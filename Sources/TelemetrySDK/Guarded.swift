#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The module's only lock: a value that can be reached only while holding it.
///
/// A gate of a mutex and a condition rather than a bare mutex, because a caller on the app's
/// thread waits a bounded time and no longer, on a clock that does not jump with the wall clock.
package final class Guarded<Value>: @unchecked Sendable {
  // Guarded by `gate`: `value` is touched only by the holder of the gate.
  private var value: Value
  private let gate: UnsafeMutablePointer<Gate>

  private struct Gate {
    var mutex = pthread_mutex_t()
    var condition = pthread_cond_t()
    var isHeld = false
    var waiters = 0
    /// Set when a bounded wait ran out; cleared by the next release.
    var isStalled = false
  }

  package init(_ value: Value) {
    self.value = value
    gate = .allocate(capacity: 1)
    gate.initialize(to: Gate())
    pthread_mutex_init(&gate.pointee.mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(&gate.pointee.condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(&gate.pointee.condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(&gate.pointee.condition)
    pthread_mutex_destroy(&gate.pointee.mutex)
    gate.deinitialize(count: 1)
    gate.deallocate()
  }

  /// Runs the body alone, waiting as long as it takes.
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(&gate.pointee.mutex)
    while gate.pointee.isHeld {
      gate.pointee.waiters += 1
      pthread_cond_wait(&gate.pointee.condition, &gate.pointee.mutex)
      gate.pointee.waiters -= 1
    }
    gate.pointee.isHeld = true
    pthread_mutex_unlock(&gate.pointee.mutex)
    defer { release() }
    return try body(&value)
  }

  /// True while somebody waits for the lock: for tests.
  package var isAwaited: Bool {
    pthread_mutex_lock(&gate.pointee.mutex)
    defer { pthread_mutex_unlock(&gate.pointee.mutex) }
    return gate.pointee.waiters > 0
  }

  /// Runs the body alone, or not at all where the lock stays taken.
  ///
  /// The wait is granted once: after one that ran out, later calls do not wait until the holder
  /// has let go. Nil where the lock was not had.
  package func withLock<Result>(
    waitingAtMostMs limitMs: Int64, _ body: (inout Value) throws -> Result
  ) rethrows -> Result? {
    guard acquire(limitMs: limitMs) else { return nil }
    defer { release() }
    return try body(&value)
  }

  private func acquire(limitMs: Int64) -> Bool {
    pthread_mutex_lock(&gate.pointee.mutex)
    defer { pthread_mutex_unlock(&gate.pointee.mutex) }
    if gate.pointee.isHeld {
      let deadlineNs = Guarded.monotonicNs() + limitMs * 1_000_000
      while gate.pointee.isHeld {
        let remainingNs = deadlineNs - Guarded.monotonicNs()
        guard remainingNs > 0, !gate.pointee.isStalled else {
          // A mere try uses up nobody's wait.
          if limitMs > 0 { gate.pointee.isStalled = true }
          return false
        }
        gate.pointee.waiters += 1
        wait(remainingNs: remainingNs, deadlineNs: deadlineNs)
        gate.pointee.waiters -= 1
      }
    }
    gate.pointee.isHeld = true
    return true
  }

  private func wait(remainingNs: Int64, deadlineNs: Int64) {
    #if canImport(Darwin)
      var limit = Guarded.timespec(ns: remainingNs)
      _ = pthread_cond_timedwait_relative_np(
        &gate.pointee.condition, &gate.pointee.mutex, &limit)
    #else
      var limit = Guarded.timespec(ns: deadlineNs)
      _ = pthread_cond_timedwait(&gate.pointee.condition, &gate.pointee.mutex, &limit)
    #endif
  }

  private func release() {
    pthread_mutex_lock(&gate.pointee.mutex)
    gate.pointee.isHeld = false
    gate.pointee.isStalled = false
    let hasWaiters = gate.pointee.waiters > 0
    pthread_mutex_unlock(&gate.pointee.mutex)
    if hasWaiters { pthread_cond_signal(&gate.pointee.condition) }
  }

  private static func monotonicNs() -> Int64 {
    var time = Self.timespec(ns: 0)
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  #if canImport(Darwin)
    private static func timespec(ns: Int64) -> Darwin.timespec {
      Darwin.timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
    }
  #else
    private static func timespec(ns: Int64) -> Glibc.timespec {
      Glibc.timespec(tv_sec: Int(ns / 1_000_000_000), tv_nsec: Int(ns % 1_000_000_000))
    }
  #endif
}
