/// The key ring's dealings with the key store. Called on the store queue; the key store is never
/// called while holding the store's lock.
extension SQLiteEventStore {
  /// Makes sure that there is a live key and the secret behind the hashes.
  func establishKeys() -> StoreBlock? {
    if let block = makeReady() { return block }
    loadKeysInUse()
    let result = writing { core in
      guard !core.hasBoots else { return }
      try core.loadBoots()
      try core.loadKeyAge()
    }
    if case .failure(let blocked) = result { return blocked.reason }
    return nil
  }

  private func makeReady() -> StoreBlock? {
    struct Need {
      let current: UInt64?
      let isReady: Bool
      let hasSealedRows: Bool
    }
    let need = onCore { core in
      Need(
        current: core.keys.current,
        isReady: core.keys.live != nil && core.keys.secret != nil,
        hasSealedRows: core.counts.hasSealedRows)
    }
    switch need {
    case .failure(let blocked): return blocked.reason
    case .success(let need) where need.isReady: return nil
    case .success(let need):
      do {
        let known = try keyStore.keyIDs()
        _ = onCore { $0.keys.known.formUnion(known) }
        if let current = need.current {
          if let key = try believed(current, need.hasSealedRows), let cipher = AESGCM(key: key) {
            _ = onCore { $0.load(current, cipher) }
            return establishSecret()
          }
          if need.hasSealedRows { _ = onCore { $0.keys.noteMissing(current) } }
        }
        return try makeKey()
      } catch {
        return .keyUnavailable
      }
    }
  }

  /// The key, or nil where it is believed to be gone.
  ///
  /// A store that does not find a key which rows were sealed with may only be locked: its word
  /// counts when it is given twice while protected data can be read.
  func believed(_ id: UInt64, _ hasSealedRows: Bool) throws -> [UInt8]? {
    do {
      return try keyStore.load(id)
    } catch KeyStoreError.itemNotFound {
      guard hasSealedRows else { return nil }
      guard keyStore.isProtectedDataAvailable() else {
        throw KeyStoreError.unavailable(status: 0)
      }
      do {
        return try keyStore.load(id)
      } catch KeyStoreError.itemNotFound {
        return nil
      }
    }
  }

  /// A new live key: durable in the key store before the database names it.
  func makeKey() throws -> StoreBlock? {
    // The secret and the notes are sealed with keys that may not be loaded yet.
    loadKeysInUse()
    if case .success(nil) = onCore({ $0.keys.pending?.id }) {
      guard let key = SystemRandom.shared.bytes(AESGCM.keyBytes), let cipher = AESGCM(key: key),
        let random = SystemRandom.shared.bytes(8), let id = SQLiteEventStore.keyID(of: random)
      else { return .keyUnavailable }
      try keyStore.save(id, key: key)
      _ = onCore { $0.keys.pending = (id, cipher) }
    }
    let result = writing { core in
      if let (id, cipher) = core.keys.pending { try core.adopt(id, cipher) }
    }
    if case .failure(let blocked) = result { return blocked.reason }
    return nil
  }

  private func establishSecret() -> StoreBlock? {
    let found = onCore { core -> Bool in
      core.keys.secret = try core.note(StoreCore.secretNote)
      return core.keys.secret != nil
    }
    switch found {
    case .success(true): return nil
    case .failure(let blocked): return blocked.reason
    case .success(false): break
    }
    let result = writing { core in
      do { try core.transaction { try core.makeSecret() } } catch {
        // One that is not stored must hash nothing: the next start would not know it.
        core.forgetSecret()
        throw error
      }
    }
    if case .failure(let blocked) = result { return blocked.reason }
    return nil
  }

  /// Loads the keys of all rows and notes, as far as they can be had.
  func loadKeysInUse() {
    let wanted = onCore { core in
      core.counts.usedKeys.filter { core.keys.cipher($0) == nil && !core.keys.missing.contains($0) }
    }
    if case .success(let ids) = wanted, !ids.isEmpty { _ = loadKeys(ids) }
  }

  /// True where at least one came. A key that is not found is not asked for again before the next
  /// opening; one that is unavailable is.
  func loadKeys(_ ids: Set<UInt64>) -> Bool {
    var hasLoaded = false
    for id in ids {
      do {
        guard let cipher = AESGCM(key: try keyStore.load(id)) else { continue }
        _ = onCore { $0.load(id, cipher) }
        hasLoaded = true
      } catch KeyStoreError.itemNotFound {
        _ = onCore { $0.keys.noteMissing(id) }
      } catch {
        continue  // Not just now: its rows wait.
      }
    }
    return hasLoaded
  }

  package func rotateKey() -> StoreBlock? {
    // A purge that is not over comes first: it would take the new key's rows.
    if let block = settle() { return block }
    do {
      if let block = try makeKey() { return block }
    } catch {
      return .keyUnavailable
    }
    _ = sync()
    tell([.keyRotated])
    return nil
  }

  /// A new key after so many seals or so long a time; else the count of seals is kept.
  func rotateIfDue() {
    if case .success(true) = onCore({ $0.isKeyDue }) {
      _ = rotateKey()
    } else if case .success(true) = onCore({
      $0.keys.live != nil && $0.keys.seals - $0.keys.savedSeals >= KeyRing.sealsBetweenSaves / 2
    }) {
      _ = writing { try $0.saveKeyAge() }
    }
  }

