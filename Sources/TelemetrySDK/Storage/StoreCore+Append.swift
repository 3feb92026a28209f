extension StoreCore {
  /// Commits one event, or says why not. Never waits.
  func append(_ event: NewEvent) -> AppendOutcome {
    if let refusal = refusal(forBytes: event.storedBytes) { return .blocked(refusal) }
    do {
      let outcome = try makingRoom(forBytes: event.storedBytes) { try insertAlone(event) }
      noteAppended([outcome])
      noteSuccess()
      return outcome
    } catch {
      return .blocked(blocked(by: error))
    }
  }

  /// Commits the first events, at most a chunk and as far as the log has room. It probes: an
  /// earlier block does not hinder the try that could clear it.
  func append(chunk events: ArraySlice<NewEvent>) -> [AppendOutcome] {
    if let refusal = refusal(forBytes: events.first?.storedBytes ?? 0, probing: true) {
      return [.blocked(refusal)]
    }
    var bytes = 0
    let fitting = events.prefix(StoreCore.chunkRows).prefix { event in
      bytes += event.storedBytes + StoreCore.bytesBesideContent
      return logHasRoom(forBytes: bytes)
    }
    guard !fitting.isEmpty else { return [.blocked(.walBudget)] }
    do {
      let outcomes = try makingRoom(forBytes: bytes) {
        try transaction { try fitting.map { try insert($0) } }
      }
      noteAppended(outcomes)
      noteSuccess()
      return outcomes
    } catch {
      return [.blocked(blocked(by: error))]
    }
  }

  /// Commits all events of waiting callers in one transaction, or none. An answer for each.
  func append(group events: [NewEvent]) -> [AppendOutcome] {
    let bytes = events.reduce(0) { $0 + $1.storedBytes + StoreCore.bytesBesideContent }
    if let refusal = refusal(forBytes: bytes) {
      return events.map { _ in .blocked(refusal) }
    }
    do {
      let outcomes = try makingRoom(forBytes: bytes) {
        try transaction { try events.map { try insert($0) } }
      }
      noteAppended(outcomes)
      noteSuccess()
      return outcomes
    } catch {
      let block = blocked(by: error)
      return events.map { _ in .blocked(block) }
    }
  }
  private static let bytesBesideContent = 200

  /// Before anybody is answered: who knows of an event finds it counted.
  private func noteAppended(_ outcomes: [AppendOutcome]) {
    let count = outcomes.reduce(Int64(0)) { count, outcome in
      switch outcome {
      case .durable, .syncPending: count + 1
      case .duplicate, .blocked: count
      }
    }
    if count > 0 { appended.withLock { $0 += count } }
  }

  private func refusal(forBytes bytes: Int, probing: Bool = false) -> StoreBlock? {
    if isDamaged { return .notOpen }
    if let block, !probing { return block }
    guard keys.live != nil, keys.secret != nil else { return .keyUnavailable }
    return logHasRoom(forBytes: bytes) ? nil : .walBudget
  }

  /// One statement outside a transaction is a transaction by itself, at half the cost.
  private func insertAlone(_ event: NewEvent) throws -> AppendOutcome {
    let outcome = try insert(event)
    noteCommit()
    return outcome
  }

  private func insert(_ event: NewEvent) throws -> AppendOutcome {
    guard let (keyID, cipher) = keys.live else { return .blocked(.keyUnavailable) }
    let account = try accountTag(event.account)
    var row = event.id.bytes
    var tag: [UInt8]?
    if event.idIsFromCaller {
      guard let random = SystemRandom.shared.sixteen() else { throw StoreCore.noRandomness }
      row = random
      tag = try callerTag(event.id)
      if let tag, counts.quarantinedTags.contains(tag) { return .duplicate }
    }
    EventRecord.encodeHead(
      time: RecordedTime(
        wallMs: event.recordedAtMs, sinceBootMs: clock.now().nanoseconds / 1_000_000, boot: boot),
      account: event.account, callerID: event.idIsFromCaller ? event.id.bytes : nil, into: &head)
    sealed.removeAll(keepingCapacity: true)
    let place = SealPlace(
      domain: configuration.domain, store: storeID, account: account, keyID: keyID, row: row)
    guard
      RecordSealer.seal(
        head: head, body: event.content.bytes, place: place, cipher: cipher, into: &sealed)
    else { throw StoreCore.noRandomness }
    keys.seals += 1
    let sequence = counts.lastSequence + 1
    do {
      try write(sequence, keyID, account, row, tag)
    } catch let error as SQLiteError where error.meaning == .constraint && tag != nil {
      return .duplicate
    }
    counts.lastSequence = sequence
    counts.addQueued(key: keyID, account: account)
    return configuration.durability == .processKill
      ? .durable(sequence: sequence) : .syncPending(sequence: sequence)
  }

  private func write(
    _ sequence: Int64, _ keyID: UInt64, _ account: Int64, _ row: SIMD16<UInt8>, _ tag: [UInt8]?
  ) throws {
    let statement = statements.insert
    statement.bind(1, sequence)
    statement.bind(2, keyID)
    statement.bind(3, account)
    statement.bind(5, tag)
    try withUnsafeBytes(of: row) { row in
      try sealed.withUnsafeBytes { sealed in
        statement.bindInPlace(4, row)
        statement.bindInPlace(6, sealed)
        try statement.run()
      }
    }
  }

  static let noRandomness = SQLiteError(
    code: 10, operation: "seal", message: "no randomness or cipher")

  /// The keyed hash that stands for an account's name outside the seal.
  func accountTag(_ name: String) throws -> Int64 {
    if let tag = accountTags[name] { return tag }
    guard let secret = keys.secret,
      let digest = hmacSHA256(key: secret, Array("account:".utf8) + Array(name.utf8))
    else { throw StoreCore.noRandomness }
    let tag = digest[..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    if accountTags.count >= StoreCore.maxRememberedAccounts { accountTags = [:] }
    accountTags[name] = tag
    accountNames[tag] = name
    return tag
  }
  static let maxRememberedAccounts = 64

  /// The keyed hash that finds an id of the caller's again.
  func callerTag(_ id: EventID) throws -> [UInt8] {
    guard let secret = keys.secret,
      let digest = hmacSHA256(
        key: secret, Array("id:".utf8) + (0..<16).map { id.bytes[$0] })
    else { throw StoreCore.noRandomness }
    return Array(digest[..<16])
  }
}
