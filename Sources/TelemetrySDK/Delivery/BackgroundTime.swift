/// Asks the system to let the app run on for a moment (`UIApplication.beginBackgroundTask`).
package protocol BackgroundAssertions: Sendable {
  /// Begins one. `expiring` is called at most once, on any thread, when the time runs out; the
  /// assertion must then be ended soon.
  ///
  /// - Returns: Its number for `end`; nil where the system grants none.
  func begin(_ expiring: @escaping @Sendable () -> Void) -> Int?
  /// Ends one, exactly once.
  func end(_ id: Int)
}

/// Asks the system to wake the app later (`BGTaskScheduler`).
package protocol BackgroundTaskScheduling: Sendable {
  /// Asks for a task that requires network. One that is waiting already is replaced. False where
  /// the system refuses (not registered, too many, not allowed).
  func schedule() -> Bool
}
