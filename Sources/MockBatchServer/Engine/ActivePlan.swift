/// A plan in force: its counters run from its activation.
final class ActivePlan: Sendable {
  let plan: FaultPlan
  let activatedNs: Int64
  let contract: BatchContract
  let rules: RuleBook
  /// Rules that the host puts before the plan's, such as a captive portal.
  let overlay: RuleBook?

  /// - Parameter tokens: accepted beside the plan's own.
  init(plan: FaultPlan, activatedNs: Int64, tokens: [ContractRules.Token] = []) {
    self.plan = plan
    self.activatedNs = activatedNs
    var contract = plan.contract
    contract.tokens += tokens
    self.contract = BatchContract(rules: contract)
    rules = RuleBook(rules: plan.rules, seed: plan.seed)
    overlay = nil
  }

  /// The same plan, its counters going on, with other tokens or another overlay.
  private init(_ other: ActivePlan, contract: BatchContract, overlay: RuleBook?) {
    plan = other.plan
    activatedNs = other.activatedNs
    self.contract = contract
    rules = other.rules
    self.overlay = overlay
  }

  func with(tokens: [ContractRules.Token]) -> ActivePlan {
    var rules = contract.rules
    rules.tokens = tokens
    return ActivePlan(self, contract: BatchContract(rules: rules), overlay: overlay)
  }

  func with(overlay rules: [Rule]) -> ActivePlan {
    ActivePlan(
      self, contract: contract,
      overlay: rules.isEmpty ? nil : RuleBook(rules: rules, seed: plan.seed))
  }

  /// Whether a request needs no look at the plan.
  var hasNoFaults: Bool { rules.rules.isEmpty && overlay == nil && plan.toxics.isEmpty }
}
