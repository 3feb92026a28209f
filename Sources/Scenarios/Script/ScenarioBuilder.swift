import Foundation
import JSONText

/// Turns a script that fits the definition into the model. Nothing is checked here any more.
struct ScenarioBuilder {
  let file: String
  let source: [UInt8]
  let document: JSONDocument

  func scenario(_ root: ScriptNode, variant: Matrix.Variant) -> Scenario {
    let drain = root["drain"]
    return Scenario(
      file: file, name: root["name"]?.string ?? "", about: root["about"]?.string ?? "",
      seed: UInt64(root["seed"]?.integer ?? 1),
      lanes: root["lanes"]?.elements.compactMap { $0.string.flatMap(LaneName.init) }
        ?? LaneName.standard,
      listsLanes: root["lanes"] != nil,
      variant: variant.map { ($0.name, Substitution.plain($0.value)) },
      needs: root["needs"]?.elements.compactMap { $0.string.map(resolve) } ?? [],
      device: device(root["device"]), devicePosition: root["device"]?.position,
      plan: root["server"].map(plan),
      timeline: (root["timeline"]?.elements ?? []).enumerated().map { step($1, index: $0) },
      drainWithinNs: duration(drain?["within"]) ?? 900_000_000_000,
      drainSkipped: drain?["skip"]?.bool ?? false,
      acceptsNone: root["accepts"]?.string == "none",
      expect: expectations(root["expect"]))
  }

  /// The plan alone in the script's text, so that its parser finds the same positions.
  private func plan(_ node: ScriptNode) -> PlanText {
    if node.substituted {
      var bytes = [UInt8](repeating: 0x0a, count: node.position.line - 1)
      bytes += [UInt8](repeating: 0x20, count: node.position.column - 1)
      return PlanText(bytes: bytes + JSONWriter.bytes(node.value), position: node.position)
    }
    guard let range = document.root["server"]?.byteRange else {
      return PlanText(bytes: JSONWriter.bytes(node.value), position: node.position)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.upperBound)
    for byte in source[..<range.lowerBound] {
      // Continuation bytes would count as columns of their own.
      if byte & 0xc0 != 0x80 { bytes.append(byte == 0x0a ? 0x0a : 0x20) }
    }
    return PlanText(bytes: bytes + source[range], position: node.position)
  }

  private func resolve(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    let folder = (file as NSString).deletingLastPathComponent
    return (folder.isEmpty ? "." : folder) + "/" + path
  }

  private func duration(_ node: ScriptNode?) -> Int64? {
    // Already checked by the shape: a text that is no duration does not come here.
    node?.string.flatMap { try? Quantity.duration($0, signed: true) }
  }

  private func size(_ node: ScriptNode?) -> Int64? {
    // Already checked by the shape.
    node?.string.flatMap { try? Quantity.size($0) }
  }

  private func device(_ node: ScriptNode?) -> DeviceSettings {
    var settings = DeviceSettings()
    guard let node else { return settings }
    settings.queueCapBytes = size(node["queueCap"]) ?? settings.queueCapBytes
    settings.batchLimitBytes = size(node["batchLimit"]) ?? settings.batchLimitBytes
    settings.batchEvents = node["batchEvents"]?.integer ?? settings.batchEvents
    settings.flushEveryNs = duration(node["flushEvery"]) ?? settings.flushEveryNs
    settings.maxAgeNs = duration(node["maxAge"]) ?? settings.maxAgeNs
    settings.memoryBufferBytes = size(node["memoryBuffer"]) ?? settings.memoryBufferBytes
    settings.powerLossDurability = node["durability"]?.string == "powerLoss"
    settings.isolate = node["isolate"]?.bool ?? false
    settings.arrayEnvelope = node["envelope"]?.string == "array"
    settings.sessionTimeoutNs = duration(node["sessionTimeout"]) ?? settings.sessionTimeoutNs
    settings.requestTimeoutNs = duration(node["requestTimeout"]) ?? settings.requestTimeoutNs
    settings.backgroundTimeNs = duration(node["backgroundTime"]) ?? settings.backgroundTimeNs
    settings.planted = node["planted"]?.string.flatMap(PlantedFault.init)
    if let token = node["token"] { settings.token = deviceToken(token) }
    return settings
  }

