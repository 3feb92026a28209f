/// The scenario language, defined once.
package enum ScenarioShape {
  /// Steps of one timeline at most.
  package static let maxSteps = 10_000
  /// Events one record step makes at most.
  package static let maxCount: Int64 = 1_000_000
  /// Bytes of a script at most.
  package static let maxScriptBytes = 4_000_000
  /// Bytes of a made payload at most: the SDK refuses an event long before.
  package static let maxPayloadBytes: Int64 = 16_000_000
  /// Combinations of a matrix at most.
  package static let maxVariants = 256

  package static let networks = [
    "wifi", "online", "cellular", "expensive", "offline", "hidden", "lying", "captive",
  ]
  package static let phases = [
    "accept", "requestHead", "requestBody", "committed", "responseHead", "responseBody",
    "responseEnd",
  ]
  package static let storageOperations = ["write", "sync", "delete", "any"]

  package static let root = ObjectShape(
    "a scenario",
    [
      FieldShape("$schema", .text(maxLength: 500), "Where editors find the JSON schema."),
      FieldShape("name", .name, required: true, "Unique among the scripts of one run."),
      FieldShape(
        "about", .text(maxLength: 1_000), required: true,
        "What happens and why it matters, for a field engineer."),
      FieldShape(
        "seed", .integer(0...Int64.max), byDefault: "1",
        "Every random draw of device and server derives from it."),
      FieldShape(
        "lanes", .list(of: .choice(LaneName.allCases.map(\.rawValue)), min: 1, max: 4),
        byDefault: "virtual, urlprotocol, socket", "Where the scenario runs."),
      FieldShape(
        "matrix", .map(.list(of: .any, min: 1, max: 64)),
        "Variables; the scenario runs once for every combination, `${name}` stands for the value."),
      FieldShape(
        "needs", .list(of: .text(maxLength: 500), min: 1, max: 8),
        "Files, relative to the script, without which the scenario is skipped by name."),
      FieldShape("device", .object(device), "The phone and the SDK's settings."),
      FieldShape("server", .plan, "The server's fault plan."),
      FieldShape(
        "timeline", .list(of: .step, min: 1, max: maxSteps), required: true,
        "Steps; those with `at` in the order of time, at the same time in the order of the file."),
      FieldShape("drain", .object(drain), "What happens after the last step."),
      FieldShape(
        "accepts", .choice(["some", "none"]), byDefault: "some",
        "`none`: the server is expected to accept nothing, and that is checked."),
      FieldShape(
        "expect", .list(of: .expectation, min: 1, max: 64), required: true,
        "What has to hold at the end."),
    ])

  static let drain = ObjectShape(
    "drain",
    [
      FieldShape(
        "within", .duration, byDefault: "15m",
        "Time the queue gets to empty once every fault is healed."),
      FieldShape(
        "skip", .boolean, byDefault: "false",
        "True: nothing is healed and nothing drained; the run ends after the last step."),
    ])

  static let device = ObjectShape(
    "device",
    [
      FieldShape("queueCap", .size, byDefault: "20MB", "Bytes on disk at most."),
      FieldShape(
        "batchLimit", .size, byDefault: "256KB", "Uncompressed JSON of one batch at most."),
      FieldShape(
        "batchEvents", .integer(1...100_000), byDefault: "1000", "Events of one batch at most."),
      FieldShape("flushEvery", .duration, byDefault: "30s", "The delivery timer while active."),
      FieldShape("maxAge", .duration, byDefault: "30d", "Age at which queued events are dropped."),
      FieldShape(
        "memoryBuffer", .size, byDefault: "512KB", "Memory for events while the disk is blocked."),
      FieldShape(
        "durability", .choice(["processKill", "powerLoss"]), byDefault: "processKill",
        "What a receipt promises."),
      FieldShape("isolate", .boolean, byDefault: "false", "Bisect bodies that got a final 4xx."),
      FieldShape(
        "envelope", .choice(["object", "array"]), byDefault: "object", "The body's outer form."),
      FieldShape(
        "sessionTimeout", .duration, byDefault: "30m",
        "Background time after which a new session starts."),
      FieldShape("requestTimeout", .duration, byDefault: "30s", "Deadline of one request."),
      FieldShape(
        "backgroundTime", .duration, byDefault: "0s",
        "How long the system lets the app run on in the background when the SDK asks for it; 0s:"
          + " not at all."),
      FieldShape("token", .object(deviceToken), "The token provider's first answer."),
      FieldShape(
        "planted", .choice(PlantedFault.allCases.map(\.rawValue)),
        "A device broken on purpose, which the checkers must catch. Debug builds only."),
    ])

  static let deviceToken = ObjectShape(
    "a device token",
    [
      FieldShape(
        "value", .either([.text(maxLength: 200), .null]), required: true,
        "What the token provider answers from now on; null: nothing."),
      FieldShape("account", .name, byDefault: "\"\"", "The account the token belongs to."),
      FieldShape(
        "notify", .boolean, byDefault: "false", "Also tell the SDK that the token changed."),
    ])

  static let record = ObjectShape(
    "record", excludes: ["payload", "payloadSize", "file"],
    [
      FieldShape("as", .name, required: true, "The name by which expectations mean these events."),
      FieldShape("count", .integer(1...maxCount), byDefault: "1", "How many events."),
      FieldShape("every", .duration, byDefault: "0s", "Time between two of them."),
      FieldShape("type", .text(maxLength: 200), byDefault: "\"event\"", "The events' type."),
      FieldShape(
        "payload", .anyObject, byDefault: "{\"n\":…}",
        "The payload of each; `n` is added, the position in the step."),
      FieldShape(
        "payloadSize", .size, "Makes a payload of about this size that does not compress."),
      FieldShape(
        "file", .text(maxLength: 500),
        "A JSON array or JSON Lines file of real events, relative to the script."),
      FieldShape("id", .text(maxLength: 36), "The caller's own UUID, for one event."),
    ])

  static let trigger = ObjectShape(
    "when", needsOneOf: ["gate", "request", "recorded", "storage"],
    excludes: ["gate", "request", "recorded", "storage"],
    [
      FieldShape("gate", .name, "The named gate of the fault plan was reached."),
      FieldShape(
        "request", .integer(1...1_000_000), "The n-th request, counted over all incarnations…"),
      FieldShape(
        "phase", .choice(phases), byDefault: "requestBody",
        "…reached this phase. It waits there until the step is done. A kill at `accept` or"
          + " `requestHead` ends the connection before the body has come."),
      FieldShape(
        "recorded", .integer(1...maxCount), "So many events got a receipt, over all incarnations."),
      FieldShape("storage", .choice(storageOperations), "The SDK's storage is about to do this…"),
      FieldShape("nth", .integer(1...10_000_000), byDefault: "1", "…for the n-th time."),
    ])

  static let restartAfter = FieldShape(
    "restartAfter", .duration, "When the app is started again; absent: by a restart step.")

  static func action(named key: String) -> ActionShape? { actions.first { $0.key == key } }
  static func expectation(named key: String) -> ExpectationShape? {
    expectations.first { $0.key == key }
  }
}
