@testable import TelemetrySDK

/// A fault planted into an engine: its inputs, its state or its effects are falsified on the way.
struct EngineMutation {
  typealias Before = (inout DeliveryInput, inout DeliveryEngine) -> Void
  typealias After = (inout [DeliveryEffect], inout DeliveryEngine, DeliveryInput, Moment) -> Void

  /// What the fault breaks.
  let law: DeliveryLaw
  let name: String
  var before: Before = { _, _ in }
  var after: After = { _, _, _, _ in }

  private static func before(
    _ law: DeliveryLaw, _ name: String, _ body: @escaping Before
  ) -> EngineMutation {
    EngineMutation(law: law, name: name, before: body)
  }

  private static func after(
    _ law: DeliveryLaw, _ name: String, _ body: @escaping After
  ) -> EngineMutation {
    EngineMutation(law: law, name: name, after: body)
  }

  /// Performs effects of a kind twice.
  private static func twice(
    _ law: DeliveryLaw, _ name: String, _ isMeant: @escaping (DeliveryEffect) -> Bool
  ) -> EngineMutation {
    after(law, name) { effects, _, _, _ in
      effects = effects.flatMap { isMeant($0) ? [$0, $0] : [$0] }
    }
  }

  /// Forgets effects of a kind.
  private static func never(
    _ law: DeliveryLaw, _ name: String, _ isMeant: @escaping (DeliveryEffect) -> Bool
  ) -> EngineMutation {
    after(law, name) { effects, _, _, _ in effects.removeAll(where: isMeant) }
  }

  static var all: [EngineMutation] {
    requests + resends + rows + callers + timers + time + progress
  }
}

// MARK: - One or more for each law

extension EngineMutation {
  private static var requests: [EngineMutation] {
    [
      after(.twoRequests, "forgets the request under way") { _, engine, _, _ in
        if case .sending = engine.flight { engine.flight = .idle }
      },
      before(.lateAnswerHeard, "believes late answers") { input, engine in
        guard case .uploadEnded(let generation, let outcome) = input,
          case .sending(let upload) = engine.flight, upload.generation != generation
        else { return }
        input = .uploadEnded(generation: upload.generation, outcome)
      },
      before(.requestBeforeGate, "forgets Retry-After") { _, engine in
        engine.serverGate = nil
        engine.backoff = nil
      },
      before(.requestInPause, "forgets the pause after refusals") { _, engine in
        engine.refusal.until = nil
      },
      before(.pauseLongerThanGranted, "adds up pauses at a restart") { input, engine in
        guard case .storeOpened(var gate?, let queued) = input else { return }
        gate.server?.until =
          engine.bootID.isEmpty ? .init(nanoseconds: 0) : .init(nanoseconds: .max)
        gate.server?.remainingMs = 100 * 86_400_000
        input = .storeOpened(gate: gate, queued: queued)
      },
      before(.requestForbidden, "does not hear that consent is withdrawn") { input, _ in
        if input == .consent(false) { input = .consent(true) }
      },
      before(.requestOnForbiddenPath, "takes every path for the best") { _, engine in
        engine.path = NetworkPath()
      },
      before(.requestWithoutTime, "believes to be in front") { _, engine in
        engine.isForeground = true
      },
    ]
  }

  private static var resends: [EngineMutation] {
    [
      after(.resentAfterFinal, "puts refused rows back") { effects, engine, _, _ in
        effects = effects.map { effect in
          guard case .settle(_, let batch, .quarantine) = effect else { return effect }
          engine.flight = .idle
          engine.finalBodies = []
          return .release(batch: batch)
        }
      },
      after(.resentAfterAcknowledgement, "puts delivered rows back") { effects, engine, _, _ in
        effects = effects.map { effect in
          guard case .settle(_, let batch, .delivered) = effect else { return effect }
          engine.flight = .idle
          return .release(batch: batch)
        }
      },
      before(.resentWithRefusedToken, "takes a 401 for a broken connection") { input, _ in
        guard case .uploadEnded(let generation, .answered(let facts)) = input, facts.status == 401
        else { return }
        input = .uploadEnded(
          generation: generation, .failed(code: -1005, lostReusedConnection: false))
      },
      before(.resentAtOnce, "knows no backoff") { _, engine in engine.backoff = nil },
    ]
  }

