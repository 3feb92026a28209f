import Foundation
import JSONText

/// Turns a checked response of a rule into its model.
struct ResponseDecoder {
  let pointer: String

  func response(_ node: JSONNode) throws -> ResponseSpec {
    var response = ResponseSpec()
    response.status = node.integer("status")
    response.headers = try headers(node["headers"])
    try readBody(node, into: &response)
    response.retryAfter = try node["retryAfter"].flatMap(retryAfter)
    response.delay = try node["delay"].map { try delay($0, pointer + "/delay") }
    response.dribble = node["dribble"].map {
      Dribble(chunks: $0.integer("chunks") ?? 1, durationNs: $0.durationNs("duration") ?? 0)
    }
    response.fault = node["fault"]?.string.flatMap(Fault.init)
    response.commit = node["commit"].flatMap(commit)
    response.contentLength = node.integer("contentLength")
    response.truncateAfter = node.integer("truncateAfter")
    response.redirect = node["redirect"]?.string
    response.isCaptivePortal = node["captivePortal"]?.bool ?? false
    if let redirect = response.redirect, !FieldText.isValue(redirect) {
      throw FaultPlanError(
        "a Location cannot hold such characters", at: (node["redirect"] ?? node).position,
        pointer: pointer + "/redirect")
    }
    if let retry = node["retryAfter"], response.retryAfter == nil {
      throw FaultPlanError(
        "\"retryAfter\" needs \"in\" or \"raw\"", at: retry.position,
        pointer: pointer + "/retryAfter")
    }
    response.effects = try (node["effects"]?.elements ?? []).enumerated().map { index, item in
      try effect(item, "\(pointer)/effects/\(index)")
    }
    try checkCut(response.truncateAfter, node["truncateAfter"], response, "/truncateAfter")
    for (index, effect) in response.effects.enumerated() where effect.type == .limitData {
      let place = node["effects"]?.elements[index]["bytes"]
      try checkCut(effect.bytes, place, response, "/effects/\(index)/bytes")
    }
    return response
  }

  /// A cut behind the end of a body that the plan itself gives would never be one.
  private func checkCut(
    _ bytes: Int?, _ place: JSONNode?, _ response: ResponseSpec, _ key: String
  ) throws {
    guard let bytes, let place, let body = response.body, bytes >= body.count else { return }
    throw FaultPlanError(
      "the body has only \(body.count) bytes; nothing is cut off", at: place.position,
      pointer: pointer + key)
  }

  private func headers(_ node: JSONNode?) throws -> [(name: String, value: String)] {
    try (node?.members ?? []).flatMap { member -> [(name: String, value: String)] in
      let values = member.value.string.map { [$0] } ?? member.value.elements.compactMap(\.string)
      guard FieldText.isName(member.key) else {
        throw FaultPlanError(
          "\"\(member.key)\" is no header name", at: member.keyPosition,
          pointer: pointer + "/headers")
      }
      if let framing = FieldText.framing.first(where: { $0 == member.key.lowercased() }) {
        throw FaultPlanError(
          "\"\(framing)\" is framing; use \"contentLength\", \"truncateAfter\", \"dribble\" or "
            + "an effect", at: member.keyPosition, pointer: pointer + "/headers")
      }
      for value in values where !FieldText.isValue(value) {
        throw FaultPlanError(
          "a header's value cannot hold such characters", at: member.value.position,
          pointer: pointer + "/headers/" + PlanReader.escaped(member.key))
      }
      return values.map { (member.key, $0) }
    }
  }

  private func readBody(_ node: JSONNode, into response: inout ResponseSpec) throws {
    if let text = node["body"]?.string {
      response.body = Array(text.utf8)
      response.bodyType = "text/plain; charset=utf-8"
    } else if let json = node["jsonBody"] {
      response.body = JSONWriter.bytes(json.value)
      response.bodyType = "application/json"
    } else if let data = node["base64Body"]?.string.flatMap({ Data(base64Encoded: $0) }) {
      response.body = Array(data)
      response.bodyType = "application/octet-stream"
    }
    if let status = response.status, HTTPResponse.isBodiless(status), response.body != nil {
      throw FaultPlanError(
        "status \(status) has no body", at: (node["status"] ?? node).position,
        pointer: pointer + "/status")
    }
  }

  private func commit(_ node: JSONNode) -> CommitSpec? {
    switch node.string {
    case "none": return CommitSpec.none
    case "all": return .all
    default: return node.integer("first").map(CommitSpec.first)
    }
  }

  private func retryAfter(_ node: JSONNode) throws -> RetryAfterSpec? {
    if let raw = node["raw"], let text = raw.string {
      guard FieldText.isValue(text) else {
        throw FaultPlanError(
          "a header's value cannot hold such characters", at: raw.position,
          pointer: pointer + "/retryAfter/raw")
      }
      return .raw(text)
    }
    guard let duration = node.durationNs("in") else { return nil }
    return node["form"]?.string.flatMap(HTTPDate.Form.init).map { .date(duration, $0) }
      ?? .seconds(duration)
  }