  private func deviceToken(_ node: ScriptNode) -> DeviceToken {
    DeviceToken(
      value: node["value"]?.string, account: node["account"]?.string ?? "",
      notify: node["notify"]?.bool ?? false)
  }

  private func expectations(_ node: ScriptNode?) -> [Expectation] {
    (node?.elements ?? []).compactMap { entry in
      entry.members.first.map {
        Expectation(key: $0.key, value: $0.value.value, position: $0.keyPosition)
      }
    }
  }

  private func step(_ node: ScriptNode, index: Int) -> Step {
    let moment: StepMoment =
      node["when"].map { .when(trigger($0)) } ?? .at(duration(node["at"]) ?? 0)
    return Step(
      index: index, position: node.position, moment: moment,
      action: deviceAction(node) ?? systemAction(node) ?? serverAction(node) ?? .expect([]))
  }

  private func trigger(_ node: ScriptNode) -> Trigger {
    if let gate = node["gate"]?.string { return .gate(gate) }
    if let request = node["request"]?.integer {
      return .request(request, phase: node["phase"]?.string ?? "requestBody")
    }
    if let count = node["recorded"]?.integer { return .recorded(count) }
    return .storage(
      operation: node["storage"]?.string ?? "any", nth: node["nth"]?.integer ?? 1)
  }

  private func record(_ node: ScriptNode) -> RecordStep {
    var payload: JSONObject?
    if case .object(let object)? = node["payload"]?.value { payload = object }
    return RecordStep(
      name: node["as"]?.string ?? "", count: node["count"]?.integer ?? 1,
      everyNs: duration(node["every"]) ?? 0, type: node["type"]?.string ?? "event",
      payload: payload, payloadBytes: size(node["payloadSize"]),
      file: node["file"]?.string.map(resolve), id: node["id"]?.string)
  }

  private func deviceAction(_ node: ScriptNode) -> StepAction? {
    if let value = node["record"] { return .record(record(value)) }
    if let value = node["app"]?.string { return .app(foreground: value == "foreground") }
    if let value = node["backgroundTask"]?.string {
      return .backgroundTask(granted: value == "granted")
    }
    if let value = node["flush"] {
      return .flush(timeoutNs: duration(value["timeout"]) ?? 30_000_000_000)
    }
    if let value = node["deviceToken"] { return .deviceToken(deviceToken(value)) }
    if let value = node["key"]?.string.flatMap(KeyChange.init) { return .key(value) }
    if node["session"] != nil { return .newSession }
    if let value = node["consent"]?.bool { return .consent(value) }
    if node["purge"] != nil { return .purge }
    if let value = node["quarantine"]?.string { return .quarantine(requeue: value == "requeue") }
    return nil
  }

  private func systemAction(_ node: ScriptNode) -> StepAction? {
    if let value = node["network"]?.string {
      let state = NetworkState(rawValue: value == "online" ? "wifi" : value) ?? .wifi
      return .network(state, redirects: node["portal"]?.string == "302")
    }
    if let value = node["lowPower"]?.bool { return .lowPower(value) }
    if let value = node["clock"] { return .wallJump(ns: duration(value["wallJump"]) ?? 0) }
    if let value = node["disk"]?.string.flatMap(DiskState.init) { return .disk(value) }
    if let value = node["database"]?.string.flatMap(DatabaseChange.init) {
      return .database(value)
    }
    let restart = duration(node["restartAfter"])
    if node["kill"] != nil { return .kill(restartAfterNs: restart) }
    if node["restart"] != nil { return .restart }
    if node["reboot"] != nil { return .reboot(restartAfterNs: restart) }
    return nil
  }

  private func serverAction(_ node: ScriptNode) -> StepAction? {
    if let value = node["serverToken"] {
      return .serverToken(
        accept: value["accept"]?.string, account: value["account"]?.string ?? "",
        expire: value["expire"]?.string)
    }
    if node["server"] != nil { return .serverRestart }
    if let value = node["gate"] {
      return .gate(name: value["name"]?.string ?? "", open: value["state"]?.string == "open")
    }
    if let value = node["expect"] { return .expect(expectations(value)) }
    return nil
  }
}
