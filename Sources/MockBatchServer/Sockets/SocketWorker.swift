/// One thread of a socket server, with the connections that live on it.
///
/// Guard: everything belongs to the loop's thread, except what is constant.
final class SocketWorker: @unchecked Sendable {
  let loop: EventLoop
  let limits: HTTPLimits
  let clock: any EngineClock
  /// Connections close behind the answer in progress.
  private(set) var isDraining = false
  private var isOver = false
  private var connections: [Int: Connection] = [:]
  private var nextSweepNs = Int64.max
  private var sweep: (any EngineTimer)?

  /// Deadlines are looked at no more often than this.
  static let sweepNs: Int64 = 100_000_000

  init(clock: any EngineClock, limits: HTTPLimits) throws {
    self.clock = clock
    self.limits = limits
    loop = try EventLoop()
  }

  // MARK: Connections (loop's thread)

  /// Takes a connection in.
  func open(_ connection: Connection) {
    connections[connection.id] = connection
    guard !isOver else { return connection.close() }
    connection.open()
    if isDraining { connection.closeIfIdle() }
  }

  func forget(_ connection: Connection) { connections[connection.id] = nil }

  // MARK: Ends (any thread; return when it is done)

  /// Ends at once: exchanges in progress are told, descriptors are closed, the thread ends.
  func stop() {
    loop.run { [self] in
      isOver = true
      sweep?.cancel()
      sweep = nil
      for connection in connections.values {
        connection.endExchange(.serverStopped)
        connection.close()
      }
    }
    loop.stop()
  }

  /// Closes what is idle now, and the others behind their answer.
  func drain() {
    loop.run { [self] in
      isDraining = true
      for connection in connections.values { connection.closeIfIdle() }
    }
  }

  /// Resets the connections that follow the plan.
  func resetConnections() {
    loop.run { [self] in
      for connection in connections.values where connection.followsPlan {
        connection.endExchange(.clientWentAway)
        connection.abort()
      }
    }
  }

  // MARK: Deadlines (loop's thread)

  /// Sees to it that a sweep happens no later than `deadline`.
  func noteDeadline(_ deadline: Int64) {
    guard deadline < nextSweepNs else { return }
    sweep?.cancel()
    nextSweepNs = deadline
    sweep = clock.schedule(atNs: deadline) { [self] in
      loop.post { [self] in sweepDeadlines() }
    }
  }

  private func sweepDeadlines() {
    let now = clock.nowNs
    var earliest = Int64.max
    for connection in connections.values {
      if connection.nextDeadlineNs <= now { connection.expire(nowNs: now) }
      if connection.phase != .closed { earliest = min(earliest, connection.nextDeadlineNs) }
    }
    nextSweepNs = .max
    guard earliest < .max else { return }
    noteDeadline(max(earliest, now &+ SocketWorker.sweepNs))
  }
}
