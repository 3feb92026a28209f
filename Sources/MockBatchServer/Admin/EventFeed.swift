import JSONText

/// The engine's events as server-sent events, for one client. A slow client loses the oldest, and
/// is told how many.
final class EventFeed: Sendable {
  private struct State {
    var lines: [[UInt8]] = []
    /// Of all lines together.
    var bytes = 0
    var dropped = 0
    var park: Park?
    var heartbeat: (any EngineTimer)?
    var isClosed = false
    /// Nothing more comes: what waits is sent, then the stream ends.
    var isEnding = false
  }
  private let engine: BatchEngine
  private let state = Guarded(State())
  private let listener = Guarded<Int?>(nil)

  /// Events kept for a client that reads slowly, and bytes of them: one event may name a thousand
  /// ids.
  static let maxWaiting = 1_000
  static let maxWaitingBytes = 4_000_000
  /// A comment goes out this often, so that a vanished client is noticed.
  private static let heartbeatNs: Int64 = 15_000_000_000
  static let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]

  init(engine: BatchEngine) {
    self.engine = engine
    add(Array(": listening\n\n".utf8))
    let id = engine.hub.add { [weak self] event in self?.add(EventFeed.line(event)) }
    listener.access { $0 = id }
    scheduleHeartbeat()
  }

  /// What there is to send; empties the queue. Nil behind the end.
  func take() -> [UInt8]? {
    state.access { state in
      if state.isEnding, state.lines.isEmpty, state.dropped == 0 { return nil }
      var bytes: [UInt8] = []
      if state.dropped > 0 {
        bytes += Array("event: dropped\ndata: {\"count\":\(state.dropped)}\n\n".utf8)
        state.dropped = 0
      }
      for line in state.lines { bytes += line }
      state.lines = []
      state.bytes = 0
      return bytes
    }
  }

  /// Ends when there is something to send.
  func park() -> Park {
    let park = Park(reason: "events")
    let isReady = state.access { state -> Bool in
      state.park = park
      return !state.lines.isEmpty || state.dropped > 0 || state.isEnding
    }
    if isReady { park.release() }
    return park
  }

  /// Ends the stream, because the server ends.
  func end() {
    let park = state.access { state -> Park? in
      state.isEnding = true
      defer { state.park = nil }
      return state.park
    }
    park?.release()
  }

  func close() {
    let (id, timer) = state.access { state -> (Int?, (any EngineTimer)?) in
      defer { state = State(isClosed: true) }
      return (listener.access { $0 }, state.heartbeat)
    }
    timer?.cancel()
    if let id { engine.hub.remove(id) }
  }

  private func add(_ line: [UInt8]) {
    let park = state.access { state -> Park? in
      guard !state.isClosed else { return nil }
      while let oldest = state.lines.first,
        state.lines.count >= EventFeed.maxWaiting
          || state.bytes + line.count > EventFeed.maxWaitingBytes
      {
        state.lines.removeFirst()
        state.bytes -= oldest.count
        state.dropped += 1
      }
      state.lines.append(line)
      state.bytes += line.count
      defer { state.park = nil }
      return state.park
    }
    park?.release()
  }

  private func scheduleHeartbeat() {
    let due = BatchEngine.sum(engine.clock.nowNs, EventFeed.heartbeatNs)
    let timer = engine.clock.schedule(atNs: due) { [weak self] in
      guard let self, !self.state.access({ $0.isClosed }) else { return }
      self.add(Array(": heartbeat\n\n".utf8))
      self.scheduleHeartbeat()
    }
    state.access { if !$0.isClosed { $0.heartbeat = timer } }
  }

  private static func line(_ event: EngineEvent) -> [UInt8] {
    let (name, details) = event.kind.described
    var members: JSONObject = [
      "atNs": .number(JSONNumber(event.atNs)), "request": .number(event.request),
    ]
    for (key, value) in details { members[key] = value }
    var bytes = Array("id: \(event.sequence)\nevent: \(name)\ndata: ".utf8)
    JSONWriter.append(.object(members), to: &bytes)
    bytes += [0x0a, 0x0a]
    return bytes
  }
}

extension EngineEvent.Kind {
  /// The event's name and its details, for the stream and the log.
  package var described: (name: String, details: JSONObject) {
    func strings(_ list: [String]) -> JSONValue { .array(list.map(JSONValue.string)) }
    func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
    switch self {
    case .requestStarted(let method, let path, let connection, let incarnation):
      return (
        "requestStarted",
        [
          "method": .string(method), "path": .string(path), "connection": .number(connection),
          "incarnation": optional(incarnation),
        ]
      )
    case .identified(let ids, let attempt):
      return ("identified", ["ids": strings(ids), "attempt": .number(attempt)])
    case .phase(let phase): return ("phase", ["phase": .string(phase.rawValue)])
    case .ruleApplied(let rule, let response):
      return ("ruleApplied", ["rule": .string(rule), "response": .number(response)])
    case .faultApplied(let name): return ("faultApplied", ["name": .string(name)])
    case .gateHeld(let name): return ("gateHeld", ["name": .string(name)])
    case .gateChanged(let name, let isOpen):
      return ("gateChanged", ["name": .string(name), "state": isOpen ? "open" : "held"])
    case .delayed(let untilNs):
      return ("delayed", ["untilNs": .number(JSONNumber(untilNs))])
    case .committed(let stored, let duplicates, let conflicting):
      return (
        "committed",
        [
          "stored": strings(stored), "duplicates": strings(duplicates),
          "conflicting": strings(conflicting),
        ]
      )
    case .invalid(let reason): return ("invalid", ["reason": .string(reason)])
    case .responded(let status, let retryAfter, let date):
      return (
        "responded",
        [
          "status": .number(status), "retryAfter": optional(retryAfter), "date": optional(date),
        ]
      )
    case .finished(let bytesSent, let ending):
      return ("finished", ["bytesSent": .number(bytesSent), "ending": .string(ending)])
    case .listener(let state): return ("listener", ["state": .string(state.rawValue)])
    case .planActivated: return ("planActivated", [:])
    }
  }
}
