/// The deciding half of the server: contract, ledger, fault plan, gates and journal, without a
/// socket. Performers (`SocketServer`, `EngineURLProtocol`, a test) hand requests in and carry out
/// what the exchanges say, so that a plan means the same everywhere.
///
/// Thread safe.
public final class BatchEngine: Sendable {
  /// The clock of every delay, window, expiry and date.
  public let clock: any EngineClock
  /// What the server believes about every event.
  public let ledger: Ledger
  package let journal: Journal
  let hub: EventHub
  let gates = GateKeeper()
  let routes: [any Route]
  let connections = ConnectionTable()
  let attempts = Guarded(AttemptTable())
  let metrics = Guarded(EngineMetrics())
  let dates = DateCache()
  let watchers = Watchers()
  /// Nil for a server that nobody scripts.
  let phaseOrders: PhaseOrders?
  /// Accepted under every plan.
  private let tokens: [ContractRules.Token]
  private let performers = Guarded<[PerformerKind]>([])
  private let active: Guarded<ActivePlan>
  private let listener = Guarded(Listener())

  private struct Listener {
    var state = ListenerState.accept
    var timers: [any EngineTimer] = []
    var observers: [Int: @Sendable (ListenerState) -> Void] = [:]
    var nextObserver = 1
    /// Which activation owns the timers.
    var generation = 0
  }

  /// Tells incarnations of a client apart in journal and ledger.
  public static let incarnationHeader = "X-Client-Incarnation"

  /// An engine with its plan in force.
  ///
  /// - Parameters:
  ///   - plan: faults and contract; by default none and the usual limits.
  ///   - ledger: in memory by default.
  ///   - clock: drives everything that depends on time; a scripted one makes runs repeatable.
  ///   - tokens: accepted beside those of the plan, this one and every later one; with any of
  ///     them no plan accepts all tokens.
  ///   - onEvent: called for everything that happens, on the thread where it happens, outside
  ///     every lock. It must not block.
  public convenience init(
    plan: FaultPlan = FaultPlan(), ledger: Ledger = Ledger(),
    clock: any EngineClock = LiveEngineClock(), tokens: [ContractRules.Token] = [],
    onEvent: (@Sendable (EngineEvent) -> Void)? = nil
  ) {
    self.init(
      plan: plan, ledger: ledger, clock: clock, tokens: tokens, journalLimits: .standard,
      routes: [], onEvent: onEvent)
  }

  /// An engine with further endpoints and other journal bounds.
  package init(
    plan: FaultPlan, ledger: Ledger, clock: any EngineClock,
    tokens: [ContractRules.Token] = [], journalLimits: Journal.Limits,
    routes: [any Route], onEvent: (@Sendable (EngineEvent) -> Void)?,
    phaseOrders: PhaseOrders? = nil
  ) {
    self.phaseOrders = phaseOrders
    self.clock = clock
    self.ledger = ledger
    journal = Journal(limits: journalLimits)
    hub = EventHub(onEvent)
    self.routes = [BatchRoute(ledger: ledger)] + routes
    self.tokens = tokens
    active = Guarded(ActivePlan(plan: plan, activatedNs: clock.nowNs, tokens: tokens))
    startTimeline(plan, from: clock.nowNs)
  }

  // MARK: - Plan

  var current: ActivePlan { active.access { $0 } }

  /// The plan in force.
  public var plan: FaultPlan { current.plan }

  /// Puts a plan into force: rule counters, windows, token expiry and the timeline start anew.
  ///
  /// - Throws: `CapabilityRefusal` when an attached performer cannot express it; the old plan
  ///   stays in force.
  public func use(_ plan: FaultPlan) throws {
    for performer in performers.access({ $0 }) { try plan.check(for: performer) }
    let now = clock.nowNs
    active.access { active in
      active = ActivePlan(plan: plan, activatedNs: now, tokens: tokens, after: active)
    }
    report(0, .planActivated)
    startTimeline(plan, from: now)
  }

  /// Ends every fault: rules, toxics and the listener's timeline are gone. The contract goes on as
  /// it is: the tokens accepted now, and their expiry.
  package func endFaults() {
    let now = clock.nowNs
    var healed = FaultPlan()
    active.access { active in
      healed.seed = active.plan.seed
      healed.contract = active.contract.rules
      active = ActivePlan(plan: healed, activatedNs: active.activatedNs, after: active)
    }
    report(0, .planActivated)
    startTimeline(healed, from: now)
  }

