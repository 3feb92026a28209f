/// The ciphers of one store's keys: the live one, old ones that rows still need, and the ids of
/// those that could not be had.
struct KeyRing {
  /// Ids in the key store, as far as they were listed or made here.
  var known: Set<UInt64> = []
  /// Ids asked for and not had; asked for again at the next opening.
  private(set) var missing: Set<UInt64> = []
  /// The key of new rows; nil before the first.
  var current: UInt64?
  /// Saved in the key store but not yet adopted by the database: the next try takes this one, or
  /// each would leave a key behind.
  var pending: (id: UInt64, cipher: AESGCM)?
  /// The secret behind keyed hashes of account names and of callers' ids.
  var secret: [UInt8]?
  private var ciphers: [UInt64: AESGCM] = [:]
  /// Seals under the current key, at least as many as were made.
  var seals: Int64 = 0
  /// `seals` as it was last written down.
  var savedSeals: Int64 = 0
  /// The device's wall clock when the current key was made.
  var bornMs: Int64 = 0
  /// How many seals may go by before the count is written down again.
  static let sealsBetweenSaves: Int64 = 1 << 16

  /// A purge was decided and is not over: no key is used however it came back, for the purge's end
  /// would take what is recorded now, and what lies there must not be read any more.
  private(set) var isBarred = false

  /// The cipher of the live key, if it can be used.
  var live: (id: UInt64, cipher: AESGCM)? {
    guard let current, !isBarred, let cipher = ciphers[current] else { return nil }
    return (current, cipher)
  }

  func cipher(_ id: UInt64) -> AESGCM? { isBarred ? nil : ciphers[id] }

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

  /// Nothing can be sealed or opened from now on, until `unbar`.
  mutating func bar() {
    ciphers = [:]
    pending = nil
    isBarred = true
  }

  mutating func unbar() { isBarred = false }

  /// Forgets every key; a bar stays.
  mutating func removeAll() {
    let isBarred = isBarred
    self = KeyRing()
    self.isBarred = isBarred
  }
}
