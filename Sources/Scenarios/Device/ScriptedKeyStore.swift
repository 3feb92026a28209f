import TelemetrySDK

/// A key store that can be made to fail on order: the Keychain before first unlock, or after a
/// restore to another phone.
///
/// Thread safe.
final class ScriptedKeyStore: KeyStore {
  /// `errSecInteractionNotAllowed`: the device has not been unlocked since it was booted.
  private static let locked = KeyStoreError.unavailable(status: -25_308)

  private let inner: any KeyStore
  private let isAvailable: Guarded<Bool>

  init(inner: any KeyStore, isAvailable: Bool = true) {
    self.inner = inner
    self.isAvailable = Guarded(isAvailable)
  }

  func setAvailable(_ available: Bool) { isAvailable.withLock { $0 = available } }

  /// Every key is gone, as on a phone that a backup was restored to.
  func loseAll() throws {
    for id in try inner.keyIDs() { try inner.destroy(id) }
  }

  private func check() throws {
    guard isAvailable.withLock({ $0 }) else { throw ScriptedKeyStore.locked }
  }

  func keyIDs() throws -> [UInt64] {
    try check()
    return try inner.keyIDs()
  }

  func load(_ id: UInt64) throws -> [UInt8] {
    try check()
    return try inner.load(id)
  }

  func save(_ id: UInt64, key: [UInt8]) throws {
    try check()
    try inner.save(id, key: key)
  }

  func destroy(_ id: UInt64) throws {
    try check()
    try inner.destroy(id)
  }

  func isProtectedDataAvailable() -> Bool { isAvailable.withLock { $0 } }
}
