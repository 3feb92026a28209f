import JSONText

/// Where a scenario runs.
package enum LaneName: String, Sendable, CaseIterable, Hashable {
  /// SDK core and server engine in one process and one thread, fully deterministic.
  case virtual
  /// A device process whose requests a URLProtocol hands to the runner's engine.
  case urlprotocol
  /// A device process, URLSession over TCP, the real server.
  case socket
  /// A real server by URL, in real time.
  case remote

  /// Lanes of a script that names none.
  package static let standard: [LaneName] = [.virtual, .urlprotocol, .socket]
}

/// A device broken on purpose. Exists in debug builds of the runner only, never in the SDK.
package enum PlantedFault: String, Sendable, CaseIterable {
  case forgetsQueueAtRestart, deletesBeforeAcknowledgement, storesPlainText, neverSyncs, crashes,
    isKilled, keepsClearIndex, logsEvents, keepsBackgroundTime, movesTime
}

/// One script, checked, for one combination of its matrix.
package struct Scenario: Sendable {
  /// The script's file as given.
  package var file: String
  package var name: String
  package var about: String
  package var seed: UInt64
  package var lanes: [LaneName]
  /// True where the script names its lanes itself.
  package var listsLanes: Bool
  /// Values of the matrix this one stands for, in the order of the script; empty without one.
  package var variant: [(name: String, value: String)]
  package var needs: [String]
  package var device: DeviceSettings
  /// Where the device block stands, for mistakes in it.
  package var devicePosition: JSONPosition?
  /// The fault plan's JSON after substitution; nil for a server without faults.
  package var plan: PlanText?
  package var timeline: [Step]
  package var drainWithinNs: Int64
  package var drainSkipped: Bool
  package var acceptsNone: Bool
  package var expect: [Expectation]

  /// The name, with the variant where there is one: `name[cap=20MB]`.
  package var title: String {
    guard !variant.isEmpty else { return name }
    return "\(name)[\(variant.map { "\($0.name)=\($0.value)" }.joined(separator: ","))]"
  }
}

extension Scenario {
  /// True where power is lost: what was never synced is gone then.
  package var losesPower: Bool {
    timeline.contains { step in
      if case .reboot = step.action { return true }
      return false
    }
  }

  /// Whose the device's tokens are, by value: a server that takes any token knows no accounts.
  package var deviceAccounts: [String: String] {
    var tokens = [device.token]
    for step in timeline { if case .deviceToken(let token) = step.action { tokens.append(token) } }
    var accounts: [String: String] = [:]
    for token in tokens { if let value = token.value { accounts[value] = token.account } }
    return accounts
  }
}

/// A fault plan inside a script. `bytes` has the same line and column positions as the script,
/// so that mistakes inside are reported where they stand.
package struct PlanText: Sendable {
  package var bytes: [UInt8]
  package var position: JSONPosition
}

/// The device block.
package struct DeviceSettings: Sendable {
  package var queueCapBytes: Int64 = 20_000_000
  package var batchLimitBytes: Int64 = 256_000
  package var batchEvents: Int64 = 1_000
  package var flushEveryNs: Int64 = 30_000_000_000
  package var maxAgeNs: Int64 = 30 * 86_400_000_000_000
  package var memoryBufferBytes: Int64 = 512_000
  package var powerLossDurability = false
  package var isolate = false
  package var arrayEnvelope = false
  package var sessionTimeoutNs: Int64 = 1_800_000_000_000
  package var requestTimeoutNs: Int64 = 30_000_000_000
  package var backgroundTimeNs: Int64 = 0
  package var token = DeviceToken(value: "T1", account: "", notify: false)
  package var planted: PlantedFault?
  package init() {}
}

/// What the device's token provider answers.
package struct DeviceToken: Sendable, Equatable {
  /// Nil: the provider has none.
  package var value: String?
  package var account: String
  package var notify: Bool
}

/// One line of a timeline.
package struct Step: Sendable {
  /// Its place in the timeline, from 0.
  package var index: Int
  package var position: JSONPosition
  package var moment: StepMoment
  package var action: StepAction
}

/// When a step happens.
package enum StepMoment: Sendable, Equatable {
  /// Nanoseconds of scenario time.
  case at(Int64)
  case when(Trigger)
}

/// What makes a step happen that has no time of its own. Each fires once.
package enum Trigger: Sendable, Equatable {
  case gate(String)
  case request(Int64, phase: String)
  case recorded(Int64)
  case storage(operation: String, nth: Int64)
}

/// What a step does.
package enum StepAction: Sendable {
  case record(RecordStep)
  case app(foreground: Bool)
  case backgroundTask(granted: Bool)
  case flush(timeoutNs: Int64)
  case deviceToken(DeviceToken)
  case key(KeyChange)
  case newSession
  case consent(Bool)
  case purge
  case quarantine(requeue: Bool)
  case network(NetworkState, redirects: Bool)
  case lowPower(Bool)
  case wallJump(ns: Int64)
  case disk(DiskState)
  case database(DatabaseChange)
  case kill(restartAfterNs: Int64?)
  case restart
  case reboot(restartAfterNs: Int64?)
  case serverToken(accept: String?, account: String, expire: String?)
  case serverRestart
  case gate(name: String, open: Bool)
  case expect([Expectation])
}

extension StepAction {
  /// Whether only a running app can do it: for a dead one it cannot be kept until the next start.
  var needsLivingDevice: Bool {
    switch self {
    case .backgroundTask, .flush, .newSession, .purge, .quarantine, .key(.rotate):
      return true
    default: return false
    }
  }

  /// Whether the step ends the device's life.
  var kills: Bool {
    switch self {
    case .kill, .reboot: return true
    default: return false
    }
  }
}

package enum KeyChange: String, Sendable { case rotate, lost, unavailable, available }
package enum DatabaseChange: String, Sendable, CaseIterable {
  case bitFlip, olderVersion, newerVersion, ownVersion
}
package enum DiskState: String, Sendable { case full, locked, protected, corrupt, ok }

package enum NetworkState: String, Sendable, CaseIterable {
  case wifi, cellular, expensive, offline, hidden, lying, captive
  /// What the system tells the app.
  package var pathSatisfied: Bool { self != .offline && self != .hidden }
  /// Whether a connection can be made.
  package var connects: Bool { self != .offline && self != .lying }
}

/// A record step.
package struct RecordStep: Sendable {
  package var name: String
  package var count: Int64
  package var everyNs: Int64
  package var type: String
  package var payload: JSONObject?
  package var payloadBytes: Int64?
  /// Resolved against the script's folder.
  package var file: String?
  package var id: String?
}

/// One expectation: its key, the value as written, and where it stands.
package struct Expectation: Sendable {
  package var key: String
  package var value: JSONValue
  package var position: JSONPosition
}
