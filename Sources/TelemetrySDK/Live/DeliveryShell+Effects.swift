/// One function for each effect of the engine.
extension DeliveryShell {
  func perform(_ effect: DeliveryEffect) {
    switch effect {
    case .prepare(let number, let accounts, let bounds):
      prepare(number, accounts: accounts, bounds: bounds)
    case .send(let generation, let batch, let token):
      send(generation, batch: batch, token: token)
    case .cancelUpload(let generation): uploads.removeValue(forKey: generation)?.cancel()
    case .release(let batch): release(batch)
    case .settle(let generation, let batch, let settlement):
      let complete = settle(batch, settlement)
      receive(.settled(generation: generation, complete: complete))
    case .purgeOthers(let kept): purgeOthers(keeping: kept)
    case .enforceAge(let nowMs):
      store.enforceAge(confirmedNowMs: nowMs, maxAgeMs: configuration.maxAgeMs)
    case .askToken(let generation): askToken(generation)
    case .accountKnown(let account): rememberAccount(account)
    case .setTimer(let timer, let moment, let generation):
      setTimer(timer, at: moment, generation: generation)
    case .cancelTimer(let timer): cancelTimer(timer)
    case .persist(let record): note(GateRecord.noteKey, record.bytes)
    case .beginBackgroundTime(let generation): beginBackgroundTime(generation)
    case .endBackgroundTime(let generation): endBackgroundTime(generation)
    case .scheduleBackgroundTask: scheduleTask()
    case .completeTask(let id, let success):
      taskCompletions.removeValue(forKey: id)?(success)
    case .sync: sync()
    case .suspendStore: suspendStore()
    case .resumeStore: resumeStore()
    case .openStore: openStore()
    case .writeBuffer: writeBuffer()
    case .upkeep: tend()
    case .resumeWaiter(let id, let ending): finishFlush(id, ending)
    case .diagnostic(let event): tell(event)
    }
  }

  private func tell(_ event: DiagnosticEvent) {
    if case .requestStarted = event { published.withLock { $0.requests += 1 } }
    if case .requestEnded(let outcome, _) = event {
      published.withLock { $0.lastOutcome = outcome }
    }
    diagnostics.emit(event)
  }

  // MARK: Batches

  private func prepare(_ number: UInt64, accounts: [String]?, bounds: BatchBounds) {
    var found = ReadBatch()
    for account in accounts.map({ $0.map(Optional.some) }) ?? [nil] {
      found = store.readBatch(account: account, bounds: bounds)
      if found.blocked != nil || !found.events.isEmpty { break }
    }
    guard found.blocked == nil else { return receive(.prepared(generation: number, .blocked)) }
    guard !found.events.isEmpty else {
      let others = accounts.map { kept in
        let next = store.readBatch(account: nil, bounds: bounds)
        return !next.events.isEmpty && !kept.contains(next.account)
      }
      return receive(.prepared(generation: number, .nothing(others: others ?? false)))
    }
    do {
      let body = try builder.build(found.events)
      let rows = found.events.prefix(body.count).map(\.row)
      store.markInFlight(rows)
      bodies[number] = PreparedBody(rows: rows, gzip: body.gzip)
      let summary = BatchSummary(
        account: found.account, rows: rows, jsonBytes: body.jsonBytes,
        wireBytes: body.gzip.count, hasMore: found.hasMore || body.count < found.events.count)
      receive(.prepared(generation: number, .batch(summary)))
    } catch {
      // Out of memory is all that can be wrong; as with a blocked store, it is tried again.
      receive(.prepared(generation: number, .blocked))
    }
  }

  private func send(_ generation: UInt64, batch: UInt64, token: String) {
    guard let body = bodies[batch] else {
      // Cannot be: the engine sends what was prepared. Answered as a failure, not ignored.
      return receive(
        .uploadEnded(generation: generation, .failed(code: 0, lostReusedConnection: false)))
    }
    let request = BatchRequest(
      generation: generation, url: configuration.endpoint,
      headers: [
        ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
        ("Content-Encoding", "gzip"),
      ], body: body.gzip)
    uploads[generation] = environment.transport.send(request) { [weak self] result in
      self?.perform { $0.uploadEnded(generation, result) }
    }
  }

  private func uploadEnded(_ generation: UInt64, _ result: Result<BatchAnswer, TransportFailure>) {
    // A cancelled one is not in the list any more: its answer is late.
    guard uploads.removeValue(forKey: generation) != nil else { return }
    switch result {
    case .success(let answer):
      let facts = AnswerFacts(answer, receivedMs: environment.clock.wallMs())
      receive(.uploadEnded(generation: generation, .answered(facts)))
    case .failure(let failure):
      receive(
        .uploadEnded(
          generation: generation,
          .failed(code: failure.code, lostReusedConnection: failure.lostReusedConnection)))
    }
  }

  private func release(_ batch: UInt64) {
    guard let body = bodies.removeValue(forKey: batch) else { return }
    store.clearInFlight(body.rows)
  }

  // MARK: Tokens

  private func askToken(_ generation: UInt64) {
    tokenProvider.token { [weak self, diagnostics] token in
      if let bytes = token?.account.utf8.count, bytes > AccessToken.maxAccountBytes {
        diagnostics.emit(.accountTooLong(bytes: bytes))
      }
      self?.post(.tokenAnswered(generation: generation, token.flatMap(DeliveryShell.usable)))
    }
  }

  /// A token that can stand in a header line, of an account whose name is short enough to be stored
  /// with each event.
  static func usable(_ token: AccessToken) -> AccessToken? {
    guard !token.value.isEmpty, token.value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      token.account.utf8.count <= AccessToken.maxAccountBytes
    else { return nil }
    return token
  }

  private func rememberAccount(_ account: String) {
    recorder.setAccount(account)
    noteIdentity()
  }

  private func purgeOthers(keeping kept: [String]) {
    for account in store.accounts() where !kept.contains(account) {
      if store.dropAll(account: account) != nil { break }
    }
    refreshSnapshot()
  }

  // MARK: Background

  private func beginBackgroundTime(_ generation: UInt64) {
    let id = environment.assertions?.begin { [weak self] in
      self?.post(.assertionExpiring(generation: generation))
    }
    if let id {
      assertions[generation] = id
    } else {
      receive(.assertionRefused(generation: generation))
    }
  }

  private func endBackgroundTime(_ generation: UInt64) {
    guard let id = assertions.removeValue(forKey: generation) else { return }
    environment.assertions?.end(id)
  }

  private func scheduleTask() {
    _ = environment.taskScheduling?.schedule()
  }

  static let accountNote = "account"
}
