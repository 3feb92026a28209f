import JSONText
import TelemetrySDK

/// Everything a device is told when it starts: the phone's state and the SDK's settings.
package struct DeviceSetup: Sendable {
  package var incarnation = 1
  package var seed: UInt64 = 1
  /// Scenario time now and at the last boot, nanoseconds.
  package var nowNs: Int64 = 0
  package var bootNs: Int64 = 0
  package var boot = "boot-1"
  package var wallOffsetNs: Int64 = 0
  package var folder = ""
  package var endpoint = ""
  package var network = NetworkState.wifi
  package var lowPower = false
  package var foreground = true
  package var keyAvailable = true
  /// What the user has said, as the app remembers it and tells the SDK at its start.
  package var consent = true
  package var disk = DiskState.ok
  /// Where the disk keeps what was synced; empty where no power loss is to come.
  package var medium = ""
  /// Steps that wait for storage operations, in a lane whose device counts them itself.
  package var storage: [StorageWish] = []
  package var token = DeviceToken(value: "T1", account: "", notify: false)
  package var settings = DeviceSettings()

  package init() {}

  /// The configuration of the SDK under test.
  package var configuration: TelemetryConfiguration {
    var configuration = TelemetryConfiguration(endpoint: endpoint, directory: folder)
    configuration.queueCapBytes = Int(settings.queueCapBytes)
    configuration.quarantineCapBytes = min(
      configuration.quarantineCapBytes, Int(settings.queueCapBytes / 2))
    configuration.walBudgetBytes = min(
      configuration.walBudgetBytes, Int(settings.queueCapBytes / 4))
    configuration.batchLimitBytes = Int(settings.batchLimitBytes)
    configuration.batchMaxEvents = Int(settings.batchEvents)
    configuration.flushIntervalMs = settings.flushEveryNs / 1_000_000
    configuration.consent = consent
    configuration.maxAgeMs = settings.maxAgeNs / 1_000_000
    configuration.memoryBufferBytes = Int(settings.memoryBufferBytes)
    configuration.durability = settings.powerLossDurability ? .powerLoss : .processKill
    configuration.isolatesRefusedBodies = settings.isolate
    configuration.envelope = settings.arrayEnvelope ? .array : .object(key: "events")
    configuration.sessionTimeoutMs = settings.sessionTimeoutNs / 1_000_000
    configuration.requestTimeoutMs = settings.requestTimeoutNs / 1_000_000
    configuration.resourceTimeoutMs = max(
      configuration.resourceTimeoutMs, configuration.requestTimeoutMs)
    return configuration
  }

  package var path: NetworkPath {
    NetworkPath(
      satisfied: network.pathSatisfied,
      expensive: network == .cellular || network == .expensive)
  }

  // MARK: As a message

  package var message: JSONObject {
    func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    return [
      "do": "open", "incarnation": number(Int64(incarnation)),
      "seed": .number(JSONNumber(seed)), "now": number(nowNs), "bootAt": number(bootNs),
      "boot": .string(boot), "wallOffset": number(wallOffsetNs), "folder": .string(folder),
      "endpoint": .string(endpoint), "network": .string(network.rawValue),
      "lowPower": .bool(lowPower), "foreground": .bool(foreground),
      "keyAvailable": .bool(keyAvailable), "consent": .bool(consent),
      "disk": .string(disk.rawValue),
      "medium": .string(medium),
      "storage": .array(storage.map(\.message)),
      "token": token.value.map { .string($0) } ?? .null, "account": .string(token.account),
      "queueCap": number(settings.queueCapBytes), "batchLimit": number(settings.batchLimitBytes),
      "batchEvents": number(settings.batchEvents), "flushEvery": number(settings.flushEveryNs),
      "maxAge": number(settings.maxAgeNs), "memoryBuffer": number(settings.memoryBufferBytes),
      "powerLoss": .bool(settings.powerLossDurability), "isolate": .bool(settings.isolate),
      "array": .bool(settings.arrayEnvelope), "sessionTimeout": number(settings.sessionTimeoutNs),
      "requestTimeout": number(settings.requestTimeoutNs),
      "backgroundTime": number(settings.backgroundTimeNs),
      "planted": settings.planted.map { .string($0.rawValue) } ?? .null,
    ]
  }

  package init(message: JSONValue) {
    func number(_ key: String) -> Int64 { message[key]?.int64Value ?? 0 }
    func text(_ key: String) -> String { message[key]?.stringValue ?? "" }
    func flag(_ key: String) -> Bool { message[key]?.boolValue ?? false }
    incarnation = Int(clamping: number("incarnation"))
    seed = message["seed"]?.numberValue?.uint64 ?? 1
    nowNs = number("now")
    bootNs = number("bootAt")
    boot = text("boot")
    wallOffsetNs = number("wallOffset")
    folder = text("folder")
    endpoint = text("endpoint")
    network = NetworkState(rawValue: text("network")) ?? .wifi
    lowPower = flag("lowPower")
    foreground = flag("foreground")
    keyAvailable = flag("keyAvailable")
    consent = flag("consent")
    disk = DiskState(rawValue: text("disk")) ?? .ok
    medium = text("medium")
    storage = (message["storage"]?.arrayValue ?? []).compactMap(StorageWish.init)
    token = DeviceToken(
      value: message["token"]?.stringValue, account: text("account"), notify: false)
    settings.queueCapBytes = number("queueCap")
    settings.batchLimitBytes = number("batchLimit")
    settings.batchEvents = number("batchEvents")
    settings.flushEveryNs = number("flushEvery")
    settings.maxAgeNs = number("maxAge")
    settings.memoryBufferBytes = number("memoryBuffer")
    settings.powerLossDurability = flag("powerLoss")
    settings.isolate = flag("isolate")
    settings.arrayEnvelope = flag("array")
    settings.sessionTimeoutNs = number("sessionTimeout")
    settings.requestTimeoutNs = number("requestTimeout")
    settings.backgroundTimeNs = number("backgroundTime")
    settings.planted = PlantedFault(rawValue: text("planted"))
  }
}
