/// What happens when a head, and later a body, has come.
extension BatchExchange {
  /// The head has come.
  func begin() {
    let path = entry.request.path
    report(
      .requestStarted(
        method: entry.request.method, path: path, connection: entry.context.connection,
        incarnation: entry.request.headers[BatchEngine.incarnationHeader]))
    route = engine.routes.first { $0.accepts(path: path) }
    entry.route = route?.name ?? ""
    var opening = openingActions()
    if entry.context.indexOnConnection == 0 {
      if engine.phaseOrders == nil {
        report(.phase(.accept))
      } else {
        opening.insert(.phase(.accept), at: 0)
      }
    }
    if step == nil { takeEarlyStep() }
    if step == nil, opening.isEmpty, entry.request.headers.contains("expect"),
      let problem = headProblem() ?? lengthProblem()
    {
      // The client waits with its body: it need not send it.
      report(.phase(.requestHead))
      refuse(problem)
      return
    }
    let readBody = ExchangeAction.step(.readBody(limit: plan.contract.rules.maxWireBytes))
    guard step != nil || !opening.isEmpty || engine.phaseOrders != nil else {
      report(.phase(.requestHead))
      return start([readBody])
    }
    var draw = self.draw
    let effects = step?.response.effects.filter { $0.at == .requestHead } ?? []
    start(opening + [.phase(.requestHead)] + effects.flatMap { $0.actions(&draw) } + [readBody])
  }

  private func takeEarlyStep() {
    guard plan.rules.hasEarlyRules else { return }
    let view = RequestView(
      request: entry.request, context: entry.context, attempt: nil, decodedBody: { nil })
    let key = RuleBook.Key(identity: requestIdentity, attempt: id)
    let step = plan.rules.take(
      at: .requestHead, sinceActivationNs: engine.clock.nowNs - plan.activatedNs, key: key
    ) { $0.pattern.matches(view) }
    noteGivenUp(view)
    if let step { apply(step) }
  }

  /// The body has come: read it, take the plan's step, write the script.
  func read() {
    let problem = self.problem ?? headOrBodyProblem()
    self.problem = problem
    let identity = prepared?.identity ?? requestIdentity
    entry.attempt = engine.attempts.access { $0.next(identity) }
    entry.events = prepared?.eventCount ?? 0
    entry.account = prepared?.account
    report(.identified(ids: prepared?.keys().map(\.text) ?? [], attempt: entry.attempt))
    if let problem {
      note(problem)
      if route is BatchRoute, problem.kind != .methodNotAllowed { engine.ledger.noteInvalid() }
    }
    if step == nil, !plan.hasNoFaults { takeStep(identity) }
    engine.watchers.note(engine.journal.noteComplete())
    writeScript()
  }

  private func takeStep(_ identity: UInt64) {
    let contract = plan.contract
    let request = entry.request
    let view = RequestView(
      request: request, context: entry.context, attempt: entry.attempt,
      // What cannot be decompressed has no body to match; the contract tells why.
      decodedBody: { try? contract.text(of: request) })
    let key = RuleBook.Key(identity: identity, attempt: entry.attempt)
    let now = engine.clock.nowNs - plan.activatedNs
    let step = plan.rules.take(at: .requestBody, sinceActivationNs: now, key: key) {
      $0.pattern.matches(view)
    }
    noteGivenUp(view)
    if let step { apply(step) }
  }

  /// A pattern that is too costly matches nothing; the journal tells.
  private func noteGivenUp(_ view: RequestView) {
    if let givenUp = view.givenUp { entry.givenUp = givenUp.rawValue }
  }

  func apply(_ step: RuleBook.Step) {
    self.step = step
    entry.rule = step.rule.id
    entry.ruleResponse = step.responseIndex
    report(.ruleApplied(rule: step.rule.id, response: step.responseIndex))
  }

  /// Without faults.
  private static let plainScript: [ExchangeAction] = [
    .phase(.requestBody), .commit, .phase(.committed), .phase(.responseHead), .answer,
    .phase(.responseEnd),
  ]

