/// One request's way through the engine.
///
/// Guard: its performer calls one method at a time; timers and gates touch parks only.
final class BatchExchange: Exchange, @unchecked Sendable {
  let id: Int
  let engine: BatchEngine
  let plan: ActivePlan
  private let beganNs: Int64
  var entry: JournalEntry
  var route: (any Route)?
  var connection: ConnectionTable.Connection?
  var step: RuleBook.Step?
  var prepared: PreparedRequest?
  var problem: Problem?
  private var committed: CommitAnswer?
  private var script: [ExchangeAction] = []
  private var at = 0
  private var isAnswered = false
  private var isEnded = false
  /// Whether somebody listened when the exchange was last taken up.
  private var isHeard: Bool
  private var hasWaited = false
  private var timers: [any EngineTimer] = []
  private var gate: (name: String, park: Park)?

  init(engine: BatchEngine, plan: ActivePlan, head: HTTPRequest, context: RequestContext) {
    self.engine = engine
    self.plan = plan
    isHeard = engine.hub.isActive
    let now = engine.clock.nowNs
    let wallMs = engine.clock.wallMs
    beganNs = now
    entry = engine.journal.open { id in
      JournalEntry(id: id, atNs: now, wallMs: wallMs, context: context, request: head)
    }
    id = entry.id
  }

  // MARK: - Exchange

  func next() -> ExchangeStep {
    if hasWaited {
      hasWaited = false
      isHeard = engine.hub.isActive
    }
    while at < script.count {
      let action = script[at]
      at += 1
      guard let step = perform(action) else { continue }
      if case .park = step { hasWaited = true }
      return step
    }
    // The script is through and the connection in order.
    return .finish(entry.isComplete ? .keepAlive : .close)
  }

  func supply(_ body: SuppliedBody) {
    isHeard = engine.hub.isActive
    switch body {
    case .complete(let bytes, let trailers):
      entry.request.body = bytes
      entry.request.trailers = trailers
      entry.isComplete = true
      read()
    case .tooLarge:
      let most = plan.contract.rules.maxWireBytes
      refuse(Problem(.bodyTooLarge, "more than \(most) bytes were sent"))
    }
  }

  func ended(bytesSent: Int, _ ending: ExchangeEnding) {
    guard !isEnded else { return }
    isEnded = true
    isHeard = engine.hub.isActive
    for timer in timers { timer.cancel() }
    if let gate { engine.gates.leave(gate.name, gate.park) }
    if case .incompleteRequest(let why) = ending { noteReadingLimit(why) }
    if !isAnswered { engine.journal.update(entry) }
    engine.journal.close(
      id, effects: entry.effects, bytesSent: bytesSent, atNs: engine.clock.nowNs,
      ending: ending.text)
    let end = EngineMetrics.End(
      status: isAnswered ? entry.response?.status : nil, isComplete: entry.isComplete,
      effects: entry.effects, problem: entry.problem, receivedBytes: entry.request.wireBytes,
      sentBytes: bytesSent)
    engine.metrics.access { $0.note(end) }
    report(.finished(bytesSent: bytesSent, ending: ending.text))
  }

  // MARK: - Script

  func start(_ actions: [ExchangeAction]) {
    script = actions
    at = 0
  }

  /// Ends the exchange with the contract's refusal, without reading further.
  func refuse(_ problem: Problem) {
    self.problem = problem
    note(problem)
    if route is BatchRoute, problem.kind != .methodNotAllowed { engine.ledger.noteInvalid() }
    start([.answer, .step(.finish(.close))])
  }

  /// Puts actions before what is left of the script.
  private func insert(_ actions: [ExchangeAction]) {
    start(actions + script[at...])
  }

  private func perform(_ action: ExchangeAction) -> ExchangeStep? {
    switch action {
    case .phase(let phase): return reach(phase)
    case .note(let name):
      entry.effects.append(name)
      report(.faultApplied(name))
    case .remark(let text): entry.effects.append(text)
    case .wait(let duration):
      return park(untilNs: BatchEngine.sum(engine.clock.nowNs, duration))
    case .waitUntil(let moment): return park(untilNs: moment)
    case .gate(let name, let timeoutNs): return park(at: name, timeoutNs: timeoutNs)
    case .commit: commit()
    case .answer: return answer()
    case .step(let step): return step
    case .stall(let timeoutNs):
      return .finish(.stall(timeoutNs.map { timer(BatchEngine.sum(engine.clock.nowNs, $0)) }))
    }
    return nil
  }

  private func reach(_ phase: Phase) -> ExchangeStep? {
    report(.phase(phase))
    switch engine.phaseOrders?(id, phase) {
    case .goOn, nil: return nil
    case .hold(let gate): return park(at: gate, timeoutNs: nil)
    case .drop: return .finish(.reset)
    }
  }

  private func park(untilNs: Int64) -> ExchangeStep? {
    guard untilNs > engine.clock.nowNs else { return nil }
    report(.delayed(untilNs: untilNs))
    return .park(timer(untilNs))
  }

  private func timer(_ untilNs: Int64) -> Park {
    let park = Park(reason: "delay until \(untilNs)")
    timers.append(engine.clock.schedule(atNs: untilNs) { park.release() })
    return park
  }

  private func park(at name: String, timeoutNs: Int64?) -> ExchangeStep? {
    let park = engine.gates.wait(at: name)
    guard !park.isReady else { return nil }
    gate = (name, park)
    if let timeoutNs {
      let due = BatchEngine.sum(engine.clock.nowNs, timeoutNs)
      timers.append(engine.clock.schedule(atNs: due) { park.release() })
    }
    engine.journal.update(entry)
    report(.gateHeld(name))
    return .park(park)
  }

