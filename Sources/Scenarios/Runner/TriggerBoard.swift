/// The `when` steps that have not fired yet, watched from every thread.
///
/// A step that kills does so right here, on the thread that saw its moment: the server is held in
/// exactly that phase until the device is dead.
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

  func gateReached(_ name: String) { fire { $0 == .gate(name) } }
  func phase(_ phase: String, ofRequest number: Int64) {
    fire { $0 == .request(number, phase: phase) }
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
      return (fired, state.link)
    }
    for entry in fired {
      // Told first: the runner must not see the stream's end without knowing why it ended.
      mailbox.put(.triggered(step: entry.step))
      if entry.kills { link?.kill() }
    }
  }
}
