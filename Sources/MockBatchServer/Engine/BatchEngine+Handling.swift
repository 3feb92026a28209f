extension BatchEngine: ExchangeHandler {
  package func connectionOpened(_ connection: Int, peer: String) {
    metrics.access {
      $0.connections += 1
      $0.openConnections += 1
    }
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
    let entry = openEntry(of: bytes, context) {
      $0.response = HTTPResponse(status: status)
      $0.ending = "refused: \(reason)"
    }
    let end = EngineMetrics.End(
      status: status, isComplete: false, effects: [], problem: nil, receivedBytes: bytes.count,
      sentBytes: 0)
    metrics.access { $0.note(end) }
    report(entry.id, .invalid(reason: reason))
  }

  package func cut(_ bytes: [UInt8], reason: String, context: RequestContext) {
    guard let toxic = connections.find(context.connection)?.readingLimit(reason) else { return }
    let fault = "toxic \(toxic.name)"
    guard !bytes.isEmpty else {
      // Nobody had begun to ask: it happened to the connection alone.
      metrics.access { $0.faults[fault, default: 0] += 1 }
      report(0, .faultApplied(fault))
      return
    }
    let entry = openEntry(of: bytes, context) {
      $0.effects = [fault]
      $0.ending = ExchangeEnding.incompleteRequest(reason).text
    }
    let end = EngineMetrics.End(
      status: nil, isComplete: false, effects: entry.effects, problem: nil,
      receivedBytes: bytes.count, sentBytes: 0)
    metrics.access { $0.note(end) }
    report(entry.id, .faultApplied(fault))
  }

  /// A finished entry of what was no request: its bytes are kept as the body of one without a
  /// method.
  private func openEntry(
    of bytes: [UInt8], _ context: RequestContext, _ fill: (inout JournalEntry) -> Void
  ) -> JournalEntry {
    let now = clock.nowNs
    let wallMs = clock.wallMs
    let request = HTTPRequest(
      method: "", target: "", body: Array(bytes.prefix(BatchEngine.keptRefusedBytes)),
      wireBytes: bytes.count)
    return journal.open { id in
      var entry = JournalEntry(
        id: id, atNs: now, wallMs: wallMs, context: context, request: request)
      entry.endedNs = now
      fill(&entry)
      return entry
    }
  }

  /// Bytes of a refused head that the journal keeps.
  private static let keptRefusedBytes = 8_192
}
