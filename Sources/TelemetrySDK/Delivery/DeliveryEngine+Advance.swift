/// What holds delivery back just now, the first reason that applies.
enum Blocker: Sendable, Equatable {
  case disabled
  case storage
  /// In the background without time granted.
  case suspended
  case serverGate(Moment)
  case refusals(Moment)
  case backoff(Moment)
  case offline
  /// The provider is being asked.
  case asking
  case token

  /// When it passes by itself.
  var until: Moment? {
    switch self {
    case .serverGate(let moment), .refusals(let moment), .backoff(let moment): return moment
    case .disabled, .storage, .suspended, .offline, .asking, .token: return nil
    }
  }
}

extension DeliveryEngine {
  /// Whether work is allowed at all: in front, or while somebody granted time. A plain `flush`
  /// grants none: the system would suspend the app in the middle of its request.
  var hasPermission: Bool {
    isForeground || assertion != nil || !tasks.isEmpty
      || waiters.contains { $0.request.grantsTime }
  }

  var isNetworkUsable: Bool {
    policy.allows(path) && (path.satisfied || pathIsDisproved || mayProbe)
  }

  /// The first reason not to send now.
  func blocker(now: Moment) -> Blocker? {
    if isShutDown || !hasConsent { return .disabled }
    if storage != .open { return .storage }
    if !hasPermission { return .suspended }
    if let serverGate, now < serverGate { return .serverGate(serverGate) }
    if let pause = refusal.until, now < pause { return .refusals(pause) }
    if let backoff, now < backoff { return .backoff(backoff) }
    if !isNetworkUsable { return .offline }
    if token.current == nil { return token.isHolding ? .token : .asking }
    return nil
  }

  /// Takes the next steps that the state allows. Each turn of the loop changes the state, and
  /// none returns to an earlier one, so it ends.
  mutating func advance(now: Moment) {
    while step(now: now) {}
  }

  private mutating func step(now: Moment) -> Bool {
    switch flight {
    case .idle: return takeAhead() || ask(now: now) || prepare(now: now)
    case .preparing, .settling: return false
    case .ready(let batch): return launch(batch, now: now)
    case .sending: return prepareAhead(now: now)
    }
  }

  /// The batch that was prepared meanwhile takes the free place.
  private mutating func takeAhead() -> Bool {
    switch ahead {
    case .none: return false
    case .preparing(let number): flight = .preparing(number)
    case .ready(let batch): flight = .ready(batch)
    }
    ahead = .none
    return true
  }

  /// Asks the provider where that is all that is missing.
  private mutating func ask(now: Moment) -> Bool {
    guard isWanted, token.wantsAsking, pace.mayAsk(now: now), blocker(now: now) == .asking else {
      return false
    }
    askProvider(now: now)
    return true
  }

  mutating func askProvider(now: Moment) {
    let generation = nextGeneration()
    pace.asked(now: now)
    token.asked(
      generation: generation, deadline: now.adding(milliseconds: policy.tokenTimeoutMs))
    emit(.askToken(generation: generation))
  }

  private mutating func prepare(now: Moment) -> Bool {
    guard isWanted, blocker(now: now) == nil else { return false }
    let number = nextGeneration()
    flight = .preparing(number)
    emit(.prepare(generation: number, accounts: eligibleAccounts, bounds: bounds))
    return true
  }

  /// While a request is under way nothing else is to be done: the next batch is made ready.
  private mutating func prepareAhead(now: Moment) -> Bool {
    guard ahead == .none, isWanted, isolation.isEmpty, !refusal.isProbing, lesson.limitBytes == nil,
      case .sending(var upload) = flight, upload.batch.summary.hasMore, !upload.triedAhead,
      failures == 0, blocker(now: now) == nil
    else { return false }
    upload.triedAhead = true
    flight = .sending(upload)
    let number = nextGeneration()
    ahead = .preparing(number)
    emit(.prepare(generation: number, accounts: eligibleAccounts, bounds: bounds))
    return true
  }

  /// Rows of nobody (recorded before any account was known) are older: they go first.
  private var eligibleAccounts: [String]? {
    guard policy.foreignAccounts != .send else { return nil }
    let own = token.current?.account ?? ""
    return own.isEmpty ? [""] : ["", own]
  }

  private var bounds: BatchBounds {
    var events = policy.batchMaxEvents
    if refusal.isProbing {
      events = min(events, policy.isolatesRefusedBodies ? 1 : RefusalPause.probeEvents)
    }
    if let part = isolation.last { events = min(events, part) }
    return BatchBounds(
      maxEvents: max(1, events), maxBytes: policy.jsonLimit(lesson: lesson.limitBytes),
      envelopeBytes: policy.envelopeBytes)
  }

  private func isEligible(_ account: String) -> Bool {
    eligibleAccounts?.contains(account) ?? true
  }

  /// Sends a ready batch, or puts it back where that is not allowed any more.
  private mutating func launch(_ batch: Batch, now: Moment) -> Bool {
    guard blocker(now: now) == nil, let token = token.current,
      isEligible(batch.summary.account)
    else {
      release(batch)
      flight = .idle
      return true
    }
    if let known = finalBodies.first(where: { $0.mark == BodyMark(batch.summary.rows) }) {
      avoid(known, batch)
      return true
    }
    send(batch, with: token, retriedQuickly: false, now: now)
    return true
  }

  mutating func send(
    _ batch: Batch, with token: AccessToken, retriedQuickly: Bool, now: Moment
  ) {
    let generation = nextGeneration()
    let limitMs = policy.requestDeadlineMs(bytes: batch.summary.wireBytes)
    flight = .sending(
      Upload(
        generation: generation, batch: batch, token: token,
        deadline: now.adding(milliseconds: limitMs), retriedQuickly: retriedQuickly))
    mayProbe = false
    emit(.send(generation: generation, batch: batch.number, token: token.value))
    say(
      .requestStarted(events: batch.summary.rows.count, bytes: batch.summary.wireBytes))
  }

  /// A body that had a final answer before, e.g. before a kill, is not sent again: its rows are
  /// settled, or it is halved.
  private mutating func avoid(_ known: FinalBody, _ batch: Batch) {
    let count = batch.summary.rows.count
    let splits = known.status == 413 || policy.isolatesRefusedBodies
    guard splits, count > 1 else {
      let reason: QuarantineReason =
        known.status == 413 ? .tooLarge : .refused(status: known.status, detail: "")
      settle(batch, .quarantine(reason))
      return
    }
    release(batch)
    flight = .idle
    isolation.append(count - (count + 1) / 2)
    isolation.append((count + 1) / 2)
  }

  mutating func release(_ batch: Batch) { emit(.release(batch: batch.number)) }

  mutating func releaseAhead() {
    if case .ready(let batch) = ahead { release(batch) }
    // One that is still being prepared comes as a late answer, and is released then.
    ahead = .none
  }

  mutating func settle(_ batch: Batch, _ settlement: Settlement) {
    let generation = nextGeneration()
    flight = .settling(
      Settling(generation: generation, batch: batch, settlement: settlement))
    emit(.settle(generation: generation, batch: batch.number, settlement))
  }
}
