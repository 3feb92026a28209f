/// What the end of a request, of a preparation or of a delete changes.
extension DeliveryEngine {
  mutating func prepared(_ number: UInt64, _ preparation: Preparation, now: Moment) {
    if case .preparing(number) = ahead {
      ahead = .none
      if case .batch(let summary) = preparation {
        ahead = .ready(Batch(number: number, summary: summary))
      }
      return
    }
    guard case .preparing(number) = flight else {
      // Late: nobody waits for it any more, but its rows are marked.
      if case .batch = preparation { emit(.release(batch: number)) }
      return
    }
    flight = .idle
    switch preparation {
    case .batch(let summary): take(Batch(number: number, summary: summary), now: now)
    case .nothing(let others): drained(othersWait: others)
    case .blocked: storeBlocked(now: now)
    }
  }

  /// A batch for the flight: sent, unless it holds only rows that came after the trigger and is
  /// not full. Those wait for a trigger of their own, so that a drain does not turn into one
  /// small request for each new event.
  private mutating func take(_ batch: Batch, now: Moment) {
    let isLastAccount = batch.summary.account == (token.current?.account ?? "")
    if isLastAccount, let first = batch.summary.rows.first?.sequence {
      // An event in the memory buffer may be older than these rows.
      if !isBufferUnwritten { resumeWaiters(.drained) { $0.request.throughSequence < first } }
      if first > drainThrough, !batch.summary.hasMore, isolation.isEmpty {
        release(batch)
        isWanted = false
        drainThrough = 0
        pendingSince = now
        pendingEvents = batch.summary.rows.count
        pendingBytes = batch.summary.jsonBytes
        return
      }
    }
    flight = .ready(batch)
  }

  private mutating func drained(othersWait: Bool) {
    isWanted = false
    drainThrough = 0
    mayHaveRows = othersWait
    isolation = []
    pendingEvents = 0
    pendingBytes = 0
    pendingSince = nil
    probeDue = nil
    // Where nothing else waits, `settleWaiters` and `settleTasks` see it.
    if othersWait { resumeWaiters(.waitingForToken) { _ in true } }
  }

  mutating func settled(_ generation: UInt64, _ complete: Bool, now: Moment) {
    guard case .settling(var settling) = flight, settling.generation == generation else { return }
    guard complete else {
      settling.tries += 1
      settling.retryAt = now.adding(
        milliseconds: RetrySchedule(baseMs: 100, capMs: 5_000).ceilingMs(failures: settling.tries))
      flight = .settling(settling)
      return
    }
    flight = .idle
    // What has gone fills no batch any more.
    pendingEvents = max(0, pendingEvents - settling.batch.summary.rows.count)
    pendingBytes = max(0, pendingBytes - settling.batch.summary.jsonBytes)
    if case .quarantine = settling.settlement {
      let mark = BodyMark(settling.batch.summary.rows)
      finalBodies.removeAll { $0.mark == mark }
    }
    popIsolation()
  }

  /// One part of a halved body is done with.
  private mutating func popIsolation() {
    if !isolation.isEmpty { isolation.removeLast() }
  }

  mutating func uploadEnded(_ generation: UInt64, _ outcome: UploadOutcome, now: Moment) {
    guard case .sending(let upload) = flight, upload.generation == generation else { return }
    let decision = DeliveryDecision.decide(outcome)
    say(.requestEnded(DeliveryOutcome(outcome), decision: decision.rawValue))
    if case .answered(let facts) = outcome { answered(facts, decision, now: now) }
    act(on: decision, outcome, upload, now: now)
  }

  /// What any answer tells, whatever it says.
  private mutating func answered(
    _ facts: AnswerFacts, _ decision: DeliveryDecision, now: Moment
  ) {
    guard decision != .notOurServer else { return }
    pathIsDisproved = !path.satisfied
    probeDue = nil
    if decision != .refreshToken { token.accepted() }
    if facts.isUnreadable { say(.answerUnreadable) }
  }

  private mutating func act(
    on decision: DeliveryDecision, _ outcome: UploadOutcome, _ upload: Upload, now: Moment
  ) {
    let facts: AnswerFacts?
    if case .answered(let known) = outcome { facts = known } else { facts = nil }
    switch decision {
    case .delivered: delivered(upload, facts, now: now)
    case .retryLater: backOff(upload, fromTransport: false, facts: facts, now: now)
    case .notOurServer, .notUnderstood:
      backOff(upload, fromTransport: false, facts: nil, now: now)
    case .retryConnection: backOff(upload, fromTransport: true, facts: nil, now: now)
    case .retryQuickly:
      // Consent, path or permission may have gone while the request was under way.
      guard !upload.retriedQuickly, blocker(now: now) == nil else {
        return backOff(upload, fromTransport: true, facts: nil, now: now)
      }
      send(upload.batch, with: upload.token, retriedQuickly: true, now: now)
    case .refreshToken: unauthorized(upload, now: now)
    case .split: split(upload, now: now)
    case .refuse:
      refuse(upload, status: facts?.status ?? 0, detail: facts?.detail ?? "", now: now)
    }
  }

