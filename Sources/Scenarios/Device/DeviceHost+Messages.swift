import JSONText
import TelemetrySDK

extension DeviceHost {
  static func name(_ state: DeliveryState) -> String {
    switch state {
    case .idle: return "idle"
    case .sending: return "sending"
    case .backingOff: return "backingOff"
    case .gatedByServer: return "gatedByServer"
    case .waitingForToken: return "waitingForToken"
    case .pausedByRefusals: return "pausedByRefusals"
    case .offline: return "offline"
    case .lowPower: return "lowPower"
    case .suspended: return "suspended"
    case .storageUnavailable: return "storageUnavailable"
    case .disabled: return "disabled"
    }
  }

  static func message(_ receipt: RecordReceipt) -> JSONValue {
    switch receipt {
    case .durable(let id): return ["receipt": "durable", "id": .string(id.description)]
    case .buffered(let id, let reason):
      return [
        "receipt": "buffered", "id": .string(id.description), "reason": .string(reason.rawValue),
      ]
    case .rejected(let reason):
      return ["receipt": "rejected", "reason": .string(reason.rawValue)]
    }
  }

  static func message(_ sighting: StoreSighting) -> JSONObject {
    func ids(_ list: [EventID]) -> JSONValue { .array(list.map { .string($0.description) }) }
    switch sighting {
    case .becameDurable(let list): return ["event": "becameDurable", "ids": ids(list)]
    case .acknowledged(let list): return ["event": "acknowledged", "ids": ids(list)]
    case .erased(let list): return ["event": "erased", "ids": ids(list)]
    case .quarantined(let list, let reason):
      return ["event": "quarantined", "ids": ids(list), "reason": .string(reason)]
    }
  }

  /// Diagnostics that the store's sightings do not tell already.
  static func message(_ event: DiagnosticEvent) -> JSONObject {
    switch event {
    case .dropped(let count, let reason):
      return [
        "event": "dropped", "count": .number(JSONNumber(count)), "reason": .string(reason.rawValue),
      ]
    case .corruptFileMovedAside(let lost):
      return [
        "event": "dropped", "count": .number(JSONNumber(lost)), "reason": "corruptFile",
      ]
    case .invalidConfiguration(let problems):
      return [
        "event": "invalidConfiguration", "problems": .array(problems.map { .string($0) }),
      ]
    default: return ["event": "diagnostic", "what": .string(DiagnosticWords.text(event))]
    }
  }
}

/// The app's token provider: answers at once what the script says.
///
/// Thread safe.
final class ScriptedTokenProvider: TokenProvider {
  private let token: Guarded<DeviceToken>

  init(_ token: DeviceToken) { self.token = Guarded(token) }

  func set(value: String?, account: String) {
    token.withLock { $0 = DeviceToken(value: value, account: account, notify: false) }
  }

  func token(_ completion: @escaping @Sendable (AccessToken?) -> Void) {
    let current = token.withLock { $0 }
    completion(current.value.map { AccessToken(value: $0, account: current.account) })
  }
}
