import Foundation
import TelemetryTestSupport

@testable import TelemetrySDK

/// The world around one engine, as a value: performs its effects in memory, and checks the laws
/// of delivery at each of them. What must be answered lies in lists until a driver answers it.
struct EngineWorld {
  struct Row: Hashable {
    let sequence: Int64
    let account: String
    let bytes: Int
    static func == (left: Row, right: Row) -> Bool { left.sequence == right.sequence }
    func hash(into hasher: inout Hasher) { hasher.combine(sequence) }
    var reference: RowReference {
      RowReference(sequence: sequence, id: EventID(bytes: SIMD16(repeating: 1)))
    }
  }
  struct Prepare: Equatable {
    let generation: UInt64
    let accounts: [String]?
    let bounds: BatchBounds
  }
  struct Request {
    let generation: UInt64
    let batch: UInt64
    let token: String
    let rows: [Row]
  }
  struct Settle {
    let generation: UInt64
    let batch: UInt64
    let settlement: Settlement
  }

  let policy: DeliveryPolicy
  var engine: DeliveryEngine
  var now = Moment(nanoseconds: 1_000_000_000_000)
  var bootID = "boot-0"
  var random: SplitMix

  // The store.
  var rows: [Row] = []
  var marked: [UInt64: [Row]] = [:]
  var lastSequence: Int64 = 0
  var note: GateRecord?
  var delivered: Set<Int64> = []
  var quarantined: Set<Int64> = []
  var isBufferBlocked = false

  // What waits for an answer.
  var preparing: [Prepare] = []
  var sending: Request?
  /// Cancelled requests whose outcome still comes.
  var late: [UInt64] = []
  var settling: [Settle] = []
  var asking: [UInt64] = []
  var opening = false
  var buffering = false
  var tending = false
  var timers: [DeliveryTimer: DeliveryEngine.TimerState] = [:]
  var assertion: UInt64?
  var tasks: Set<Int> = []
  var waiters: [Int: Moment] = [:]
  /// Of these, the ones that bring time of the host's.
  var granting: Set<Int> = []
  var nextID = 0

  // The phone.
  var isForeground = true
  var path = NetworkPath()
  var hasConsent = true
  var isShutDown = false
  var accounts: [String: String] = [:]

  var laws = DeliveryLaws()
  /// A fault planted into the engine, which the laws must find.
  var mutation: EngineMutation?
  /// The latest inputs with their effects; written out only when a law is broken.
  var trace: [Entry] = []

  struct Entry: CustomStringConvertible {
    let now: Moment
    let input: DeliveryInput?
    let effects: [DeliveryEffect]
    var description: String {
      let head = "\(now.nanoseconds / 1_000_000) ms < \(input.map { "\($0)" } ?? "KILL")"
      return ([head] + effects.map { "    > \($0)" }).joined(separator: "\n")
        .replacingOccurrences(of: "TelemetrySDK.", with: "")
    }
  }

  init(seed: UInt64, configure: (inout TelemetryConfiguration) -> Void = { _ in }) {
    var configuration = TelemetryConfiguration(endpoint: "https://x.test/b", directory: "/none")
    configure(&configuration)
    policy = DeliveryPolicy(configuration)
    random = SplitMix(seed: seed)
    engine = DeliveryEngine(policy: policy, bootID: bootID, random: SeededRandom(seed ^ 1))
  }

  /// Hands an input to the engine and performs what it asks for.
  mutating func input(_ input: DeliveryInput) {
    var input = input
    mutation?.before(&input, &engine)
    laws.saw(input, at: now)
    var effects = engine.handle(input, now: now)
    mutation?.after(&effects, &engine, input, now)
    if trace.count >= 400 { trace.removeFirst(200) }
    trace.append(Entry(now: now, input: input, effects: effects))
    for effect in effects { perform(effect) }
    if timers != engine.timers { broken(.timersDiffer) }
    if isShutDown, !timers.isEmpty { broken(.timerAfterEnd) }
  }

  mutating func broken(_ law: DeliveryLaw) { laws.broken.append(law) }

  private mutating func perform(_ effect: DeliveryEffect) {
    switch effect {
    case .prepare(let generation, let accounts, let bounds):
      preparing.append(Prepare(generation: generation, accounts: accounts, bounds: bounds))
    case .send(let generation, let batch, let token): send(generation, batch, token)
    case .cancelUpload(let generation):
      if sending?.generation != generation {
        broken(.cancelledTwice)
      }
      sending = nil
      late.append(generation)
    case .release(let batch):
      if marked.removeValue(forKey: batch) == nil { broken(.releasedTwice) }
    case .settle(let generation, let batch, let settlement):
      if settling.contains(where: { $0.batch == batch }) { broken(.settledTwice) }
      if marked[batch] == nil { broken(.settledUnmarked) }
      laws.settles(batch, marked[batch] ?? [], settlement, &self.laws.broken)
      settling.append(Settle(generation: generation, batch: batch, settlement: settlement))
    case .purgeOthers(let kept):
      let inFlight = Set(marked.values.flatMap { $0 })
      rows.removeAll { !kept.contains($0.account) && !inFlight.contains($0) }
    case .askToken(let generation):
      if !asking.isEmpty { broken(.askedTwice) }
      asking.append(generation)
    case .setTimer(let timer, let at, let generation):
      timers[timer] = .init(at: at, generation: generation)
    case .cancelTimer(let timer):
      if timers.removeValue(forKey: timer) == nil { broken(.timerCancelledTwice) }
    case .persist(let record): note = record
    case .beginBackgroundTime(let generation):
      if assertion != nil { broken(.backgroundTimeTwice) }
      assertion = generation
    case .endBackgroundTime(let generation):
      if assertion != generation { broken(.backgroundTimeReturnedTwice) }
      assertion = nil
    case .completeTask(let id, _):
      if tasks.remove(id) == nil { broken(.taskCompletedTwice) }
    case .openStore: opening = true
    case .writeBuffer: buffering = true
    case .upkeep: tending = true
    case .resumeWaiter(let id, _):
      if waiters.removeValue(forKey: id) == nil { broken(.waiterResumedTwice) }
      granting.remove(id)
    case .enforceAge, .accountKnown, .scheduleBackgroundTask, .sync, .suspendStore, .resumeStore,
      .diagnostic:
      break
    }
  }

  private mutating func send(_ generation: UInt64, _ batch: UInt64, _ token: String) {
    if sending != nil { broken(.twoRequests) }
    if isShutDown || !hasConsent { broken(.requestForbidden) }
    if !policy.allows(path) { broken(.requestOnForbiddenPath) }
    if !isForeground, assertion == nil, tasks.isEmpty, granting.isEmpty {
      broken(.requestWithoutTime)
    }
    guard let body = marked[batch], !body.isEmpty else { return broken(.sentUnmarked) }
    let account = accounts[token] ?? ""
    if policy.foreignAccounts != .send,
      body.contains(where: { $0.account != "" && $0.account != account })
    {
      broken(.foreignAccount)
    }
    if Set(body.map(\.account)).count > 1 { broken(.accountsMixed) }
    laws.sends(body, token: token, at: now)
    sending = Request(generation: generation, batch: batch, token: token, rows: body)
  }
}
