#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The module's only lock: a value that can be reached only while holding it.
///
/// As a rule a bare mutex. Where callers on the app's threads wait a bounded time and no longer
/// (`waitsAreBounded`), a gate of a mutex and conditions; there such a caller also goes before
/// those who wait as long as it takes: a delivery that lets go of the lock a thousand times must
/// not be quicker to take it back than a caller is to wake up. After `maxCallersInARow` of them
/// somebody else has a turn.
package final class Guarded<Value>: @unchecked Sendable {
  // Guarded by `gate`: `value` is touched only by the holder of its mutex, or of the gate.
  private var value: Value
  private let gate: UnsafeMutablePointer<Gate>
  private let waitsAreBounded: Bool

  /// Callers that go before others who wait.
  private static var maxCallersInARow: Int { 16 }

  private struct Gate {
    var mutex = pthread_mutex_t()
    /// Signalled for those who wait a bounded time, and for all others.
    var callers = pthread_cond_t()
    var others = pthread_cond_t()
    var isHeld = false
    var waitingCallers = 0
    var waitingOthers = 0
    /// Callers who had the lock since another began to wait.
    var callersInARow = 0
    /// Set when a bounded wait ran out; cleared by the next release.
    var isStalled = false

    var isOthersTurn: Bool { waitingOthers > 0 && callersInARow >= maxCallersInARow }
    var admitsCaller: Bool { !isHeld && !isOthersTurn }
    var admitsOther: Bool { !isHeld && (waitingCallers == 0 || isOthersTurn) }
  }

  /// - Parameter waitsAreBounded: True where `withLock(waiting:)` is used.
  package init(_ value: Value, waitsAreBounded: Bool = false) {
    self.value = value
    self.waitsAreBounded = waitsAreBounded
    gate = .allocate(capacity: 1)
    gate.initialize(to: Gate())
    pthread_mutex_init(&gate.pointee.mutex, nil)
    pthread_cond_init(&gate.pointee.others, nil)
    #if canImport(Darwin)
      pthread_cond_init(&gate.pointee.callers, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(&gate.pointee.callers, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(&gate.pointee.callers)
    pthread_cond_destroy(&gate.pointee.others)
    pthread_mutex_destroy(&gate.pointee.mutex)
    gate.deinitialize(count: 1)
    gate.deallocate()
  }

  /// Runs the body alone, waiting as long as it takes.
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(&gate.pointee.mutex)
    guard waitsAreBounded else {
      defer { pthread_mutex_unlock(&gate.pointee.mutex) }
      return try body(&value)
    }
    if !gate.pointee.admitsOther {
      gate.pointee.waitingOthers += 1
      while !gate.pointee.admitsOther {
        pthread_cond_wait(&gate.pointee.others, &gate.pointee.mutex)
      }
      gate.pointee.waitingOthers -= 1
    }
    gate.pointee.callersInARow = 0
    gate.pointee.isHeld = true
    pthread_mutex_unlock(&gate.pointee.mutex)
    defer { release() }
    return try body(&value)
  }

  /// True while somebody waits for a lock whose waits are bounded: for tests.
  package var isAwaited: Bool {
    pthread_mutex_lock(&gate.pointee.mutex)
    defer { pthread_mutex_unlock(&gate.pointee.mutex) }
    return gate.pointee.waitingCallers + gate.pointee.waitingOthers > 0
  }

  /// Runs the body alone, or not at all where the lock stays taken for longer than is granted.
  ///
  /// The wait is granted once: after one that ran out, later calls do not wait until the holder
  /// has let go. Nil where the lock was not had.
  package func withLock<Result>(
    waiting patience: inout Patience, _ body: (inout Value) throws -> Result
  ) rethrows -> Result? {
    // A box of the other kind is never held for long.
    guard waitsAreBounded else { return try withLock(body) }
    guard acquire(&patience) else { return nil }
    defer { release() }
    return try body(&value)
  }

  /// The same for a single wait.
  package func withLock<Result>(
    waitingAtMostMs limitMs: Int64, _ body: (inout Value) throws -> Result
  ) rethrows -> Result? {
    var patience = Patience(limitMs: limitMs)
    return try withLock(waiting: &patience, body)
  }

  /// True where a caller waits whose time is bounded. For the holder, to make its turn short.
  package var isUrgent: Bool {
    pthread_mutex_lock(&gate.pointee.mutex)
    defer { pthread_mutex_unlock(&gate.pointee.mutex) }
    return gate.pointee.waitingCallers > 0
  }

  private func acquire(_ patience: inout Patience) -> Bool {
    pthread_mutex_lock(&gate.pointee.mutex)
    defer { pthread_mutex_unlock(&gate.pointee.mutex) }
    if !gate.pointee.admitsCaller, !waitForTurn(&patience) { return false }
    if gate.pointee.waitingOthers > 0 { gate.pointee.callersInARow += 1 }
    gate.pointee.isHeld = true
    return true
  }

  private func waitForTurn(_ patience: inout Patience) -> Bool {
    // A mere try reads no clock and uses up nobody's wait.
    guard patience.mayWait else { return false }
    gate.pointee.waitingCallers += 1
    defer { gate.pointee.waitingCallers -= 1 }
    while !gate.pointee.admitsCaller {
      let leftNs = patience.leftNs()
      guard leftNs > 0, !gate.pointee.isStalled else {
        gate.pointee.isStalled = true
        // Others stood back for this caller.
        if !gate.pointee.isHeld { pthread_cond_signal(&gate.pointee.others) }
        return false
      }
      wait(leftNs: leftNs, deadlineNs: patience.deadline())
    }
    return true
  }

  private func wait(leftNs: Int64, deadlineNs: Int64) {
    #if canImport(Darwin)
      var limit = Guarded.timespec(ns: leftNs)
      _ = pthread_cond_timedwait_relative_np(
        &gate.pointee.callers, &gate.pointee.mutex, &limit)
    #else
      var limit = Guarded.timespec(ns: deadlineNs)
      _ = pthread_cond_timedwait(&gate.pointee.callers, &gate.pointee.mutex, &limit)
    #endif
  }

  private func release() {
    pthread_mutex_lock(&gate.pointee.mutex)
    gate.pointee.isHeld = false
    gate.pointee.isStalled = false
    let wakesCaller = gate.pointee.waitingCallers > 0 && !gate.pointee.isOthersTurn
    let wakesOther = !wakesCaller && gate.pointee.waitingOthers > 0
    pthread_mutex_unlock(&gate.pointee.mutex)
    if wakesCaller { pthread_cond_signal(&gate.pointee.callers) }
    if wakesOther { pthread_cond_signal(&gate.pointee.others) }
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
