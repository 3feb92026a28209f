/// Which lane can do which step. What a lane cannot do skips that lane, by name; what no listed
/// lane can do is a mistake in the script.
package enum LaneCapability {
  /// Why the lane cannot do the step; nil where it can.
  package static func obstacle(to step: Step, in lane: LaneName) -> String? {
    switch lane {
    case .virtual, .urlprotocol, .socket: return nil
    case .remote: return remoteObstacle(step)
    }
  }

  /// The first obstacle of a whole scenario in the lane.
  package static func obstacle(to scenario: Scenario, in lane: LaneName) -> String? {
    for step in scenario.timeline {
      if let obstacle = obstacle(to: step, in: lane) {
        return "line \(step.position.line): \(obstacle)"
      }
    }
    return nil
  }

  private static func remoteObstacle(_ step: Step) -> String? {
    if case .when(let trigger) = step.moment {
      switch trigger {
      case .recorded, .storage: break
      case .gate, .request:
        return "a remote server has no phases and gates to wait for"
      }
    }
    switch step.action {
    case .serverToken, .serverRestart, .gate: return "a remote server is not steered"
    case .network(.captive, _): return "a remote server is no captive portal"
    default: return nil
    }
  }
}
