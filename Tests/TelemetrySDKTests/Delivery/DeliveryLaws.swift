@testable import TelemetrySDK

/// What delivery must never do, kept apart from how the engine decides.
struct DeliveryLaws {
  /// A body that came back, and what may excuse sending it again at once.
  struct Failure {
    let body: Set<Int64>
    let token: String
    let at: Moment
    let status: Int?
    var mayRetryQuickly: Bool
    var wasFlushed = false
    var wasRestored = false
  }

  var broken: [DeliveryLaw] = []
  /// The server's wish, and the pause that refusals earn.
  var gate: Moment?
  var pause: Moment?
  var refusedInRow = 0
  var countsRefusals = true
  /// Bodies with a final 4xx; (body, token) pairs with a 401.
  var final: Set<Set<Int64>> = []
  var unauthorized: Set<Pair> = []
  var acknowledged: Set<Int64> = []
  /// How the last request of a batch was answered.
  var answers: [UInt64: Int] = [:]
  var failure: Failure?

  struct Pair: Hashable {
    let body: Set<Int64>
    let token: String
  }

  static let baseMs: Int64 = 2_000

  mutating func saw(_ input: DeliveryInput, at now: Moment) {
    switch input {
    case .flushAsked: failure?.wasFlushed = true
    case .foreground, .pathChanged: failure?.wasRestored = true
    default: break
    }
  }

  mutating func sends(_ rows: [EngineWorld.Row], token: String, at now: Moment) {
    let body = Set(rows.map(\.sequence))
    if let gate, now < gate { broken.append(.requestBeforeGate) }
    if let pause, now < pause { broken.append(.requestInPause) }
    if final.contains(body) { broken.append(.resentAfterFinal) }
    if unauthorized.contains(Pair(body: body, token: token)) {
      broken.append(.resentWithRefusedToken)
    }
    if !acknowledged.isDisjoint(with: body) { broken.append(.resentAfterAcknowledgement) }
    checkResend(body, token, now)
    failure = nil
  }

  private mutating func checkResend(_ body: Set<Int64>, _ token: String, _ now: Moment) {
    guard let failure, failure.body == body else { return }
    let waitedMs = now.milliseconds(since: failure.at)
    let isExcused =
      failure.mayRetryQuickly || failure.wasFlushed
      || (failure.status == 401 && failure.token != token)
      || (failure.status == nil && failure.wasRestored)
    if waitedMs < DeliveryLaws.baseMs, !isExcused {
      broken.append(.resentAtOnce)
    }
  }

  /// The world answers a request.
  mutating func answers(_ request: EngineWorld.Request, _ outcome: UploadOutcome, at now: Moment) {
    let body = Set(request.rows.map(\.sequence))
    var failure = Failure(
      body: body, token: request.token, at: now, status: nil, mayRetryQuickly: false)
    switch outcome {
    case .failed(_, let lostReused): failure.mayRetryQuickly = lostReused
    case .answered(let facts):
      answers[request.batch] = facts.status
      if (200...299).contains(facts.status), !facts.isHTML { return accepted(body) }
      failure = Failure(
        body: body, token: request.token, at: now, status: facts.status, mayRetryQuickly: false)
      learn(facts, request, body, now)
    }
    self.failure = failure
  }

  private mutating func accepted(_ body: Set<Int64>) {
    acknowledged.formUnion(body)
    gate = nil
    pause = nil
    refusedInRow = 0
    failure = nil
  }

  private mutating func learn(
    _ facts: AnswerFacts, _ request: EngineWorld.Request, _ body: Set<Int64>, _ now: Moment
  ) {
    switch facts.status {
    case 401: unauthorized.insert(Pair(body: body, token: request.token))
    case 429, 500...510, 512...599:
      if let text = facts.retryAfter.first, let seconds = Int64(text), seconds > 0 {
        gate = now.adding(milliseconds: min(seconds, 86_400) * 1_000)
      }
    case 400...499:
      final.insert(body)
      guard countsRefusals, facts.status != 413 || body.count == 1 else { return }
      refusedInRow += 1
      guard refusedInRow >= 3 else { return }
      let doublings = min(refusedInRow - 3, 20)
      pause = now.adding(milliseconds: min(300_000 << Int64(doublings), 21_600_000))
    default: break
    }
  }

  func settles(
    _ batch: UInt64, _ rows: [EngineWorld.Row], _ settlement: Settlement,
    _ broken: inout [DeliveryLaw]
  ) {
    switch settlement {
    case .delivered:
      if !(200...299).contains(answers[batch] ?? 0) {
        broken.append(.deletedWithoutAcknowledgement)
      }
    case .quarantine:
      let isKnown = final.contains(Set(rows.map(\.sequence)))
      if !isKnown { broken.append(.quarantinedWithoutFinal) }
    }
  }

  /// A kill: what the process knew is gone, what it had written is not.
  mutating func killed(rebootedFrom old: Moment?, to now: Moment) {
    answers = [:]
    // Acknowledged rows that were not deleted yet are sent again: the server knows their ids.
    acknowledged = []
    unauthorized = []
    // Nor are tokens written down: each start may try the provider's once.
    if failure?.status == 401 { failure = nil }
    guard let old else { return }
    func moved(_ moment: Moment?) -> Moment? {
      moment.map { now.adding(milliseconds: $0.milliseconds(since: old)) }
    }
    gate = moved(gate)
    pause = moved(pause)
    failure = nil
  }
}
