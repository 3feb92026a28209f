import Foundation
import JSONText

/// Turns a checked plan into its model; what remains to complain about is meaning.
struct FaultPlanDecoder {
  let pointer: String

  func plan(_ node: JSONNode) throws -> FaultPlan {
    var plan = FaultPlan()
    plan.source = node.value
    plan.seed = node["seed"]?.number?.uint64 ?? 0
    if let contract = node["contract"] {
      plan.contract = try self.contract(contract, pointer + "/contract")
    }
    var ids = Set<String>()
    for (index, item) in (node["rules"]?.elements ?? []).enumerated() {
      let rule = try rule(item, index, "\(pointer)/rules/\(index)")
      guard ids.insert(rule.id).inserted else {
        throw FaultPlanError(
          "a second rule \"\(rule.id)\"", at: (item["id"] ?? item).position,
          pointer: "\(pointer)/rules/\(index)")
      }
      plan.rules.append(rule)
    }
    let order = plan.rules.indices.sorted {
      (plan.rules[$0].priority, $0) < (plan.rules[$1].priority, $1)
    }
    plan.rules = order.map { plan.rules[$0] }
    plan.toxics = try (node["toxics"]?.elements ?? []).enumerated().map { index, item in
      try toxic(item, "\(pointer)/toxics/\(index)")
    }
    plan.timeline = (node["timeline"]?.elements ?? []).compactMap { item in
      item["listener"]?.string.flatMap(ListenerState.init).map {
        ListenerChange(atNs: item.durationNs("at") ?? 0, listener: $0)
      }
    }.enumerated().sorted { ($0.element.atNs, $0.offset) < ($1.element.atNs, $1.offset) }
      .map(\.element)
    return plan
  }