  private static var rows: [EngineMutation] {
    [
      after(.sentUnmarked, "sends a batch of another number") { effects, _, _, _ in
        effects = effects.map { effect in
          guard case .send(let generation, let batch, let token) = effect else { return effect }
          return .send(generation: generation, batch: batch &+ 1_000_000, token: token)
        }
      },
      EngineMutation(
        law: .foreignAccount, name: "reads rows of any account",
        before: { input, _ in
          guard case .prepared(let generation, .batch(var summary)) = input else { return }
          summary.account = ""
          input = .prepared(generation: generation, .batch(summary))
        },
        after: { effects, _, _, _ in
          effects = effects.map { effect in
            guard case .prepare(let generation, _, let bounds) = effect else { return effect }
            return .prepare(generation: generation, accounts: nil, bounds: bounds)
          }
        }),
      after(.deletedWithoutAcknowledgement, "deletes what was refused") { effects, _, _, _ in
        effects = effects.map { effect in
          guard case .settle(let generation, let batch, .quarantine) = effect else { return effect }
          return .settle(generation: generation, batch: batch, .delivered(rejected: []))
        }
      },
      after(.quarantinedWithoutFinal, "quarantines what was taken") { effects, _, _, _ in
        effects = effects.map { effect in
          guard case .settle(let generation, let batch, .delivered) = effect else { return effect }
          return .settle(generation: generation, batch: batch, .quarantine(.tooLarge))
        }
      },
      twice(.releasedTwice, "releases twice") { if case .release = $0 { true } else { false } },
      twice(.settledTwice, "settles twice") { if case .settle = $0 { true } else { false } },
      after(.settledUnmarked, "settles a released batch") { effects, _, _, _ in
        effects = effects.flatMap { effect -> [DeliveryEffect] in
          guard case .settle(_, let batch, _) = effect else { return [effect] }
          return [.release(batch: batch), effect]
        }
      },
      never(.marksLeak, "never releases") { if case .release = $0 { true } else { false } },
    ]
  }

  private static var callers: [EngineMutation] {
    [
      twice(.waiterResumedTwice, "answers twice") {
        if case .resumeWaiter = $0 { true } else { false }
      },
      never(.waiterNeverResumed, "never answers") {
        if case .resumeWaiter = $0 { true } else { false }
      },
      before(.waiterBeyondItsTime, "knows no time limit") { _, engine in
        for index in engine.waiters.indices {
          engine.waiters[index].deadline = Moment(nanoseconds: .max)
        }
      },
      after(.waiterOutlivesEnd, "leaves the waiters at the end") { effects, _, input, _ in
        guard input == .shutDown else { return }
        effects.removeAll { if case .resumeWaiter = $0 { true } else { false } }
      },
      twice(.askedTwice, "asks twice") { if case .askToken = $0 { true } else { false } },
      twice(.cancelledTwice, "cancels twice") {
        if case .cancelUpload = $0 { true } else { false }
      },
    ]
  }

  private static var timers: [EngineMutation] {
    [
      never(.timersDiffer, "never cancels a timer") {
        if case .cancelTimer = $0 { true } else { false }
      },
      twice(.timerCancelledTwice, "cancels a timer twice") {
        if case .cancelTimer = $0 { true } else { false }
      },
      after(.timerAfterEnd, "leaves its timers at the end") { effects, _, input, _ in
        guard input == .shutDown else { return }
        effects.removeAll { if case .cancelTimer = $0 { true } else { false } }
      },
      after(.timersLeak, "sets a timer for nothing") { effects, engine, _, now in
        guard engine.timers[.token] == nil, !engine.isShutDown else { return }
        let state = DeliveryEngine.TimerState(
          at: now.adding(milliseconds: 86_400_000_000), generation: engine.nextGeneration())
        engine.timers[.token] = state
        effects.append(.setTimer(.token, at: state.at, generation: state.generation))
      },
      after(.timersWithoutEnd, "sets a timer too early") { effects, engine, _, now in
        effects = effects.map { effect in
          guard case .setTimer(.flush, _, let generation) = effect else { return effect }
          return .setTimer(.flush, at: now, generation: generation)
        }
      },
    ]
  }

  private static var time: [EngineMutation] {
    [
      twice(.backgroundTimeTwice, "asks for time twice") {
        if case .beginBackgroundTime = $0 { true } else { false }
      },
      twice(.backgroundTimeReturnedTwice, "gives time back twice") {
        if case .endBackgroundTime = $0 { true } else { false }
      },
      twice(.taskCompletedTwice, "completes a task twice") {
        if case .completeTask = $0 { true } else { false }
      },
      after(.timeOutlivesEnd, "keeps its time at the end") { effects, _, input, _ in
        guard input == .shutDown else { return }
        effects.removeAll {
          switch $0 {
          case .endBackgroundTime, .completeTask: return true
          default: return false
          }
        }
      },
    ]
  }

  private static var progress: [EngineMutation] {
    [
      never(.noProgress, "never reads a batch") {
        if case .prepare = $0 { true } else { false }
      },
      after(.workWithoutEnd, "tends for ever") { effects, _, input, _ in
        if case .upkeepDone = input { effects.append(.upkeep) }
      },
    ]
  }
}
