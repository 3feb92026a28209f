import TelemetryTestSupport

@testable import TelemetrySDK

/// What answers the engine's effects: the store, the server, the provider, the clock.
extension EngineWorld {
  var hasOutstanding: Bool {
    !preparing.isEmpty || sending != nil || !settling.isEmpty || !asking.isEmpty || opening
      || buffering || tending || !late.isEmpty
  }

  mutating func open(blocked: Bool = false) {
    opening = false
    if blocked { return input(.storeBlocked) }
    input(.storeOpened(gate: note, queued: rows.count))
    // Opening writes the memory buffer.
    if engine.isWritingBuffer { buffering = true }
  }

  mutating func record(_ count: Int, account: String, bytes: Int) {
    for _ in 0..<count {
      lastSequence += 1
      rows.append(Row(sequence: lastSequence, account: account, bytes: bytes))
    }
    input(.recorded(events: count, bytes: count * bytes, lastSequence: lastSequence))
  }

  /// A row comes back from the quarantine, at the end of the queue.
  mutating func requeue() {
    lastSequence += 1
    rows.append(Row(sequence: lastSequence, account: "", bytes: 200))
    input(.requeued(events: 1))
  }

  /// The store's gate outlives a purge.
  mutating func purge() {
    rows = []
    settling = []
    input(.purged)
  }

  mutating func prepareNext(blocked: Bool = false) {
    guard !preparing.isEmpty else { return }
    let asked = preparing.removeFirst()
    if blocked { return input(.prepared(generation: asked.generation, .blocked)) }
    let taken = Set(marked.values.flatMap { $0 })
    let free = rows.filter { !taken.contains($0) }
    let account =
      asked.accounts.map { names in names.first { name in free.contains { $0.account == name } } }
      ?? free.first?.account
    guard let account else {
      return input(.prepared(generation: asked.generation, .nothing(others: !free.isEmpty)))
    }
    var batch: [Row] = []
    var bytes = asked.bounds.envelopeBytes
    let eligible = free.filter { $0.account == account }
    for row in eligible {
      guard batch.count < asked.bounds.maxEvents else { break }
      guard batch.isEmpty || bytes + row.bytes + 1 <= asked.bounds.maxBytes else { break }
      bytes += row.bytes + (batch.isEmpty ? 0 : 1)
      batch.append(row)
    }
    marked[asked.generation] = batch
    input(
      .prepared(
        generation: asked.generation,
        .batch(
          BatchSummary(
            account: account, rows: batch.map(\.reference), jsonBytes: bytes,
            wireBytes: bytes / 5 + 20, hasMore: batch.count < eligible.count))))
  }

  mutating func answer(_ outcome: UploadOutcome) {
    guard let request = sending else { return }
    sending = nil
    laws.answers(request, outcome, at: now)
    input(.uploadEnded(generation: request.generation, outcome))
  }

  mutating func answer(status: Int, retryAfter: String? = nil, html: Bool = false) {
    var facts = AnswerFacts(status: status)
    facts.isHTML = html
    facts.retryAfter = retryAfter.map { [$0] } ?? []
    answer(.answered(facts))
  }

  mutating func answerLate() {
    guard !late.isEmpty else { return }
    let before = engine.flight
    input(
      .uploadEnded(
        generation: late.removeFirst(), .failed(code: -999, lostReusedConnection: false)))
    // The next batch may be begun meanwhile; the request under way goes on.
    if case .sending(let upload) = before, sending?.generation == upload.generation {
      guard case .sending(let now) = engine.flight, now.generation == upload.generation else {
        return broken(.lateAnswerHeard)
      }
    }
  }

  mutating func settleNext(complete: Bool = true) {
    guard !settling.isEmpty else { return }
    let asked = settling.removeFirst()
    if complete, let batch = marked.removeValue(forKey: asked.batch) {
      let gone = Set(batch)
      rows.removeAll { gone.contains($0) }
      let sequences = batch.map(\.sequence)
      if case .delivered = asked.settlement {
        delivered.formUnion(sequences)
      } else {
        quarantined.formUnion(sequences)
      }
    }
    input(.settled(generation: asked.generation, complete: complete))
  }

  mutating func answerToken(_ value: String?, account: String = "") {
    guard !asking.isEmpty else { return }
    let generation = asking.removeFirst()
    if let value { accounts[value] = account }
    input(
      .tokenAnswered(
        generation: generation, value.map { AccessToken(value: $0, account: account) }))
  }

  /// The store and the provider answer until a request goes out, or long enough to see that none
  /// does.
  mutating func answerUntilSending() {
    for _ in 0..<10 where sending == nil {
      prepareNext()
      answerToken("T")
    }
  }

  mutating func finishUpkeep(more: Bool = false) {
    guard tending else { return }
    tending = false
    input(.upkeepDone(more: more))
  }

  mutating func finishBuffer(blocked: Bool) {
    guard buffering else { return }
    buffering = false
    let reasons: [BufferReason] = [.busy, .notOpen, .diskFull, .keyUnavailable]
    input(blocked ? .writesBlocked(reasons[Int(random.next() % 4)]) : .writesRecovered)
  }

  mutating func flush(timeoutMs: Int64, grantsTime: Bool = false) {
    nextID += 1
    if grantsTime { granting.insert(nextID) }
    waiters[nextID] = now.adding(milliseconds: timeoutMs)
    input(
      .flushAsked(
        FlushRequest(
          id: nextID, timeoutMs: timeoutMs, throughSequence: lastSequence,
          grantsTime: grantsTime)))
  }

  mutating func grantTask(seconds: Int64?) {
    nextID += 1
    tasks.insert(nextID)
    input(
      .taskGranted(id: nextID, deadline: seconds.map { now.adding(milliseconds: $0 * 1_000) }))
  }

  /// Moves the clock, firing timers on the way.
  mutating func advance(ms: Int64) {
    let target = now.adding(milliseconds: ms)
    var firedAtOnce = 0
    while let (timer, state) = timers.filter({ $0.value.at <= target })
      .min(by: { ($0.value.at, $0.key.rawValue) < ($1.value.at, $1.key.rawValue) })
    {
      firedAtOnce = state.at > now ? 0 : firedAtOnce + 1
      guard firedAtOnce < 50 else { return broken(.timersWithoutEnd) }
      now = max(now, state.at)
      fire(timer)
    }
    now = target
    for (_, deadline) in waiters where deadline < now {
      broken(.waiterBeyondItsTime)
      break
    }
  }

  mutating func fire(_ timer: DeliveryTimer) {
    guard let state = timers.removeValue(forKey: timer) else { return }
    // The provider's time is up: it may be asked again.
    if timer == .token { asking = [] }
    input(.timerFired(timer, generation: state.generation))
  }

  mutating func kill(reboot: Bool) {
    trace.append(Entry(now: now, input: nil, effects: []))
    let old = now
    if reboot {
      bootID += "+"
      now = Moment(nanoseconds: 5_000_000_000)
    }
    laws.killed(rebootedFrom: reboot ? old : nil, to: now)
    marked = [:]
    preparing = []
    sending = nil
    late = []
    settling = []
    asking = []
    timers = [:]
    assertion = nil
    tasks = []
    waiters = [:]
    granting = []
    (buffering, tending) = (false, false)
    (isForeground, path, hasConsent, isShutDown) = (true, NetworkPath(), true, false)
    engine = DeliveryEngine(policy: policy, bootID: bootID, random: SeededRandom(random.next()))
    opening = true
  }
}
