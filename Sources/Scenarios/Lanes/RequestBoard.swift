import MockBatchServer

/// Where every request of the device is on the server's side: what scenario time waits for.
///
/// Thread safe: performers write, the runner reads.
final class RequestBoard: Sendable {
  private enum Place {
    case running
    case parked(Park)
    case stalled(Park?)
    /// No server ever saw it.
    case hanging
    case ended
  }
  private let places = Guarded<[String: Place]>([:])
  private let onChange: @Sendable () -> Void

  init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

  /// True where the request waits for scenario time, a gate, or for ever. A request the server
  /// has not seen yet is under way, not parked.
  func isParked(_ name: String) -> Bool {
    places.withLock { places in
      switch places[name] {
      case .parked(let park): return !park.isReady
      case .stalled(let park): return park.map { !$0.isReady } ?? true
      case .hanging: return true
      case .running, .ended, nil: return false
      }
    }
  }

  /// False for a request of which the server has not seen anything.
  func hasSeen(_ name: String) -> Bool { places.withLock { $0[name] != nil } }

  func step(_ name: String, _ step: ExchangeStep) {
    places.withLock { places in
      switch step {
      case .park(let park): places[name] = .parked(park)
      case .finish(.stall(let park)): places[name] = .stalled(park)
      default: places[name] = .running
      }
    }
    onChange()
  }

  /// The request hangs although no server ever saw it: nobody accepts its connection.
  func hangs(_ name: String) {
    places.withLock { $0[name] = .hanging }
    onChange()
  }

  func ended(_ name: String) {
    places.withLock { places in
      // A stalled exchange stays so until its client goes; the client is what time waits for.
      if case .stalled = places[name] { return }
      places[name] = .ended
    }
    onChange()
  }

  /// Every connection to the server is lost: what waited there waits no more, its client will hear.
  func connectionsLost() {
    places.withLock { places in
      for (name, place) in places {
        if case .hanging = place { continue }
        places[name] = .ended
      }
    }
    onChange()
  }

  /// Requests of a dead device are nobody's business.
  func forgetAll() { places.withLock { $0 = [:] } }
}
