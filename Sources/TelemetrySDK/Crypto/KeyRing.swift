/// The ciphers of one store's keys: the live one, old ones that rows still need, and the ids of
/// those that could not be had.
struct KeyRing {
  /// Ids in the key store, as far as they were listed or made here.
  var known: Set<UInt64> = []
  /// Ids asked for and not had; asked for again after `forgetMissing`.
  private(set) var missing: Set<UInt64> = []
  /// The key of new rows; nil before the first.
  var current: UInt64?
  /// The secret behind keyed hashes of account names and of callers' ids.
  var secret: [UInt8]?
  private var ciphers: [UInt64: AESGCM] = [:]
  /// Seals under the current key since this process opened the store.
  var seals: Int64 = 0

  /// The cipher of the live key, if it can be used.
  var live: (id: UInt64, cipher: AESGCM)? {
    guard let current, let cipher = ciphers[current] else { return nil }
    return (current, cipher)
  }

  func cipher(_ id: UInt64) -> AESGCM? { ciphers[id] }

  mutating func add(_ id: UInt64, _ cipher: AESGCM) {
    ciphers[id] = cipher
    known.insert(id)
    missing.remove(id)
  }

  mutating func remove(_ id: UInt64) {
    ciphers[id] = nil
    known.remove(id)
    missing.remove(id)
  }

  mutating func noteMissing(_ id: UInt64) { missing.insert(id) }

  /// Lets keys that were missing be asked for again.
  mutating func forgetMissing() { missing = [] }

  /// Nothing can be sealed or opened until keys are established again.
  mutating func forgetCiphers() { ciphers = [:] }

  mutating func removeAll() { self = KeyRing() }
}
