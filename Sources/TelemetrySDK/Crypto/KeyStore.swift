/// Why a key store did not answer. Everything but `itemNotFound` means: wait, buffer, try again.
package enum KeyStoreError: Error, Sendable, Equatable {
  /// The store is sure that it has no such item.
  case itemNotFound
  /// Not readable just now (device locked, file forbidden, ...), with the system's status code.
  case unavailable(status: Int32)
}

/// Where keys live: made for the Keychain, and kept by files of mode 0600 so far.
///
/// One item per key. A key is on the medium when `save` returns. Called on the store queue only.
package protocol KeyStore: Sendable {
  /// Ids of all keys, in no order. Throws `KeyStoreError.unavailable`.
  func keyIDs() throws -> [UInt64]
  /// 32 bytes. Throws `KeyStoreError`.
  func load(_ id: UInt64) throws -> [UInt8]
  /// Stores a new key durably; an existing id is an error (`unavailable`), never overwritten.
  func save(_ id: UInt64, key: [UInt8]) throws
  /// Destroys a key. One that is not there is no error.
  func destroy(_ id: UInt64) throws
  /// Whether protected data can be read now: on Apple `UIApplication.isProtectedDataAvailable`,
  /// elsewhere true. Decides whether "not found" is believed, never whether to record.
  func isProtectedDataAvailable() -> Bool
}
