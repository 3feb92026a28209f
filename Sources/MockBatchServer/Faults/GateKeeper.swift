/// The gates: a request that reaches one waits until somebody opens it. A gate is held until told
/// otherwise.
final class GateKeeper: Sendable {
  private struct Gate {
    var isOpen = false
    var waiting: [ObjectIdentifier: Park] = [:]
  }
  private let gates = Guarded<[String: Gate]>([:])
  /// Names beyond this are refused: a typo in a loop must not fill memory.
  static let maxGates = 1_000

  /// A park that ends when the gate opens; already over where it is open.
  func wait(at name: String) -> Park {
    let park = Park(reason: "gate \(name)")
    let isOpen = gates.access { gates -> Bool in
      var gate = gates[name] ?? Gate()
      if !gate.isOpen { gate.waiting[ObjectIdentifier(park)] = park }
      gates[name] = gate
      return gate.isOpen
    }
    if isOpen { park.release() }
    return park
  }

  /// Forgets a park that nobody waits for any more.
  func leave(_ name: String, _ park: Park) {
    gates.access { $0[name]?.waiting[ObjectIdentifier(park)] = nil }
  }

  /// Opens or holds a gate.
  ///
  /// - Returns: false when there are too many gates.
  func set(_ name: String, isOpen: Bool) -> Bool {
    let released = gates.access { gates -> [Park]? in
      guard gates[name] != nil || gates.count < GateKeeper.maxGates else { return nil }
      var gate = gates[name] ?? Gate()
      gate.isOpen = isOpen
      let released = isOpen ? Array(gate.waiting.values) : []
      if isOpen { gate.waiting = [:] }
      gates[name] = gate
      return released
    }
    released?.forEach { $0.release() }
    return released != nil
  }

  /// Holds every gate again and lets go who waits.
  func reset() {
    let released = gates.access { gates -> [Park] in
      defer { gates = [:] }
      return gates.values.flatMap { $0.waiting.values }
    }
    released.forEach { $0.release() }
  }

  /// Names, states, and how many wait.
  func all() -> [(name: String, isOpen: Bool, waiting: Int)] {
    gates.access { gates in
      gates.map { ($0.key, $0.value.isOpen, $0.value.waiting.count) }.sorted { $0.0 < $1.0 }
    }
  }
}