  /// Names a performer that will carry out exchanges; its limits bind every plan from now on.
  ///
  /// - Throws: `CapabilityRefusal` when it cannot express the plan in force.
  public func attach(_ performer: PerformerKind) throws {
    try plan.check(for: performer)
    performers.access { if !$0.contains(performer) { $0.append(performer) } }
  }

  /// Replaces the accepted tokens without touching the plan's counters.
  public func setTokens(_ tokens: [ContractRules.Token]) {
    active.access { $0 = $0.with(tokens: tokens) }
  }

  /// How often each rule of the plan was applied, in the order they are tried.
  public var appliedRules: [(rule: String, times: Int)] { current.rules.applied() }

  // MARK: - Gates

  /// Opens a gate, or holds it (again).
  ///
  /// - Returns: false when there are too many gates (1,000).
  @discardableResult
  public func setGate(_ name: String, isOpen: Bool) -> Bool {
    guard gates.set(name, isOpen: isOpen) else { return false }
    report(0, .gateChanged(name: name, isOpen: isOpen))
    return true
  }

  // MARK: - Listener

  /// What the plan's timeline says the listening socket does now.
  public var listenerState: ListenerState { listener.access { $0.state } }

  /// Calls back now and at every change, on any thread.
  ///
  /// - Returns: what `unwatchListener` takes.
  @discardableResult
  package func watchListener(_ observer: @escaping @Sendable (ListenerState) -> Void) -> Int {
    let (id, state) = listener.access { listener -> (Int, ListenerState) in
      defer { listener.nextObserver += 1 }
      listener.observers[listener.nextObserver] = observer
      return (listener.nextObserver, listener.state)
    }
    observer(state)
    return id
  }

  /// Ends the calls to an observer; one that is on its way may still come.
  package func unwatchListener(_ id: Int) { listener.access { $0.observers[id] = nil } }

  /// Moves the listener by hand, as the timeline does.
  package func setListener(_ state: ListenerState) {
    let observers = listener.access { listener -> [@Sendable (ListenerState) -> Void]? in
      guard listener.state != state else { return nil }
      listener.state = state
      return listener.observers.sorted { $0.key < $1.key }.map(\.value)
    }
    guard let observers else { return }
    report(0, .listener(state))
    for observer in observers { observer(state) }
  }

  private func startTimeline(_ plan: FaultPlan, from now: Int64) {
    let (generation, old) = listener.access { listener -> (Int, [any EngineTimer]) in
      defer { listener.timers = [] }
      listener.generation += 1
      return (listener.generation, listener.timers)
    }
    old.forEach { $0.cancel() }
    // What is due at once holds before the first connection.
    let immediate = plan.timeline.last { $0.atNs == 0 }?.listener ?? .accept
    setListener(immediate)
    let timers = plan.timeline.filter { $0.atNs > 0 }.map { change in
      clock.schedule(atNs: BatchEngine.sum(now, change.atNs)) { [weak self] in
        guard let self, self.listener.access({ $0.generation }) == generation else { return }
        self.setListener(change.listener)
      }
    }
    listener.access { if $0.generation == generation { $0.timers = timers } }
  }

  /// Saturating, so that absurd durations never trap.
  static func sum(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }

  // MARK: - State

  /// Parts of the state that can be reset.
  public enum Part: String, Sendable, CaseIterable {
    /// All events and counters.
    case ledger
    /// The journal and its count of requests.
    case journal
    /// Rule counters, windows and timeline start anew.
    case plan
    /// Every gate is held again; who waits goes on.
    case gates
  }

  /// Resets parts of the state.
  ///
  /// - Throws: `LedgerError` when the ledger's file refuses; then the other parts are untouched.
  public func reset(_ parts: Set<Part>) throws {
    if parts.contains(.ledger) { try ledger.reset() }
    if parts.contains(.journal) { journal.reset() }
    if parts.contains(.gates) { gates.reset() }
    if parts.contains(.plan) { try use(plan) }
  }

  func report(_ request: Int, _ kind: @autoclosure () -> EngineEvent.Kind) {
    hub.report(request, atNs: clock.nowNs, kind())
  }
}
