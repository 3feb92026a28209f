import JSONText
import MockBatchServer

/// Turns what passes between device and server into history, and feeds the triggers.
///
/// Thread safe: called on the performers' threads.
final class ServerWitness: Sendable {
  private struct State {
    var arrivals: Int64 = 0
    var ordinals: [Int: Int64] = [:]
    var attempts: [[String]: Int] = [:]
    var tokens: [String: Int] = [:]
    var accounts: [String: String] = [:]
    var overheard: Set<String> = []
  }
  private let state = Guarded(State())
  private let history: HistoryRecorder
  private let triggers: TriggerBoard

  init(history: HistoryRecorder, triggers: TriggerBoard) {
    self.history = history
    self.triggers = triggers
  }

  /// Whose the tokens are, so that arrivals can be told apart by account.
  func setAccounts(_ accounts: [String: String]) { state.withLock { $0.accounts = accounts } }

  /// Types, sessions and times that went over the wire since the last call: nobody may read them
  /// in the device's files. Sorted, so that searches for them repeat.
  func takeOverheard() -> [String] {
    state.withLock { state in
      defer { state.overheard = [] }
      return state.overheard.sorted()
    }
  }

  var requests: Int64 { state.withLock { $0.arrivals } }

  /// What the engine is to do with a request in that phase; asked after the phase was told.
  func order(_ request: Int, _ phase: Phase) -> PhaseOrder {
    guard let number = state.withLock({ $0.ordinals[request] }) else { return .goOn }
    return triggers.order(of: number, in: phase)
  }

  // MARK: From the engine

  func engine(_ event: EngineEvent) {
    switch event.kind {
    case .requestStarted(let method, let path, _, _):
      guard method == "POST", path == ServerRig.path else { return }
      state.withLock { state in
        state.arrivals += 1
        state.ordinals[event.request] = state.arrivals
      }
    case .phase(let phase):
      let number = state.withLock { $0.ordinals[event.request] }
      if let number { triggers.phase(phase, ofRequest: number) }
    case .gateHeld(let name) where TriggerBoard.owns(gate: name): return
    case .gateChanged(let name, _) where TriggerBoard.owns(gate: name): return
    case .gateHeld(let name):
      history.append(.note("request \(event.request) is held at the gate \(name)"))
      triggers.gateReached(name)
    case .gateChanged(let name, let isOpen):
      history.append(.condition(name: "gate \(name)", value: isOpen ? "open" : "held"))
    case .ruleApplied(let rule, let response):
      history.append(
        .faultApplied(rule: rule, response: response, what: "", request: event.request))
    case .faultApplied(let what) where what.hasPrefix("toxic "):
      history.append(.faultApplied(rule: what, response: 0, what: what, request: event.request))
    case .faultApplied(let what):
      history.append(.note("request \(event.request): \(what)"))
    case .committed(let stored, let duplicates, let conflicting):
      history.append(
        .committed(
          request: event.request,
          Commit(stored: stored, duplicates: duplicates, conflicting: conflicting)))
    case .listener(let state):
      history.append(.condition(name: "listener", value: state.rawValue))
    case .identified, .delayed, .invalid, .responded, .finished, .planActivated: return
    }
  }

  // MARK: From the onlooker

  func sighted(_ sighting: RequestSighting) {
    // The portal stands before the server: its requests never reached it.
    guard sighting.request != 0 else {
      if case .answered(let response) = sighting.kind {
        history.append(.note("the captive portal answered \(sighting.name): \(response.status)"))
      }
      return
    }
    switch sighting.kind {
    case .arrived(let head, let context): arrived(sighting, head, context)
    case .body(let bytes): identified(sighting.request, bytes)
    case .answered(let response): answered(sighting.request, response)
    case .ended(let ending, let how):
      history.append(
        .ended(request: sighting.request, how: ServerWitness.name(ending, how)))
    }
  }

  private func arrived(
    _ sighting: RequestSighting, _ head: HTTPRequest, _ context: RequestContext
  ) {
    let token = head.headers["Authorization"].map { $0.replacingPrefix("Bearer ") } ?? ""
    let (account, tokenNumber) = state.withLock { state -> (String?, Int) in
      guard !token.isEmpty else { return (nil, 0) }
      let number = state.tokens[token] ?? state.tokens.count + 1
      state.tokens[token] = number
      return (state.accounts[token], number)
    }
    let (incarnation, number) = RequestName.parts(sighting.name)
    history.append(
      .arrived(
        request: sighting.request,
        Arrival(
          method: head.method, path: head.path, connection: context.connection,
          incarnation: incarnation, number: number, token: tokenNumber, account: account)))
  }

  private func identified(_ request: Int, _ bytes: [UInt8]) {
    guard let batch = BatchBody(bytes), !batch.ids.isEmpty else { return }
    let ids = batch.ids
    let attempt = state.withLock { state -> Int in
      state.overheard.formUnion(batch.texts)
      let key = ids.sorted()
      let attempt = (state.attempts[key] ?? 0) + 1
      state.attempts[key] = attempt
      return attempt
    }
    history.append(
      .identified(request: request, attempt: attempt, ids: ids, contents: batch.contents))
  }

  private func answered(_ request: Int, _ response: HTTPResponse) {
    history.append(
      .answered(
        request: request,
        Answer(
          status: response.status, retryAfter: response.headers["Retry-After"],
          date: response.headers["Date"], contentType: response.headers["Content-Type"],
          rejected: BatchBody.rejected(in: response.body))))
  }

  private static func name(_ ending: ExchangeEnding, _ how: String) -> String {
    switch ending {
    case .completed: return how
    case .clientWentAway: return "clientWentAway"
    case .clientDidNotRead: return "clientDidNotRead"
    case .incompleteRequest(let why): return "incomplete: \(why)"
    case .serverStopped: return "serverStopped"
    }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
  }
}
