/// Steps in words, for histories and reports.
enum StepWords {
  static func words(_ action: StepAction) -> String {
    switch action {
    case .record(let record):
      let spread = record.everyNs > 0 ? " every \(Quantity.text(durationNs: record.everyNs))" : ""
      return "record \(record.count) \"\(record.name)\"\(spread)"
    case .app(let foreground): return foreground ? "to foreground" : "to background"
    case .backgroundTask(let granted):
      return granted ? "background task granted" : "background time taken back"
    case .flush(let timeout): return "flush within \(Quantity.text(durationNs: timeout))"
    case .deviceToken(let token): return "device token \(token.value ?? "none")"
    case .key(let change): return "key \(change.rawValue)"
    case .newSession: return "new session"
    case .consent(let given): return given ? "consent given" : "consent withdrawn"
    case .purge: return "purge"
    case .quarantine(let requeue): return requeue ? "requeue quarantine" : "clear quarantine"
    case .network(let state, _): return "network \(state.rawValue)"
    case .lowPower(let on): return on ? "low power on" : "low power off"
    case .wallJump(let ns): return "wall clock jumps \(Quantity.text(durationNs: ns))"
    case .disk(let state): return "disk \(state.rawValue)"
    case .database(let change): return "database \(change.rawValue)"
    default: return serverWords(action)
    }
  }

  private static func serverWords(_ action: StepAction) -> String {
    switch action {
    case .kill: return "SIGKILL"
    case .restart: return "restart"
    case .reboot: return "power loss"
    case .serverToken(let accept, _, let expire):
      return [accept.map { "server accepts \($0)" }, expire.map { "server refuses \($0)" }]
        .compactMap { $0 }.joined(separator: ", ")
    case .serverRestart: return "server restarts"
    case .gate(let name, let open): return "gate \(name) \(open ? "opens" : "holds")"
    case .expect(let list): return "expect \(list.map(\.key).joined(separator: ", "))"
    default: return ""
    }
  }
}