  private func contract(_ node: JSONNode, _ pointer: String) throws -> ContractRules {
    var rules = ContractRules()
    rules.tokens = try (node["tokens"]?.elements ?? []).enumerated().map { index, item in
      let value = item["value"]?.string ?? ""
      guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
        throw FaultPlanError(
          "a token is visible ASCII without blanks", at: (item["value"] ?? item).position,
          pointer: "\(pointer)/tokens/\(index)/value")
      }
      return ContractRules.Token(
        value: value, account: item["account"]?.string, expiresAtNs: item.durationNs("expiresAt"))
    }
    if let envelope = node["envelope"] { rules.envelopeKey = envelope["object"]?.string }
    rules.maxBodyBytes = node.byteCount("maxBodyBytes") ?? rules.maxBodyBytes
    rules.maxWireBytes = node.byteCount("maxWireBytes") ?? rules.maxWireBytes
    rules.maxEvents = node.integer("maxEvents") ?? rules.maxEvents
    rules.maxRatio = node.integer("maxRatio") ?? rules.maxRatio
    rules.maxDepth = node.integer("maxDepth") ?? rules.maxDepth
    rules.identityBody = policy(node["identityBody"]) ?? rules.identityBody
    rules.gzipBody = policy(node["gzipBody"]) ?? rules.gzipBody
    rules.emptyBatch = policy(node["emptyBatch"]) ?? rules.emptyBatch
    rules.rejectsInvalidEvents = node["invalidEvents"]?.string == "rejectEvent"
    rules.rejectsConflicts = node["conflicts"]?.string == "reject"
    rules.dedupWindowNs = node.durationNs("dedupWindow") ?? rules.dedupWindowNs
    rules.rejectTypes = (node["rejectTypes"]?.elements ?? []).compactMap(\.string)
    return rules
  }

  private func policy(_ node: JSONNode?) -> ContractRules.Policy? {
    guard let node else { return nil }
    return node.number?.int64.map { .refuse(Int($0)) } ?? .accept
  }

  private func rule(_ node: JSONNode, _ index: Int, _ pointer: String) throws -> Rule {
    var rule = Rule(id: node["id"]?.string ?? "rule-\(index + 1)")
    rule.priority = node.integer("priority") ?? 5
    if let request = node["request"] { rule.pattern = try RequestPattern(checked: request) }
    let when = node["when"]
    rule.skip = when?.integer("skip") ?? 0
    rule.times = when?.integer("times")
    rule.probability = when?["probability"]?.number?.double ?? 1
    rule.fromNs = when?.durationNs("from") ?? 0
    rule.untilNs = when?.durationNs("until")
    if let until = rule.untilNs, until <= rule.fromNs, let place = when?["until"] {
      throw FaultPlanError(
        "\"until\" is not after \"from\"", at: place.position, pointer: pointer + "/when/until")
    }
    rule.responses = try (node["responses"]?.elements ?? []).enumerated().map { index, item in
      try ResponseDecoder(pointer: "\(pointer)/responses/\(index)").response(item)
    }
    let natural: Rule.OnExhausted = (rule.times ?? 0) > rule.responses.count ? .repeat : .nextRule
    rule.onExhausted = node["onExhausted"]?.string.flatMap(Rule.OnExhausted.init) ?? natural
    try checkPhases(rule, node, pointer)
    return rule
  }

  /// A rule that acts before the body came can only look at what is there.
  private func checkPhases(_ rule: Rule, _ node: JSONNode, _ pointer: String) throws {
    guard let request = node["request"] else { return }
    if rule.earliestPhase == .accept, !rule.pattern.isEmpty {
      throw FaultPlanError(
        "an effect at \"accept\" comes before the request; \"request\" cannot be matched",
        at: request.position, pointer: pointer + "/request")
    }
    if rule.earliestPhase == .requestHead, rule.pattern.needsBody {
      throw FaultPlanError(
        "an effect at \"requestHead\" comes before the body; only method, URL, headers and "
          + "connection can be matched", at: request.position, pointer: pointer + "/request")
    }
  }

  private func toxic(_ node: JSONNode, _ pointer: String) throws -> Toxic {
    let type = node["type"]?.string.flatMap(ToxicType.init) ?? .latency
    var toxic = Toxic(name: node["name"]?.string ?? type.rawValue, type: type)
    toxic.isUpstream = node["stream"]?.string == "upstream"
    toxic.toxicity = node["toxicity"]?.number?.double ?? 1
    for member in node["attributes"]?.members ?? [] {
      guard ToxicReading.attributes(of: type).contains(member.key) else {
        throw FaultPlanError(
          "a toxic \"\(type.rawValue)\" has no \"\(member.key)\"", at: member.keyPosition,
          pointer: pointer + "/attributes/" + member.key)
      }
      toxic.attributes[member.key] = member.value.number?.int64.map(Int.init(clamping:))
    }
    for name in ToxicReading.required(of: type) where toxic.attributes[name] == nil {
      throw FaultPlanError(
        "a toxic \"\(type.rawValue)\" needs \"\(name)\"",
        at: (node["attributes"] ?? node).position, pointer: pointer + "/attributes")
    }
    if toxic.isUpstream, [.slicer, .slowClose].contains(type) {
      throw FaultPlanError(
        "a toxic \"\(type.rawValue)\" shapes answers; its stream is \"downstream\"",
        at: (node["stream"] ?? node).position, pointer: pointer + "/stream")
    }
    return toxic
  }
}

/// Which numbers the types of toxics read.
enum ToxicReading {
  static func required(of type: ToxicType) -> [String] {
    switch type {
    case .latency: return ["latency"]
    case .bandwidth: return ["rate"]
    case .slowClose: return ["delay"]
    case .timeout, .resetPeer: return ["timeout"]
    case .slicer: return ["average_size"]
    case .limitData: return ["bytes"]
    }
  }

  static func attributes(of type: ToxicType) -> [String] {
    switch type {
    case .latency: return ["latency", "jitter"]
    case .slicer: return ["average_size", "size_variation", "delay"]
    default: return required(of: type)
    }
  }
}