  // MARK: - Commit and answer

  private func commit() {
    guard let prepared else { return }
    let spec = commitSpec
    let origin = CommitOrigin(
      request: id, connection: entry.context.connection,
      incarnation: entry.request.headers[BatchEngine.incarnationHeader] ?? "",
      wallMs: engine.clock.wallMs, dedupWindowNs: plan.contract.rules.dedupWindowNs,
      rejectsConflicts: plan.contract.rules.rejectsConflicts,
      wantsOutcomes: isHeard)
    do {
      var answer = try prepared.commit(spec, origin)
      if spec != .none {
        report(answer.result.event)
        answer.result.outcomes = []
        entry.commit = answer.result
      }
      committed = answer
    } catch {
      problem = Problem(.ledgerFailed, "\(error)")
      if let problem { note(problem) }
    }
  }

  /// The response's own word, else all for 2xx.
  private var commitSpec: CommitSpec {
    guard let response = step?.response else { return .all }
    if let commit = response.commit { return commit }
    if response.isNatural { return .all }
    if response.isCaptivePortal { return .none }
    return response.status.map { (200..<300).contains($0) } ?? false ? .all : .none
  }

  /// The answer as one step, where nothing shapes it; else its steps are put into the script.
  private func answer() -> ExchangeStep? {
    let spec = step?.response
    let maker = AnswerMaker(
      spec: spec, committed: committed, problem: problem, dates: engine.dates,
      wallMs: engine.clock.wallMs)
    let response = maker.response()
    if let fault = spec?.fault {
      var draw = self.draw
      insert(faulty(fault, response, &draw))
      return nil
    }
    willSend(response)
    if spec == nil, connection?.toxics.isEmpty ?? true, engine.phaseOrders == nil {
      if isHeard { insert([.phase(.responseBody)]) }
      return .send(response)
    }
    let request = entry.request
    let isHead = request.method == "HEAD"
    var shape = AnswerShape(
      response: response, spec: spec, toxics: connection?.toxics ?? [],
      sentBefore: connection?.sentBytes ?? 0,
      context: ResponseWriter.Context(
        isHead: isHead, minorVersion: request.minorVersion,
        closes: request.headers.value(of: "connection", equals: "close")),
      hasNoBody: isHead || HTTPResponse.isBodiless(response.status),
      now: engine.clock.nowNs, draw: self.draw)
    // Whoever gives orders for the phase before the body must find the body unsent.
    insert(shape.actions(inOnePiece: engine.phaseOrders == nil))
    if connection != nil {
      engine.connections.noteSent(entry.context.connection, shape.countedBytes)
    }
    return nil
  }

  private func willSend(_ response: HTTPResponse) {
    isAnswered = true
    entry.response = response
    engine.journal.update(entry)
    report(
      .responded(
        status: response.status, retryAfter: response.headers["retry-after"],
        date: response.headers["date"]))
  }

  private func faulty(
    _ fault: Fault, _ response: HTTPResponse, _ draw: inout KeyedDraw
  ) -> [ExchangeAction] {
    let note = ExchangeAction.note(fault.rawValue)
    switch fault {
    case .emptyResponse: return [note, .step(.finish(.close))]
    case .connectionResetByPeer: return [note, .step(.finish(.reset))]
    case .stall: return [note, .stall(timeoutNs: nil)]
    case .randomDataThenClose:
      let bytes = Garbage.bytes(EffectReading.garbageBytes, &draw)
      return [note, .step(.sendRaw(bytes)), .step(.finish(.close))]
    case .malformedResponseChunk:
      willSend(response)
      return [
        note, .step(.sendHead(response, .chunked)), .phase(.responseBody),
        .step(.sendRaw(Array("zz;no chunk\r\n".utf8))), .step(.finish(.close)),
      ]
    case .halfClose:
      willSend(response)
      let half = Array(response.body.prefix(response.body.count / 2))
      return [
        note, .step(.sendHead(response, .length(response.body.count))), .phase(.responseBody),
        .step(.sendBody(half)), .step(.finish(.halfClose)),
      ]
    }
  }

  // MARK: - Shared

  var draw: KeyedDraw {
    step?.draw
      ?? KeyedDraw(
        seed: plan.plan.seed, name: "", identity: UInt64(entry.context.connection),
        attempt: entry.context.indexOnConnection)
  }

  /// How long reading the body must have taken on a slow upstream, beyond what it took.
  func upstreamRest(_ bytesPerSecond: Int) -> Int64 {
    let due = Double(entry.request.body.count) / Double(bytesPerSecond) * 1e9
    return BatchEngine.sum(beganNs, due < 9e18 ? Int64(due) : .max)
  }

  func note(_ problem: Problem) {
    entry.problem = problem.kind
    report(.invalid(reason: problem.kind.rawValue))
  }

  func report(_ kind: @autoclosure () -> EngineEvent.Kind) {
    guard isHeard else { return }
    engine.hub.report(id, atNs: engine.clock.nowNs, kind())
  }
}

extension ExchangeEnding {
  /// The word in journal and events.
  var text: String {
    switch self {
    case .completed: return "completed"
    case .clientWentAway: return "client went away"
    case .clientDidNotRead: return "client did not read"
    case .incompleteRequest(let reason): return "incomplete request: \(reason)"
    case .serverStopped: return "server stopped"
    }
  }
}

extension CommitResult {
  /// The event that tells what became of each event.
  fileprivate var event: EngineEvent.Kind {
    func ids(_ wanted: CommitOutcome) -> [String] {
      outcomes.filter { $0.outcome == wanted }.map(\.key.text)
    }
    return .committed(
      stored: ids(.stored), duplicates: ids(.duplicate), conflicting: ids(.conflicting))
  }
}
