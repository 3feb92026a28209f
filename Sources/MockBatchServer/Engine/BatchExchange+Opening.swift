/// What the plan does to a connection. It happens when a request to the contract has shown itself,
/// for only then it is known that the connection is not the admin's; a client cannot tell the
/// difference, because HTTP's clients speak first.
extension BatchExchange {
  /// The connection's toxics, and the effects at `accept` that its first request meets.
  func openingActions() -> [ExchangeAction] {
    guard !plan.hasNoFaults || plan.limitsReading else { return [] }
    var actions = connectionActions()
    guard entry.context.indexOnConnection == 0, plan.rules.hasEarlyRules else { return actions }
    let key = RuleBook.Key(identity: UInt64(entry.context.connection), attempt: 0)
    let step = plan.rules.take(
      at: .accept, sinceActivationNs: engine.clock.nowNs - plan.activatedNs, key: key
    ) { _ in true }
    guard let step else { return actions }
    apply(step)
    var draw = self.draw
    actions += step.response.effects.filter { $0.at == .accept }.flatMap { $0.actions(&draw) }
    return actions
  }

  /// Draws for the connection where the plan is new to it.
  private func connectionActions() -> [ExchangeAction] {
    let id = entry.context.connection
    var connection = engine.connections.find(id) ?? ConnectionTable.Connection()
    defer { self.connection = connection }
    guard connection.plan != plan.number else { return [] }
    connection.plan = plan.number
    connection.toxics = plan.toxics(of: id)
    let upstream = StreamLimits(toxics: connection.toxics)
    let isChanged = upstream != connection.upstream
    connection.upstream = upstream
    engine.connections.put(id, connection)
    var actions: [ExchangeAction] = isChanged ? [.step(.limitReading(upstream))] : []
    for toxic in connection.toxics where toxic.type == .timeout || toxic.type == .resetPeer {
      actions += [
        .note("toxic \(toxic.name)"), .wait(Toxic.milliseconds(toxic.attributes["timeout"])),
        .step(.finish(toxic.type == .timeout ? .close : .reset)),
      ]
    }
    return actions
  }

  /// A `limit_data` of the upstream takes effect where the reader closes because of it.
  func noteReadingLimit(_ why: String) {
    guard let toxic = connection?.readingLimit(why) else { return }
    entry.effects.append("toxic \(toxic.name)")
    report(.faultApplied("toxic \(toxic.name)"))
  }
}

extension ConnectionTable.Connection {
  /// The `limit_data` of the upstream that closed the connection for this reason.
  func readingLimit(_ why: String) -> Toxic? {
    toxics.last {
      $0.isUpstream && $0.type == .limitData
        && StreamLimits.closingReason(bytes: $0.attributes["bytes"] ?? 0) == why
    }
  }
}

extension StreamLimits {
  /// The limits on reading that toxics make together.
  init(toxics: [Toxic]) {
    self.init()
    for toxic in toxics where toxic.isUpstream {
      switch toxic.type {
      case .bandwidth: bytesPerSecond = toxic.bytesPerSecond
      case .limitData: closeAfterBytes = toxic.attributes["bytes"]
      default: break
      }
    }
  }
}

extension Toxic {
  /// The rate of a `bandwidth`; saturating.
  var bytesPerSecond: Int {
    let rate = max(1, attributes["rate"] ?? 1).multipliedReportingOverflow(by: 1_000)
    return rate.overflow ? .max : rate.partialValue
  }

  static func milliseconds(_ value: Int?) -> Int64 {
    let ns = Int64(value ?? 0).multipliedReportingOverflow(by: 1_000_000)
    return ns.overflow ? .max : ns.partialValue
  }

  /// Latency with its jitter, one draw.
  func latencyNs(_ draw: inout KeyedDraw) -> Int64 {
    let base = Toxic.milliseconds(attributes["latency"])
    let jitter = Double(Toxic.milliseconds(attributes["jitter"]))
    return max(0, base + Int64(jitter * (draw.fraction() * 2 - 1)))
  }
}
