/// Hands diagnostic events to every reader; keeps the first ones for the first reader.
package final class DiagnosticsHub: Sendable {
  /// Events kept while nobody reads, and waiting in each reader's stream.
  static let backlogLimit = 100
  static let streamLimit = 1_000

  private struct State {
    var readers: [Int: AsyncStream<DiagnosticEvent>.Continuation] = [:]
    var lost: [Int: Int] = [:]
    var nextReader = 0
    var backlog: [DiagnosticEvent] = []
    var lostBeforeFirstReader = 0
    var hadReader = false
  }

  private let state = Guarded(State())
  private let hook: (@Sendable (DiagnosticEvent) -> Void)?

  /// `hook` sees every event at once, on the thread where it happens, outside any lock.
  package init(hook: (@Sendable (DiagnosticEvent) -> Void)? = nil) { self.hook = hook }

  package func emit(_ event: DiagnosticEvent) {
    hook?(event)
    let readers = state.withLock { state -> [(Int, AsyncStream<DiagnosticEvent>.Continuation)] in
      if !state.hadReader {
        if state.backlog.count == DiagnosticsHub.backlogLimit {
          state.backlog.removeFirst()
          state.lostBeforeFirstReader += 1
        }
        state.backlog.append(event)
      }
      return state.readers.map { ($0.key, $0.value) }
    }
    for (reader, continuation) in readers { yield(event, to: reader, continuation) }
  }

  /// Tells a reader first how many events it missed, then the event.
  private func yield(
    _ event: DiagnosticEvent, to reader: Int,
    _ continuation: AsyncStream<DiagnosticEvent>.Continuation
  ) {
    let lost = state.withLock { $0.lost.removeValue(forKey: reader) ?? 0 }
    if lost > 0 { count(continuation.yield(.diagnosticsDropped(count: lost)), for: reader) }
    count(continuation.yield(event), for: reader)
  }

  private func count(
    _ result: AsyncStream<DiagnosticEvent>.Continuation.YieldResult, for reader: Int
  ) {
    guard case .dropped = result else { return }
    state.withLock { $0.lost[reader, default: 0] += 1 }
  }

  func stream() -> AsyncStream<DiagnosticEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(DiagnosticsHub.streamLimit)) { continuation in
      let (reader, backlog, lost) = state.withLock { state -> (Int, [DiagnosticEvent], Int) in
        let reader = state.nextReader
        state.nextReader += 1
        state.readers[reader] = continuation
        defer {
          state.backlog = []
          state.hadReader = true
          state.lostBeforeFirstReader = 0
        }
        return (reader, state.backlog, state.lostBeforeFirstReader)
      }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock {
          $0.readers[reader] = nil
          $0.lost[reader] = nil
        }
      }
      if lost > 0 { continuation.yield(.diagnosticsDropped(count: lost)) }
      for event in backlog { continuation.yield(event) }
    }
  }
}
