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
    let end = EngineMetrics.End(
      status: status, isComplete: false, effects: [], problem: nil, receivedBytes: bytes.count,
      sentBytes: 0)
    metrics.access { $0.note(end) }
    report(entry.id, .invalid(reason: reason))
  }

  /// Bytes of a refused head that the journal keeps.
  private static let keptRefusedBytes = 8_192
}
