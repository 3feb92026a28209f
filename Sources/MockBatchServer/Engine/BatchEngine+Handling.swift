extension BatchEngine: ExchangeHandler {
  package func connectionOpened(_ connection: Int, peer: String) -> ConnectionPlan {
    metrics.access {
      $0.connections += 1
      $0.openConnections += 1
    }
    let plan = current
    guard !plan.hasNoFaults else { return .open }
    var state = ConnectionTable.Connection()
    state.toxics = plan.plan.toxics.filter { toxic in
      var draw = KeyedDraw(
        seed: plan.plan.seed, name: toxic.name, identity: UInt64(connection), attempt: 0)
      return toxic.toxicity >= 1 || draw.fraction() < toxic.toxicity
    }
    if plan.rules.hasEarlyRules {
      state.pending = plan.rules.take(
        at: .accept, sinceActivationNs: clock.nowNs - plan.activatedNs,
        key: RuleBook.Key(identity: UInt64(connection), attempt: 0), matches: { _ in true })
    }
    var result = ConnectionPlan.open
    for toxic in state.toxics { shape(&result, toxic) }
    if let step = state.pending {
      report(0, .ruleApplied(rule: step.rule.id, response: step.responseIndex))
      var draw = step.draw
      let effects = step.response.effects.filter { $0.at == .accept }
      result.steps += effects.flatMap { $0.actions(&draw) }.compactMap(acceptStep)
    }
    connections.put(connection, state)
    return result
  }

  package func connectionClosed(_ connection: Int) {
    metrics.access { $0.openConnections -= 1 }
    connections.remove(connection)
  }

  package func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange {
    let exchange = BatchExchange(engine: self, plan: current, head: head, context: context)
    exchange.begin()
    return exchange
  }

  package func refused(
    _ bytes: [UInt8], status: Int, reason: String, context: RequestContext
  ) {
    let now = clock.nowNs
    let wallMs = clock.wallMs
    // What was no request is kept as the body of one without a method.
    let request = HTTPRequest(
      method: "", target: "", body: Array(bytes.prefix(BatchEngine.keptRefusedBytes)),
      wireBytes: bytes.count)
    let entry = journal.open { id in
      var entry = JournalEntry(
        id: id, atNs: now, wallMs: wallMs, context: context, request: request)
      entry.response = HTTPResponse(status: status)
      entry.endedNs = now
      entry.ending = "refused: \(reason)"
      return entry
    }
    metrics.access { $0.ended(entry, wasResponded: true) }
    report(entry.id, .invalid(reason: reason))
  }

  /// Bytes of a refused head that the journal keeps.
  private static let keptRefusedBytes = 8_192

  private func shape(_ plan: inout ConnectionPlan, _ toxic: Toxic) {
    let name = "toxic \(toxic.name)"
    switch toxic.type {
    case .timeout, .resetPeer:
      report(0, .faultApplied(name))
      let park = self.park(Toxic.milliseconds(toxic.attributes["timeout"]))
      plan.steps += [.park(park), .finish(toxic.type == .timeout ? .close : .reset)]
    case .bandwidth where toxic.isUpstream:
      let rate = (toxic.attributes["rate"] ?? 1).multipliedReportingOverflow(by: 1_000)
      plan.upstream.bytesPerSecond = rate.overflow ? nil : rate.partialValue
    case .limitData where toxic.isUpstream:
      plan.upstream.closeAfterBytes = toxic.attributes["bytes"]
    default: break
    }
  }

  private func park(_ duration: Int64) -> Park {
    let due = BatchEngine.sum(clock.nowNs, duration)
    let park = Park(reason: "delay until \(due)")
    _ = clock.schedule(atNs: due) { park.release() }
    return park
  }

  private func acceptStep(_ action: ExchangeAction) -> ExchangeStep? {
    switch action {
    case .wait(let duration): return .park(park(duration))
    case .gate(let name, let timeoutNs):
      let gate = gates.wait(at: name)
      if let timeoutNs {
        _ = clock.schedule(atNs: BatchEngine.sum(clock.nowNs, timeoutNs)) { gate.release() }
      }
      if !gate.isReady { report(0, .gateHeld(name)) }
      return .park(gate)
    case .step(let step): return step
    case .stall(let timeoutNs): return .finish(.stall(timeoutNs.map(park)))
    case .note(let name):
      report(0, .faultApplied(name))
      return nil
    default: return nil
    }
  }
}
