import JSONText

/// A `when` step that waits for the device's storage.
package struct StorageWish: Sendable, Equatable {
  /// The step in the timeline.
  package var step: Int
  /// `write`, `sync`, `delete` or `any`.
  package var operation: String
  /// So many more of them, the one it waits for included.
  package var remaining: Int64
  /// The process dies at it.
  package var kills: Bool

  package init(step: Int, operation: String, remaining: Int64, kills: Bool) {
    self.step = step
    self.operation = operation
    self.remaining = remaining
    self.kills = kills
  }

  package init?(_ message: JSONValue) {
    guard let step = message["step"]?.intValue, let operation = message["operation"]?.stringValue,
      let remaining = message["remaining"]?.int64Value
    else { return nil }
    self.init(
      step: step, operation: operation, remaining: remaining,
      kills: message["kills"]?.boolValue ?? false)
  }

  package var message: JSONValue {
    [
      "step": .number(JSONNumber(step)), "operation": .string(operation),
      "remaining": .number(JSONNumber(remaining)), "kills": .bool(kills),
    ]
  }
}

/// Counts a device process's storage operations, tells each to the runner before it happens, and
/// ends the process where the script wants that: the runner would always come too late.
///
/// Thread safe.
final class StorageWatch: Sendable {
  private let wishes: Guarded<[StorageWish]>
  private let say: @Sendable (JSONObject) -> Void
  private let die: @Sendable () -> Void

  /// - Parameter die: ends the process at once.
  init(
    _ wishes: [StorageWish], say: @escaping @Sendable (JSONObject) -> Void,
    die: @escaping @Sendable () -> Void
  ) {
    self.wishes = Guarded(wishes)
    self.say = say
    self.die = die
  }

  /// The device is about to do this.
  func happens(_ operation: StorageOperation) {
    let fired = wishes.withLock { wishes -> [StorageWish]? in
      guard !wishes.isEmpty else { return nil }
      for index in wishes.indices
      where wishes[index].operation == operation.rawValue || wishes[index].operation == "any" {
        wishes[index].remaining -= 1
      }
      let fired = wishes.filter { $0.remaining <= 0 }
      wishes.removeAll { $0.remaining <= 0 }
      return fired
    }
    guard let fired else { return }
    say(["event": "storage", "operation": .string(operation.rawValue)])
    for wish in fired { say(["event": "storageReached", "step": .number(JSONNumber(wish.step))]) }
    if fired.contains(where: \.kills) { die() }
  }
}