  private func writeScript() {
    guard !plan.hasNoFaults else {
      start(BatchExchange.plainScript)
      return
    }
    var draw = self.draw
    let response = step?.response
    func effects(_ phase: Phase) -> [ExchangeAction] {
      (response?.effects ?? []).filter { $0.at == phase }.flatMap { $0.actions(&draw) }
    }
    var script: [ExchangeAction] = [.phase(.requestBody)] + upstreamActions(&draw)
    script += effects(.requestBody) + [.commit, .phase(.committed)] + effects(.committed)
    if let delay = response?.delay { script += [.note("delay"), .wait(delay.nanoseconds(&draw))] }
    script += downstreamActions(&draw)
    script += [.phase(.responseHead)] + effects(.responseHead) + [.answer, .phase(.responseEnd)]
    script += effects(.responseEnd)
    for toxic in connection?.toxics ?? [] where toxic.type == .slowClose {
      script += [
        .note("toxic \(toxic.name)"), .wait(Toxic.milliseconds(toxic.attributes["delay"])),
        .step(.finish(.close)),
      ]
    }
    start(script)
  }

  private func upstreamActions(_ draw: inout KeyedDraw) -> [ExchangeAction] {
    (connection?.toxics ?? []).filter(\.isUpstream).flatMap { toxic -> [ExchangeAction] in
      switch toxic.type {
      case .latency: return [.note("toxic \(toxic.name)"), .wait(toxic.latencyNs(&draw))]
      case .bandwidth:
        return [
          .note("toxic \(toxic.name)"), .waitUntil(upstreamRest(toxic.bytesPerSecond)),
        ]
      default: return []
      }
    }
  }

  private func downstreamActions(_ draw: inout KeyedDraw) -> [ExchangeAction] {
    (connection?.toxics ?? []).filter { !$0.isUpstream && $0.type == .latency }.flatMap {
      [.note("toxic \($0.name)"), .wait($0.latencyNs(&draw))]
    }
  }

  // MARK: - Contract

  private var time: RouteTime {
    RouteTime(
      sinceActivationNs: engine.clock.nowNs - plan.activatedNs, wallMs: engine.clock.wallMs)
  }

  private func headProblem() -> Problem? {
    if let problem = routeProblem() { return problem }
    return caught { try route?.checkHead(entry.request, contract: plan.contract, time: time) }
  }

  /// A length that is told and too much. One that is told wrongly does not come here.
  private func lengthProblem() -> Problem? {
    let most = plan.contract.rules.maxWireBytes
    guard let text = entry.request.headers["content-length"], let length = Int(text), length > most
    else { return nil }
    return Problem(.bodyTooLarge, "more than \(most) bytes were announced")
  }

  private func headOrBodyProblem() -> Problem? {
    if let problem = routeProblem() { return problem }
    if entry.request.method == "OPTIONS" {
      let headers = route.map { [("Allow", $0.allow)] } ?? []
      prepared = PreparedRequest(identity: requestIdentity) { _, _ in
        CommitAnswer(result: CommitResult(), status: 204, headers: headers, body: [])
      }
      return nil
    }
    guard let route else { return nil }
    return caught {
      prepared = try route.prepare(entry.request, contract: plan.contract, time: time)
    }
  }

  private func routeProblem() -> Problem? {
    guard let route else {
      // `OPTIONS *` asks the server as a whole (RFC 9110, section 9.3.7).
      let isForTheServer = entry.request.target == "*"
      return isForTheServer ? nil : Problem(.notFound, "no endpoint has this path")
    }
    let method = entry.request.method
    guard method == "OPTIONS" || route.methods.contains(method) else {
      var problem = Problem(.methodNotAllowed, "the endpoint takes \(route.allow)")
      problem.allow = route.methods + ["OPTIONS"]
      return problem
    }
    return nil
  }

  private func caught(_ body: () throws -> Void) -> Problem? {
    do {
      try body()
      return nil
    } catch let problem as Problem {
      return problem
    } catch {
      return Problem(.ledgerFailed, "\(error)")
    }
  }

  private var requestIdentity: UInt64 {
    KeyedDraw.hash(entry.request.method + " " + entry.request.target)
  }
}

extension Route {
  /// The value of `Allow`.
  var allow: String { (methods + ["OPTIONS"]).joined(separator: ", ") }
}
