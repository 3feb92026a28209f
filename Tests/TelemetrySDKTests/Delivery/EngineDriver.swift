import TelemetryTestSupport

@testable import TelemetrySDK

/// Chooses what happens next, by a seeded draw; and makes everything well again.
struct EngineDriver {
  var world: EngineWorld
  private var random: SplitMix
  private var tokenNumber = 0
  private var account = "a"
  private let mood: Mood

  /// What the server is like in one life.
  private enum Mood: CaseIterable {
    case mixed, refusing, unauthorized, busy
  }

  init(seed: UInt64, mutation: EngineMutation? = nil) {
    random = SplitMix(seed: seed)
    let choice = random.next()
    mood = Mood.allCases[Int(choice >> 16) % 4]
    world = EngineWorld(seed: seed) { configuration in
      configuration.isolatesRefusedBodies = choice & 3 == 0
      configuration.foreignAccounts = ForeignAccountPolicy.allCases[Int(choice >> 8) % 3]
      configuration.directoryIsShared = choice & 16 == 0
      configuration.schedulesBackgroundTasks = choice & 32 == 0
      configuration.allowsExpensivePaths = choice & 64 != 0
      configuration.batchMaxEvents = choice & 128 == 0 ? 10 : 1_000
    }
    world.mutation = mutation
    world.laws.countsRefusals = !world.policy.isolatesRefusedBodies
    world.open()
  }

