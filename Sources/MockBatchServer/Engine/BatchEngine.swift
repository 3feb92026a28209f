/// The deciding half of the server: contract, ledger, fault plan, gates and journal, without a
/// socket. Performers (`SocketServer`, `EngineURLProtocol`, a test) hand requests in and carry out
/// what the exchanges say, so that a plan means the same everywhere.
///
/// Thread safe.
public final class BatchEngine: Sendable {
  /// The clock of every delay, window, expiry and date.
  public let clock: any EngineClock
  private let observer: @Sendable (EngineEvent) -> Void
  private let counters = Guarded(Counters())

  private struct Counters {
    var requests = 0
    var events = 0
  }

  /// An engine without faults.
  ///
  /// - Parameters:
  ///   - clock: drives everything that depends on time; a scripted one makes runs repeatable.
  ///   - onEvent: called for everything that happens, on the thread where it happens, outside
  ///     every lock. It must not block.
  public init(
    clock: any EngineClock = LiveEngineClock(),
    onEvent: @escaping @Sendable (EngineEvent) -> Void = { _ in }
  ) {
    self.clock = clock
    observer = onEvent
  }

  func report(_ request: Int, _ kind: EngineEvent.Kind) {
    let sequence = counters.access { counters -> Int in
      counters.events += 1
      return counters.events
    }
    observer(
      EngineEvent(sequence: sequence, atNs: clock.nowNs, request: request, kind: kind))
  }
}
