/// Counters for Prometheus. Only ever rising, except by `reset` of the whole server.
struct EngineMetrics: Sendable {
  var connections = 0
  var openConnections = 0
  var requestsByStatus: [Int: Int] = [:]
  var unanswered = 0
  var incomplete = 0
  var faults: [String: Int] = [:]
  var problems: [ProblemKind: Int] = [:]
  var receivedBytes = 0
  var sentBytes = 0

  mutating func ended(_ entry: JournalEntry, wasResponded: Bool) {
    if let status = entry.response?.status, wasResponded {
      requestsByStatus[status, default: 0] += 1
    } else {
      unanswered += 1
    }
    if !entry.isComplete { incomplete += 1 }
    for fault in entry.effects { faults[fault, default: 0] += 1 }
    if let problem = entry.problem { problems[problem, default: 0] += 1 }
    receivedBytes += entry.request.wireBytes
    sentBytes += entry.bytesSent
  }
}
