import Dispatch
import Foundation
import JSONText
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// One script through the live shell (a dispatch queue, the store with its threads), through the
/// simulated one (one thread), and its inputs through a bare engine: the same inputs arise at the
/// same moments, and the same effects come out.
final class TraceReplayTests: StoreTestCase {
  private typealias Step = (input: DeliveryInput, moment: Moment, effects: [DeliveryEffect])

  /// A phone around one shell.
  private final class Phone {
    let time = ManualTime()
    let server: ScriptedServer
    let tokens = ScriptedTokens()
    let assertions = FakeAssertions()
    let telemetry: Telemetry
    let settle: () -> Void
    let trace = Guarded<[Step]>([])

    init(
      _ configuration: TelemetryConfiguration, store: StoreConfiguration, seed: UInt64,
      executor: any TelemetrySDK.SerialExecutor, settle: @escaping () -> Void
    ) {
      server = ScriptedServer(clock: time)
      self.settle = settle
      let keys = FakeKeyStore()
      telemetry = Telemetry.start(
        configuration, tokenProvider: tokens,
        environment: TelemetryEnvironment(
          clock: time, random: PurposeRandom(seed), keyStore: keys, transport: server,
          executor: executor, assertions: assertions),
        store: SQLiteEventStore(configuration: store, keyStore: keys, clock: time))
      let trace = trace
      telemetry.shell.onTrace.withLock {
        $0 = Callback { step in trace.withLock { $0.append(step) } }
      }
      settle()
    }

    func advance(ms: Int64) {
      settle()
      let target = time.now().adding(milliseconds: ms)
      while time.step(to: target) { settle() }
      settle()
    }
  }

  private func configuration(_ seed: UInt64) -> TelemetryConfiguration {
    var configuration = TelemetryConfiguration(
      endpoint: "https://telemetry.example/", directory: folder)
    configuration.batchMaxEvents = 20
    configuration.isolatesRefusedBodies = seed % 2 == 0
    configuration.directoryIsShared = seed % 3 == 0
    configuration.foreignAccounts = ForeignAccountPolicy.allCases[Int(seed % 3)]
    return configuration
  }

  private func store(_ name: String, usesThreads: Bool) -> StoreConfiguration {
    var store = StoreConfiguration(directory: path(name))
    store.usesBackgroundThreads = usesThreads
    // Nobody waits here but for a machine that is slow.
    store.appendWaitMs = 60_000
    return store
  }

  private static func reply(_ choice: SeededRandom) -> ScriptedServer.Reply {
    switch choice.below(14) {
    case 0: return .answer(503)
    case 1: return .failure(code: -1005)
    case 2: return .answer(401)
    case 3: return .answer(413)
    case 4: return .answer(400)
    case 5: return .answer(429, headers: [("Retry-After", "40")])
    case 6: return .failure(code: -1005, lostReusedConnection: true)
    case 7: return .answer(200, headers: [("Content-Type", "text/html")])
    case 8: return .hang
    default: return .answer(200)
    }
  }

  private func play(_ phone: Phone, _ seed: UInt64) {
    let choice = SeededRandom(seed &+ 2_000)
    phone.server.script { _ in TraceReplayTests.reply(choice) }
    let random = SeededRandom(seed &+ 3_000)
    let telemetry = phone.telemetry
    for step in 0..<120 {
      switch random.below(14) {
      case 0: telemetry.enterBackground()
      case 1, 2: telemetry.enterForeground()
      case 3: telemetry.setNetwork(NetworkPath(satisfied: random.below(2) == 0))
      case 4: telemetry.flush(timeout: Double(random.below(40))) { _ in }
      case 5:
        phone.tokens.answer(
          AccessToken(value: "T\(step)", account: ["", "a", "b"][random.below(3)]))
        telemetry.tokenDidChange()
      case 6: telemetry.setLowPower(random.below(2) == 0)
      case 7: phone.assertions.expire()
      case 8: telemetry.setConsent(random.below(4) != 0)
      case 9: telemetry.requeueQuarantined()
      case 10 where random.below(5) == 0: telemetry.purge()
      default:
        for number in 0..<random.below(15) {
          telemetry.record("t", ["n": .number(number)])
          phone.settle()
        }
      }
      phone.settle()
      phone.advance(ms: Int64(random.below(20_000)))
    }
    telemetry.shutdown()
    phone.settle()
  }

  private func same(_ ours: [Step], _ theirs: [Step], _ what: String) {
    for (index, (our, their)) in zip(ours, theirs).enumerated() {
      guard our.input != their.input || our.moment != their.moment || our.effects != their.effects
      else { continue }
      return XCTFail("\(what), step \(index):\n\(our)\n≠\n\(their)")
    }
    XCTAssertEqual(ours.count, theirs.count, what)
  }

  func testScript_whenPlayedInBothShellsAndABareEngine_givesTheSameEffects() {
    var kinds: Set<String> = []
    var steps = 0
    for seed in 1...UInt64(6) {
      let configuration = configuration(seed)
      let threads = ThreadExecutor()
      let live = Phone(
        configuration, store: store("live\(seed)", usesThreads: true), seed: seed,
        executor: threads, settle: threads.run)
      play(live, seed)
      let queue = QueueExecutor()
      let simulated = Phone(
        configuration, store: store("simulated\(seed)", usesThreads: false), seed: seed,
        executor: queue, settle: queue.run)
      play(simulated, seed)
      let trace = live.trace.withLock { $0 }
      same(trace, simulated.trace.withLock { $0 }, "live and simulated, seed \(seed)")
      var engine = DeliveryEngine(
        policy: DeliveryPolicy(configuration), bootID: live.time.bootID(),
        random: PurposeRandom(seed))
      let bare = trace.map { step in
        Step(step.input, step.moment, engine.handle(step.input, now: step.moment))
      }
      same(trace, bare, "live and bare, seed \(seed)")
      steps += trace.count
      for step in trace {
        for effect in step.effects { kinds.insert(String("\(effect)".prefix { $0.isLetter })) }
      }
    }
    print("\(steps) inputs, \(kinds.count) kinds of effects: \(kinds.sorted())")
    XCTAssertGreaterThan(steps, 2_000)
    XCTAssertGreaterThan(kinds.count, 18)
  }
}

/// A dispatch queue that tells when nothing is left to do.
private final class ThreadExecutor: TelemetrySDK.SerialExecutor {
  private let queue = DispatchQueue(label: "telemetry")
  private let pending = DispatchGroup()

  func async(_ work: @escaping @Sendable () -> Void) {
    pending.enter()
    queue.async { [pending] in
      work()
      pending.leave()
    }
  }

  @Sendable func run() { pending.wait() }
}

/// Draws that are keyed by their purpose and count, so that it does not matter on which thread,
/// and between which others, each is made.
private final class PurposeRandom: RandomSource {
  private let seed: UInt64
  private let counts = Guarded<[String: UInt64]>([:])

  init(_ seed: UInt64) { self.seed = seed }

  func next(purpose: String) -> UInt64 {
    let count = counts.withLock { counts -> UInt64 in
      counts[purpose, default: 0] += 1
      return counts[purpose] ?? 0
    }
    var mixed = purpose.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    mixed = (mixed ^ (mixed >> 31)) &+ count &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
