import TelemetrySDK

/// A key store in memory whose answers a test orders: locked devices, lost keys, false words.
///
/// Shared by several stores it survives their "restarts".
package final class FakeKeyStore: KeyStore {
  /// What the fake holds and how it answers.
  package struct State: Sendable {
    package var keys: [UInt64: [UInt8]] = [:]
    /// Answers to coming calls of any kind, used up one by one before the truth is told.
    package var nextErrors: [KeyStoreError] = []
    package var isProtectedDataAvailable = true
    /// Saves and loads, but destroys nothing.
    package var failsDestroy = false
    /// Every id that was ever saved, and destroyed.
    package var saved: [UInt64] = []
    package var destroyed: [UInt64] = []
  }

  private let state: Guarded<State>

  package init(keys: [UInt64: [UInt8]] = [:]) {
    var state = State()
    state.keys = keys
    self.state = Guarded(state)
  }

  /// A copy of what the fake holds.
  package var current: State { state.withLock { $0 } }

  /// Changes what the fake holds or answers.
  package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  private func answer<Value>(_ body: (inout State) throws -> Value) throws -> Value {
    try state.withLock { state in
      if !state.nextErrors.isEmpty { throw state.nextErrors.removeFirst() }
      return try body(&state)
    }
  }

  package func keyIDs() throws -> [UInt64] { try answer { Array($0.keys.keys) } }

  package func load(_ id: UInt64) throws -> [UInt8] {
    try answer { state in
      guard let key = state.keys[id] else { throw KeyStoreError.itemNotFound }
      return key
    }
  }

  package func save(_ id: UInt64, key: [UInt8]) throws {
    try answer { state in
      guard state.keys[id] == nil else { throw KeyStoreError.unavailable(status: 17) }
      state.keys[id] = key
      state.saved.append(id)
    }
  }

  package func destroy(_ id: UInt64) throws {
    try answer { state in
      if state.failsDestroy { throw KeyStoreError.unavailable(status: 5) }
      state.keys[id] = nil
      state.destroyed.append(id)
    }
  }

  package func isProtectedDataAvailable() -> Bool {
    state.withLock { $0.isProtectedDataAvailable }
  }
}