  private mutating func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }
  private mutating func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  mutating func step() {
    if world.isShutDown, chance(20) { return world.kill(reboot: false) }
    switch draw(100) {
    case 0..<52: answer()
    case 52..<66:
      world.advance(ms: [1, 50, 900, 2_000, 7_000, 31_000, 300_001, 4_000_000][draw(8)])
    case 66..<80: record()
    default: disturb()
    }
  }

  private mutating func record() {
    guard !world.isShutDown, world.hasConsent else { return }
    if chance(4) { return world.input(.writesBlocked(chance(50) ? .busy : .notOpen)) }
    let names = ["", "a", "a", "b"]
    world.record(
      1 + draw(6), account: names[draw(4)], bytes: [120, 400, 30_000, 90_000][draw(4)])
  }

  private mutating func answer() {
    if world.opening { return world.open(blocked: chance(20)) }
    if world.buffering, chance(50) { return world.finishBuffer(blocked: chance(30)) }
    if world.tending, chance(50) { return world.finishUpkeep(more: chance(10)) }
    if !world.late.isEmpty, chance(30) { return world.answerLate() }
    switch draw(4) {
    case 0: world.prepareNext(blocked: chance(4))
    case 1: world.settleNext(complete: !chance(10))
    case 2: answerToken()
    default: answerRequest()
    }
  }

  private mutating func answerToken() {
    guard !world.asking.isEmpty else { return }
    if chance(15) { return world.answerToken(nil) }
    // A provider that turns between two tokens, also after a 401.
    if chance(10), tokenNumber > 0 {
      return world.answerToken("T\(tokenNumber - 1)\(account)", account: account)
    }
    if chance(70) { tokenNumber += 1 }
    if chance(5) { account = account == "a" ? "b" : "a" }
    world.answerToken("T\(tokenNumber)\(account)", account: account)
  }

  private mutating func answerRequest() {
    let retryAfter = [nil, nil, "0", "-7", "1", "20", "4000", "99999999", "soon"][draw(9)]
    if chance(50) {
      switch mood {
      case .mixed: break
      case .refusing: return world.answer(status: [400, 403, 422][draw(3)])
      case .unauthorized: return world.answer(status: 401)
      case .busy: return world.answer(status: 503, retryAfter: retryAfter)
      }
    }
    switch draw(100) {
    case 0..<45: world.answer(status: [200, 202, 204][draw(3)])
    case 45..<60:
      world.answer(status: [429, 500, 503, 599][draw(4)], retryAfter: retryAfter)
    case 60..<66: world.answer(status: 401)
    case 66..<71: world.answer(status: 413)
    case 71..<79: world.answer(status: [400, 403, 404, 422, 499][draw(5)])
    case 79..<83: world.answer(status: [200, 302, 307, 511][draw(4)], html: true)
    case 83..<86: world.answer(status: [0, 100, 199, 600, 999][draw(5)])
    case 86..<95:
      world.answer(.failed(code: [-1001, -1005, -1009][draw(3)], lostReusedConnection: false))
    default: world.answer(.failed(code: -1005, lostReusedConnection: true))
    }
  }

  private mutating func disturb() {
    switch draw(24) {
    case 0, 1, 2: return appear()
    case 3, 4: return disappear()
    case 5, 6, 7: setPath(NetworkPath(satisfied: true, expensive: chance(20)))
    case 8, 9: setPath(NetworkPath(satisfied: false))
    case 10: world.input(.lowPowerChanged(chance(50)))
    case 11:
      world.hasConsent = !chance(30)
      world.input(.consent(world.hasConsent))
    case 12, 13: world.input(.tokenChanged)
    case 14, 15, 16:
      world.flush(timeoutMs: [0, 1_000, 60_000, 600_000][draw(4)], grantsTime: chance(25))
    case 17: world.grantTask(seconds: chance(50) ? Int64(draw(60)) : nil)
    case 18: if let id = world.tasks.min() { world.input(.taskExpiring(id: id)) }
    case 19: endAssertion()
    case 20: strayAnswer()
    case 21:
      if chance(20) { purge() } else if !world.isShutDown { world.requeue() }
    case 22: if chance(15) { end() }
    default: if chance(25) { world.kill(reboot: chance(30)) }
    }
  }

  private mutating func appear() {
    world.isForeground = true
    world.input(.foreground)
  }

  private mutating func disappear() {
    world.isForeground = false
    world.input(.background)
  }

  private mutating func setPath(_ path: NetworkPath) {
    world.path = path
    world.input(.pathChanged(path))
  }

  private mutating func endAssertion() {
    guard let generation = world.assertion else { return }
    if chance(70) { return world.input(.assertionExpiring(generation: generation)) }
    // Refused: the system never gave it, so there is nothing to give back.
    world.assertion = nil
    world.input(.assertionRefused(generation: generation))
  }

  /// Answers that nobody asked for any more.
  private mutating func strayAnswer() {
    let old = UInt64(draw(50))
    guard old < world.engine.generation, world.sending?.generation != old else { return }
    switch draw(4) {
    case 0:
      world.input(
        .uploadEnded(
          generation: 1_000_000_000 + old, .failed(code: -1, lostReusedConnection: false)))
    case 1: world.input(.settled(generation: 1_000_000_000 + old, complete: true))
    case 2:
      world.input(.tokenAnswered(generation: 1_000_000_000 + old, AccessToken(value: "stray")))
    default: world.input(.timerFired(.retry, generation: 1_000_000_000 + old))
    }
  }

  private mutating func purge() {
    world.purge()
  }

  private mutating func end() {
    world.isShutDown = true
    world.input(.shutDown)
    if !world.waiters.isEmpty { world.broken(.waiterOutlivesEnd) }
    if world.assertion != nil || !world.tasks.isEmpty { world.broken(.timeOutlivesEnd) }
  }

  /// Everything is well: what can go must go, and then nothing is left behind.
  mutating func heal() {
    if world.isShutDown { world.kill(reboot: false) }
    if !world.engine.hasRestored { world.open() }
    world.hasConsent = true
    world.input(.consent(true))
    world.input(.lowPowerChanged(false))
    setPath(NetworkPath())
    appear()
    // After a reboot a pause is waited again, but never longer than it was granted.
    let gateMs = world.engine.serverGate?.milliseconds(since: world.now) ?? 0
    let pauseMs = world.engine.refusal.until?.milliseconds(since: world.now) ?? 0
    if gateMs > 86_400_000 || pauseMs > 21_600_000 {
      world.broken(.pauseLongerThanGranted)
    }
    let longest = max(gateMs, pauseMs, 0)
    var leftMs = longest + 15 * 60_000
    while leftMs > 0 {
      settleAll()
      if !isWaiting, world.timers.isEmpty { break }
      // A planted fault may leave a world that gets nowhere.
      if world.laws.broken.count > 100 { return }
      let due = world.timers.values.map(\.at).min()?.milliseconds(since: world.now)
      let stepMs = max(1, min(leftMs, (due ?? leftMs) + 1))
      world.advance(ms: stepMs)
      leftMs -= stepMs
    }
    if isWaiting {
      world.broken(.noProgress)
    }
    // What must run out, runs out; then nothing may be left.
    for _ in 0..<20 {
      world.advance(ms: 60_000)
      settleAll()
    }
    checkRest()
  }

  private var isWaiting: Bool {
    world.rows.contains {
      world.policy.foreignAccounts == .send || $0.account == "" || $0.account == account
    }
  }

  private mutating func settleAll() {
    // A planted fault may make work without end; elsewhere so much is never needed.
    var turnsLeft = world.mutation == nil ? 2_000 : 100
    while world.hasOutstanding {
      turnsLeft -= 1
      if turnsLeft < 0 { return world.broken(.workWithoutEnd) }
      if world.opening { world.open() }
      world.finishBuffer(blocked: false)
      world.finishUpkeep()
      world.answerLate()
      world.prepareNext()
      world.settleNext()
      if !world.asking.isEmpty {
        tokenNumber += 1
        world.answerToken("T\(tokenNumber)\(account)", account: account)
      }
      world.answer(status: 200)
    }
  }

  private mutating func checkRest() {
    if !world.marked.isEmpty { world.broken(.marksLeak) }
    if !world.waiters.isEmpty { world.broken(.waiterNeverResumed) }
    if !world.timers.isEmpty { world.broken(.timersLeak) }
  }
}