  /// One step of sealing old rows anew, where that is wanted. True where more may be waiting.
  func resealStep() -> Bool {
    guard configuration.resealsOldRows else { return false }
    if case .success(true) = writing({ try $0.resealChunk() }) { return true }
    return false
  }

  /// Destroys keys without a row, after a sync that follows the commit which removed the last:
  /// else a power loss could bring the row back without its key. A file that was moved aside, or
  /// left alone because it is of a newer version, may still need any of them.
  func destroyUnusedKeys() {
    guard files.status(paths.movedAside) == nil, !hasStrays else { return }
    guard case .success(false) = onCore({ $0.paths.base != self.paths.base }) else { return }
    let unused = onCore { core in
      core.keys.known.filter {
        $0 != core.keys.current && $0 != core.keys.pending?.id && !core.counts.uses(key: $0)
      }
    }
    guard case .success(let ids) = unused, !ids.isEmpty, syncFully() == nil else { return }
    for id in ids {
      do {
        try keyStore.destroy(id)
        _ = onCore { $0.keys.remove(id) }
      } catch {
        return  // Tried again at the next quiet moment.
      }
    }
  }

  /// A sync whether or not something is dirty.
  func syncFully() -> StoreBlock? {
    _ = onCore { $0.isDirty = true }
    return sync()
  }

  // MARK: - Purge

  package func purge() -> StoreBlock? {
    // Nothing was recorded since one that is not over yet: its end is this one's.
    if isPurgeOwed { return settle() }
    do {
      let kept = try setGateApart()
      try files.writeDurably(paths.purgeIntent, kept.map(SQLiteEventStore.bytes(of:)) ?? [])
    } catch {
      withdrawPurge()
      return .ioError
    }
    return settle()
  }

  /// True from the decision to purge until its end is on the medium.
  var isPurgeOwed: Bool {
    if case .success(true) = onCore({ $0.keys.isBarred }) { return true }
    return hasPurgeIntent
  }

  /// A folder of that name is no intent of ours.
  private var hasPurgeIntent: Bool { files.status(paths.purgeIntent)?.isDirectory == false }

  /// An intent that failed half-way may be there all the same, and the next start would carry it
  /// out over events recorded since. Where it cannot be taken back, durably, nothing is recorded
  /// either: the store closes, and opening it again finishes the purge first.
  private func withdrawPurge() {
    do {
      if hasPurgeIntent { try files.remove(paths.purgeIntent) }
      try files.syncDirectory(configuration.directory)
    } catch {
      closeFiles(reason: .ioError)
    }
  }

  /// Keys first, then rows and notes, then the intent. Each step may be done already. No key is
  /// used before all of it is on the medium.
  func finishPurge() -> StoreBlock? {
    _ = onCore { $0.keys.bar() }
    do {
      if hasPurgeIntent {
        if let block = try purgeKeysAndRows() { return block }
        try files.remove(paths.purgeIntent)
      }
      try files.syncDirectory(configuration.directory)
    } catch {
      return .ioError
    }
    _ = onCore { $0.keys.unbar() }
    return nil
  }

  private func purgeKeysAndRows() throws -> StoreBlock? {
    // try? because an intent that cannot be read keeps nothing: the purge goes first.
    let kept = (try? files.read(paths.purgeIntent)).flatMap(SQLiteEventStore.keyID(of:))
    do {
      for id in try keyStore.keyIDs() where id != kept { try keyStore.destroy(id) }
    } catch {
      return .keyUnavailable
    }
    let result = writing { try $0.purgeRows(keepingGateOf: kept) }
    if case .failure(let blocked) = result { return blocked.reason }
    if files.status(paths.movedAside) != nil { try files.removeTree(paths.movedAside) }
    try purgeStrays()
    return syncFully()
  }

  /// Seals the gate with a key that no row ever had, so that it outlives the others: what the
  /// server asked for is not the user's data, and a purge is no way around it.
  ///
  /// - Returns: the key; nil where there is no gate, or it cannot be saved just now.
  private func setGateApart() throws -> UInt64? {
    guard case .success(let gate?) = onCore({ try $0.note(GateRecord.noteKey) }),
      let key = SystemRandom.shared.bytes(AESGCM.keyBytes), let cipher = AESGCM(key: key),
      let random = SystemRandom.shared.bytes(8), let id = SQLiteEventStore.keyID(of: random)
    else { return nil }
    do {
      try keyStore.save(id, key: key)
    } catch {
      return nil  // Without it the gate goes with the rest; the purge does not wait.
    }
    let result = writing { core in
      try core.transaction { try core.writeNote(GateRecord.noteKey, gate, with: (id, cipher)) }
    }
    guard case .success = result, syncFully() == nil else { return nil }
    return id
  }

  private static func bytes(of id: UInt64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: id >> UInt64($0 * 8)) }
  }

  private static func keyID(of bytes: [UInt8]) -> UInt64? {
    guard bytes.count == 8 else { return nil }
    let id = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return id == 0 ? nil : id
  }
}
