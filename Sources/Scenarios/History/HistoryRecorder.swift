import TelemetrySDK

/// Collects a history from several threads; each entry is stamped with the scenario clock.
package final class HistoryRecorder: Sendable {
  /// More entries than any sensible run makes: a runaway device must not take the runner's memory.
  package static let maxEntries = 5_000_000

  private struct State {
    var history: History
    var refused = 0
  }
  private let state: Guarded<State>
  private let nowNs: @Sendable () -> Int64
  private let limit: Int

  /// - Parameters:
  ///   - limit: entries kept at most.
  ///   - nowNs: the scenario clock.
  package init(
    header: HistoryHeader, limit: Int = HistoryRecorder.maxEntries,
    nowNs: @escaping @Sendable () -> Int64
  ) {
    self.limit = limit
    state = Guarded(State(history: History(header: header)))
    self.nowNs = nowNs
  }

  /// Adds what happens now.
  package func append(_ event: HistoryEvent) { append(event, atNs: nowNs()) }

  /// Adds what happened at a moment of the scenario clock.
  package func append(_ event: HistoryEvent, atNs: Int64) {
    state.withLock { state in
      guard state.history.entries.count < limit else {
        state.refused += 1
        return
      }
      state.history.append(event, atNs: atNs)
    }
  }

  /// Puts in what somebody else saw, each entry in its place by time. What is beyond the limit is
  /// refused, as in `append`.
  package func merge(_ entries: [HistoryEntry]) {
    guard !entries.isEmpty else { return }
    state.withLock { state in
      let room = max(0, limit - state.history.entries.count)
      state.refused += max(0, entries.count - room)
      let all = state.history.entries + entries.prefix(room)
      state.history.entries = all.enumerated().sorted {
        ($0.element.atNs, $0.offset) < ($1.element.atNs, $1.offset)
      }.map(\.element)
    }
  }

  /// The history so far. Says in an entry of its own how many entries were refused at the bound.
  package var history: History {
    let state = state.withLock { $0 }
    guard state.refused > 0 else { return state.history }
    var history = state.history
    history.append(.full(refused: state.refused), atNs: nowNs())
    return history
  }
}