  private func delay(_ node: JSONNode, _ pointer: String) throws -> DelaySpec {
    if let text = node.string {
      return .fixed(try Quantity.nanoseconds(text))
    }
    let type = node["type"]?.string ?? "fixed"
    let needed =
      ["fixed": ["duration"], "uniform": ["lower", "upper"]][type] ?? ["median", "sigma"]
    let known = needed + (type == "lognormal" ? ["max"] : []) + ["type"]
    for key in needed where node[key] == nil {
      throw FaultPlanError(
        "a \(type) delay needs \"\(key)\"", at: node.position, pointer: pointer)
    }
    for member in node.members where !known.contains(member.key) {
      throw FaultPlanError(
        "a \(type) delay has no \"\(member.key)\"", at: member.keyPosition,
        pointer: pointer + "/" + member.key)
    }
    switch type {
    case "fixed": return .fixed(node.durationNs("duration") ?? 0)
    case "uniform":
      let lower = node.durationNs("lower") ?? 0
      let upper = node.durationNs("upper") ?? 0
      guard lower <= upper else {
        throw FaultPlanError(
          "\"upper\" is below \"lower\"", at: (node["upper"] ?? node).position,
          pointer: pointer + "/upper")
      }
      return .uniform(lower: lower, upper: upper)
    default:
      return .lognormal(
        median: node.durationNs("median") ?? 0, sigma: node["sigma"]?.number?.double ?? 0,
        max: node.durationNs("max") ?? ResponseDecoder.longestDelayNs)
    }
  }

  /// Where a lognormal delay is cut without `max`.
  private static let longestDelayNs: Int64 = 3_600_000_000_000

  private func effect(_ node: JSONNode, _ pointer: String) throws -> Effect {
    let at = node["at"]?.string.flatMap(Phase.init) ?? .responseHead
    let type = node["type"]?.string.flatMap(EffectType.init) ?? .delay
    var effect = Effect(at: at, type: type)
    let rule = EffectReading.rule(of: type)
    guard rule.phases.contains(at) else {
      let names = PlanShape.list(Phase.allCases.filter(rule.phases.contains).map(\.rawValue))
      throw FaultPlanError(
        "an effect \"\(type.rawValue)\" cannot lie at \"\(at.rawValue)\"; it can at \(names)",
        at: (node["at"] ?? node).position, pointer: pointer + "/at")
    }
    for key in rule.required where node[key] == nil {
      throw FaultPlanError(
        "an effect \"\(type.rawValue)\" needs \"\(key)\"", at: node.position, pointer: pointer)
    }
    let known = rule.required + rule.optional + ["at", "type"]
    for member in node.members where !known.contains(member.key) {
      let isPlace = member.key == "afterBytes" && at == .responseBody
      guard isPlace, type != .bandwidth, type != .limitData else {
        throw FaultPlanError(
          "an effect \"\(type.rawValue)\" at \"\(at.rawValue)\" has no \"\(member.key)\"",
          at: member.keyPosition, pointer: pointer + "/" + member.key)
      }
    }
    effect.name = node["name"]?.string ?? ""
    effect.timeoutNs = node.durationNs("timeout")
    effect.delay = try node["delay"].map { try delay($0, pointer + "/delay") }
    effect.rate = node.integer("rate") ?? 0
    effect.bytes = node.integer("bytes") ?? EffectReading.garbageBytes
    effect.afterBytes = node.integer("afterBytes")
    return effect
  }
}

/// Where the types of effects may lie, and which keys they read.
enum EffectReading {
  struct Reading {
    var phases: Set<Phase>
    var required: [String] = []
    var optional: [String] = []
  }
  /// Bytes of garbage where the plan names no number.
  static let garbageBytes = 64

  static func rule(of type: EffectType) -> Reading {
    let all = Set(Phase.allCases)
    switch type {
    case .gate: return Reading(phases: all, required: ["name"], optional: ["timeout"])
    case .delay: return Reading(phases: all, required: ["delay"])
    case .reset, .close: return Reading(phases: all)
    case .halfClose: return Reading(phases: [.responseHead, .responseBody, .responseEnd])
    case .stall: return Reading(phases: all.subtracting([.responseEnd]), optional: ["timeout"])
    case .garbage:
      return Reading(phases: [.responseHead, .responseBody, .responseEnd], optional: ["bytes"])
    case .bandwidth: return Reading(phases: [.responseBody], required: ["rate"])
    case .limitData: return Reading(phases: [.responseBody], required: ["bytes"])
    case .slowClose: return Reading(phases: [.responseEnd], required: ["delay"])
    }
  }
}

/// What header fields may hold (RFC 9110, section 5.5).
enum FieldText {
  /// Fields that only the performer writes.
  static let framing = ["content-length", "transfer-encoding", "connection"]

  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(ASCII.isToken)
  }

  static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy(ASCII.isFieldContent) }
}
