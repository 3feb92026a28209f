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

  /// What counts of an exchange that ended.
  struct End {
    /// Nil where nothing was answered.
    var status: Int?
    var isComplete: Bool
    var effects: [String]
    var problem: ProblemKind?
    var receivedBytes: Int
    var sentBytes: Int
  }

  mutating func note(_ end: End) {
    if let status = end.status {
      requestsByStatus[status, default: 0] += 1
    } else {
      unanswered += 1
    }
    if !end.isComplete { incomplete += 1 }
    for fault in end.effects { faults[fault, default: 0] += 1 }
    if let problem = end.problem { problems[problem, default: 0] += 1 }
    receivedBytes += end.receivedBytes
    sentBytes += end.sentBytes
  }
}
