import MockBatchServer

/// The `when` steps that have not fired yet, watched from every thread.
///
/// A step that kills does so right here, on the thread that saw its moment: the server is held in
/// exactly that phase until the device is dead. For any other step of a request's phase the request
/// waits at a gate of the board's own until the runner has carried the step out.
final class TriggerBoard: Sendable {
  private struct Entry {
    var step: Int
    var trigger: Trigger
    var kills: Bool
  }
  private struct State {
    var entries: [Entry]
    var link: (any DeviceLink)?
    var storageCounts: [String: Int64] = [:]
    /// What requests have to do in phases where something fired.
    var orders: [String: PhaseOrder] = [:]
  }
  private let state: Guarded<State>
  private let mailbox: Mailbox

  init(steps: [Step], mailbox: Mailbox) {
    self.mailbox = mailbox
    state = Guarded(
      State(
        entries: steps.compactMap { step in
          guard case .when(let trigger) = step.moment else { return nil }
          return Entry(step: step.index, trigger: trigger, kills: step.action.kills)
        }))
  }

  func setLink(_ link: (any DeviceLink)?) { state.withLock { $0.link = link } }

  /// Events that may still be recorded before a `recorded` trigger; nil without one.
  func recordsUntilTrigger(from recorded: Int64) -> Int64? {
    state.withLock { state in
      state.entries.compactMap { entry -> Int64? in
        guard case .recorded(let count) = entry.trigger, count > recorded else { return nil }
        return count - recorded
      }.min()
    }
  }

  /// The timeline is over: only a death may still come, which the drain mends.
  func disarm() { state.withLock { $0.entries.removeAll { !$0.kills } } }

  func gateReached(_ name: String) { fire { $0 == .gate(name) } }
  func phase(_ phase: Phase, ofRequest number: Int64) {
    fire { $0 == .request(number, phase: phase.rawValue) }
  }

  /// Asked by the request itself, after its phase was told.
  func order(of number: Int64, in phase: Phase) -> PhaseOrder {
    state.withLock { $0.orders[TriggerBoard.gate(number, phase.rawValue)] } ?? .goOn
  }

  /// The gate at which a request waits for the steps of a phase.
  static func gate(_ number: Int64, _ phase: String) -> String {
    "\(gatePrefix)\(number) \(phase)"
  }
  static func owns(gate name: String) -> Bool { name.hasPrefix(gatePrefix) }
  /// No gate of a plan has a space in its name.
  private static let gatePrefix = "step at request "

  private static func note(_ entry: Entry, in orders: inout [String: PhaseOrder]) {
    guard case .request(let number, let phase) = entry.trigger else { return }
    let gate = gate(number, phase)
    if !entry.kills {
      orders[gate] = orders[gate] ?? .hold(gate: gate)
    } else if [Phase.accept, .requestHead].map(\.rawValue).contains(phase) {
      // The body may be in the system's hands already; in this phase it had not come.
      orders[gate] = .drop
    } else {
      orders[gate] = .goOn
    }
  }
  func recorded(_ count: Int64) {
    fire {
      guard case .recorded(let wanted) = $0 else { return false }
      return wanted <= count
    }
  }

  /// The device is about to do this; only devices in the runner's process say so.
  func storage(_ operation: String) {
    let counts = state.withLock { state -> [String: Int64]? in
      guard !state.entries.isEmpty else { return nil }
      for name in [operation, "any"] { state.storageCounts[name, default: 0] += 1 }
      return state.storageCounts
    }
    guard let counts else { return }
    fire {
      guard case .storage(let wanted, let nth) = $0, wanted == operation || wanted == "any" else {
        return false
      }
      return counts[wanted] == nth
    }
  }

  /// What a device that counts for itself has to look out for.
  var storageWishes: [StorageWish] {
    state.withLock { state in
      state.entries.compactMap { entry in
        guard case .storage(let operation, let nth) = entry.trigger else { return nil }
        return StorageWish(
          step: entry.step, operation: operation,
          remaining: nth - state.storageCounts[operation, default: 0], kills: entry.kills)
      }
    }
  }

  /// Such a device says that it is about to do this…
  func counted(_ operation: String) {
    state.withLock { state in
      for name in [operation, "any"] { state.storageCounts[name, default: 0] += 1 }
    }
  }

  /// …and that a step's moment has come. Where the step kills, the device dies of itself.
  func storageReached(step: Int) {
    let isKnown = state.withLock { state -> Bool in
      defer { state.entries.removeAll { $0.step == step } }
      return state.entries.contains { $0.step == step }
    }
    if isKnown { mailbox.put(.triggered(step: step)) }
  }

  private func fire(_ matches: (Trigger) -> Bool) {
    let (fired, link) = state.withLock { state -> ([Entry], (any DeviceLink)?) in
      let fired = state.entries.filter { matches($0.trigger) }
      state.entries.removeAll { entry in fired.contains { $0.step == entry.step } }
      for entry in fired { TriggerBoard.note(entry, in: &state.orders) }
      return (fired, state.link)
    }
    for entry in fired {
      // Told first: the runner must not see the stream's end without knowing why it ended.
      mailbox.put(.triggered(step: entry.step))
      if entry.kills { link?.kill() }
    }
  }
}
