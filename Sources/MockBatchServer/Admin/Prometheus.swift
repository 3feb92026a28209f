/// The server's figures in Prometheus' text format.
struct Prometheus {
  private(set) var text = ""

  static func text(of engine: BatchEngine) -> String {
    var page = Prometheus()
    let metrics = engine.metrics.access { $0 }
    let counts = engine.ledger.counts
    page.counter("connections_total", "Connections accepted.", metrics.connections)
    page.gauge("connections_open", "Connections open now.", metrics.openConnections)
    page.family(
      "requests_total", "counter", "Requests by the status of their answer.",
      metrics.requestsByStatus.sorted { $0.key < $1.key }.map { ("status", "\($0.key)", $0.value) })
    page.counter("requests_unanswered_total", "Requests without an answer.", metrics.unanswered)
    page.counter("requests_incomplete_total", "Requests that never came whole.", metrics.incomplete)
    page.family(
      "faults_total", "counter", "Faults, effects and toxics that took hold.",
      metrics.faults.sorted { $0.key < $1.key }.map { ("name", $0.key, $0.value) })
    page.family(
      "problems_total", "counter", "Refusals by the contract.",
      metrics.problems.sorted { $0.key.rawValue < $1.key.rawValue }
        .map { ("type", $0.key.rawValue, $0.value) })
    page.family(
      "rule_applied_total", "counter", "How often each rule of the plan was applied.",
      engine.appliedRules.map { ("rule", $0.rule, $0.times) })
    page.counter("received_bytes_total", "Bytes of requests.", metrics.receivedBytes)
    page.counter("sent_bytes_total", "Bytes of answers.", metrics.sentBytes)
    for (name, value) in counts.named {
      page.gauge("ledger_\(Prometheus.snake(name))", "The ledger's \(name).", value)
    }
    page.gauge("journal_dropped", "Journal entries that made room.", engine.journal.dropped)
    page.family(
      "gate_waiting", "gauge", "Requests that wait at a gate.",
      engine.gates.all().map { ("gate", $0.name, $0.waiting) })
    return page.text
  }

  private mutating func counter(_ name: String, _ about: String, _ value: Int) {
    head(name, "counter", about)
    text += "mock_batch_server_\(name) \(value)\n"
  }

  private mutating func gauge(_ name: String, _ about: String, _ value: Int) {
    head(name, "gauge", about)
    text += "mock_batch_server_\(name) \(value)\n"
  }

  private mutating func family(
    _ name: String, _ kind: String, _ about: String, _ rows: [(String, String, Int)]
  ) {
    head(name, kind, about)
    for (label, value, number) in rows {
      text += "mock_batch_server_\(name){\(label)=\"\(Prometheus.escaped(value))\"} \(number)\n"
    }
  }

  private mutating func head(_ name: String, _ kind: String, _ about: String) {
    text += "# HELP mock_batch_server_\(name) \(about)\n# TYPE mock_batch_server_\(name) \(kind)\n"
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func snake(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
  }
}
