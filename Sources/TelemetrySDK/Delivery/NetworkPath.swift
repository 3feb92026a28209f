/// What the system says about the network. A hint, never a proof: see `probeIntervalMs`.
public struct NetworkPath: Sendable, Hashable {
  /// Whether the system believes that a connection can be made.
  public var satisfied: Bool
  /// Cellular, or a personal hotspot.
  public var expensive: Bool
  /// Low Data Mode.
  public var constrained: Bool

  /// Makes a path.
  public init(satisfied: Bool = true, expensive: Bool = false, constrained: Bool = false) {
    self.satisfied = satisfied
    self.expensive = expensive
    self.constrained = constrained
  }
}
