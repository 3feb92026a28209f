/// A plan in force: its counters run from its activation.
final class ActivePlan: Sendable {
  let plan: FaultPlan
  let activatedNs: Int64
  /// Which activation this is, from 1: connections that are older are drawn for anew.
  let number: Int
  let contract: BatchContract
  let rules: RuleBook
  /// Whether open connections may be slowed or cut by this plan or an earlier one.
  let limitsReading: Bool

  /// - Parameters:
  ///   - tokens: accepted beside the plan's own.
  ///   - previous: the plan that was in force until now.
  init(
    plan: FaultPlan, activatedNs: Int64, tokens: [ContractRules.Token] = [],
    after previous: ActivePlan? = nil
  ) {
    self.plan = plan
    self.activatedNs = activatedNs
    number = (previous?.number ?? 0) + 1
    var contract = plan.contract
    contract.tokens += tokens
    self.contract = BatchContract(rules: contract)
    rules = RuleBook(rules: plan.rules, seed: plan.seed)
    limitsReading = previous?.limitsReading ?? false || plan.toxics.contains(where: \.isUpstream)
  }

  /// The same plan, its counters going on, with other tokens.
  private init(_ other: ActivePlan, contract: BatchContract) {
    plan = other.plan
    activatedNs = other.activatedNs
    number = other.number
    self.contract = contract
    rules = other.rules
    limitsReading = other.limitsReading
  }

  func with(tokens: [ContractRules.Token]) -> ActivePlan {
    var rules = contract.rules
    rules.tokens = tokens
    return ActivePlan(self, contract: BatchContract(rules: rules))
  }

  /// Whether a request needs no look at the plan.
  var hasNoFaults: Bool { rules.rules.isEmpty && plan.toxics.isEmpty }

  /// The toxics that a connection has, the same whenever it is asked.
  func toxics(of connection: Int) -> [Toxic] {
    plan.toxics.filter { toxic in
      var draw = KeyedDraw(
        seed: plan.seed, name: toxic.name, identity: UInt64(connection), attempt: 0)
      return toxic.toxicity >= 1 || draw.fraction() < toxic.toxicity
    }
  }
}