  private mutating func delivered(
    _ upload: Upload, _ facts: AnswerFacts?, now: Moment
  ) {
    failures = 0
    backoff = nil
    serverGate = nil
    refusal.accepted()
    lesson.accept(fullBytes: policy.jsonLimit(lesson: nil))
    settle(upload.batch, .delivered(rejected: facts?.rejected ?? []))
    if let dateMs = facts?.confirmedMs, isAgeCheckDue(now: now) {
      lastAgeCheck = now
      emit(.enforceAge(confirmedNowMs: dateMs))
    }
  }

  private func isAgeCheckDue(now: Moment) -> Bool {
    guard let lastAgeCheck else { return true }
    return now.milliseconds(since: lastAgeCheck) >= DeliveryEngine.ageCheckIntervalMs
  }

  /// Rows are kept; a try is due later.
  private mutating func backOff(
    _ upload: Upload, fromTransport: Bool, facts: AnswerFacts?, now: Moment
  ) {
    putBack(upload.batch)
    failures = min(failures + 1, DeliveryEngine.maxFailures)
    if fromTransport { pathIsDisproved = false }
    let own = policy.retry.delayMs(failures: failures, draw: random.next(purpose: "backoff"))
    let wanted = facts.flatMap { facts in
      RetryAfter.waitMs(
        facts.retryAfter, answerDateMs: facts.dateMs ?? facts.receivedMs,
        capMs: policy.retryAfterCapMs)
    }
    let delayMs: Int64
    if let wanted {
      // The server's own wait, never below the base, then some spread: all phones heard the same.
      let wait = max(wanted, policy.retry.baseMs)
      let spread = min(wait / 4, DeliveryEngine.maxRetryAfterSpreadMs)
      serverGate = now.adding(milliseconds: wait)
      delayMs =
        wait
        + RetrySchedule.spread(
          from: 0, through: spread, draw: random.next(purpose: "retryAfter"))
    } else {
      delayMs = own
    }
    backoff = now.adding(milliseconds: delayMs)
    backoffIsFromTransport = fromTransport
    say(.backingOff(milliseconds: delayMs))
  }

  private mutating func unauthorized(_ upload: Upload, now: Moment) {
    putBack(upload.batch)
    token.unauthorized(upload.token)
    guard token.refusals > 1 else { return }
    // Fresh tokens that are all refused: occasions alone would still make a loop.
    failures = min(failures + 1, DeliveryEngine.maxFailures)
    let delayMs = min(
      policy.retry.delayMs(failures: failures, draw: random.next(purpose: "backoff")),
      max(policy.restoreThrottleMs, policy.retry.baseMs))
    backoff = now.adding(milliseconds: delayMs)
    backoffIsFromTransport = false
    if token.isHolding { say(.waitingForToken) }
  }

  private mutating func split(_ upload: Upload, now: Moment) {
    let rows = upload.batch.summary.rows
    remember(rows, status: 413)
    guard rows.count > 1 else { return quarantine(upload, .tooLarge, now: now) }
    lesson.tooLarge(jsonBytes: upload.batch.summary.jsonBytes)
    say(.batchLimitLearned(bytes: lesson.limitBytes ?? 0))
    putBack(upload.batch)
  }

  private mutating func refuse(_ upload: Upload, status: Int, detail: String, now: Moment) {
    let rows = upload.batch.summary.rows
    remember(rows, status: status)
    guard policy.isolatesRefusedBodies, rows.count > 1, !refusal.isProbing else {
      return quarantine(upload, .refused(status: status, detail: detail), now: now)
    }
    popIsolation()
    isolation.append(rows.count - (rows.count + 1) / 2)
    isolation.append((rows.count + 1) / 2)
    putBack(upload.batch)
  }

  private mutating func quarantine(
    _ upload: Upload, _ reason: QuarantineReason, now: Moment
  ) {
    releaseAhead()
    if let pauseMs = refusal.refused(now: now) { say(.pausedByRefusals(milliseconds: pauseMs)) }
    // Known before the rows move: a kill between answer and quarantine repeats no body.
    persistIfChanged(now: now)
    settle(upload.batch, .quarantine(reason))
  }

  private mutating func remember(_ rows: [RowReference], status: Int) {
    if finalBodies.count == DeliveryEngine.maxFinalBodies { finalBodies.removeFirst() }
    finalBodies.append(FinalBody(mark: BodyMark(rows), status: status))
  }

  /// The place is free again; marks are taken back, so that the next batch is read anew.
  mutating func putBack(_ batch: Batch) {
    release(batch)
    releaseAhead()
    flight = .idle
  }

  static let maxFinalBodies = 16
  static let maxFailures = 1_000_000
  static let maxRetryAfterSpreadMs: Int64 = 60_000
  static let ageCheckIntervalMs: Int64 = 3_600_000
}

extension DeliveryOutcome {
  init(_ outcome: UploadOutcome) {
    switch outcome {
    case .answered(let facts): self = .answered(status: facts.status)
    case .failed(let code, _): self = .failed(code: code)
    }
  }
}
