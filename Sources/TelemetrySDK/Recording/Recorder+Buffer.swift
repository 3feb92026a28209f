/// Writing the memory buffer: by the shell, and by callers while it recovers.
extension Recorder {
  /// What one chunk came to.
  struct Drained {
    var written: [EventID] = []
    /// Set where the store blocked.
    var blocked: BufferReason?
    /// Nothing was there to write, or nobody may write just now.
    var isIdle = false
  }

  private struct Chunk {
    var drained = Drained()
    var synced: [EventID] = []
    var duplicates: [EventID] = []
  }

  /// Events written in one go: about a millisecond.
  static let chunkEvents = 100

  /// Writes the oldest buffered events, waiting for others as long as it takes: for the shell.
  func drainChunk() -> Drained {
    finish(drain.withLock { _ in writeChunk { store.append(batch: $0) } })
  }

  /// The same for a caller on the app's thread.
  func drainChunk(_ patience: inout Patience) -> Drained {
    _ = patience.leftNs()
    var left = patience
    let chunk = drain.withLock(waiting: &patience) { _ in
      writeChunk { store.append(batch: $0, patience: &left) }
    }
    return chunk.map(finish) ?? Drained(isIdle: true)
  }

  /// Waiters are resumed outside the lock.
  private func finish(_ chunk: Chunk) -> Drained {
    for _ in chunk.duplicates { diagnostics.emit(.rejected(.duplicateID)) }
    resume(chunk.duplicates, with: .rejected(.duplicateID))
    resume(chunk.drained.written, with: nil)
    if !chunk.synced.isEmpty { resumeWhenSynced(chunk.synced) }
    if !chunk.drained.written.isEmpty || !chunk.synced.isEmpty { announce() }
    return chunk.drained
  }

  private func writeChunk(_ append: ([NewEvent]) -> [AppendOutcome]) -> Chunk {
    guard let events = bufferedEvents() else { return Chunk(drained: Drained(isIdle: true)) }
    return settle(events, append(events))
  }

  /// The oldest buffered events, ready for the store; nil where there are none.
  private func bufferedEvents() -> [NewEvent]? {
    let found = state.withLock { state -> ([PendingEvent], String, String)? in
      guard !state.buffer.isEmpty, let session = state.session.earlier else { return nil }
      return (state.buffer.head(Recorder.chunkEvents), session, state.earlierAccount ?? "")
    }
    guard let (events, session, account) = found else { return nil }
    // Outside the lock, which every caller of `record` needs.
    return events.map { $0.finished(session: session, account: account) }
  }

  /// The store took a prefix of these.
  private func settle(_ events: [NewEvent], _ outcomes: [AppendOutcome]) -> Chunk {
    var chunk = Chunk()
    state.withLock { state in
      for (event, outcome) in zip(events, outcomes) {
        switch outcome {
        case .durable(let sequence), .syncPending(let sequence):
          state.lastSequence = max(state.lastSequence, sequence)
          state.news.events += 1
          state.news.bytes += event.content.jsonBytes
          if case .durable = outcome {
            chunk.drained.written.append(event.id)
          } else {
            chunk.synced.append(event.id)
          }
        case .duplicate:
          state.rejected[.duplicateID, default: 0] += 1
          chunk.duplicates.append(event.id)
        case .blocked(let block): chunk.drained.blocked = BufferReason(block)
        }
      }
      let taken = chunk.drained.written.count + chunk.synced.count + chunk.duplicates.count
      // A store that answers nothing is blocked, too; else the writer would turn for ever.
      if taken == 0, chunk.drained.blocked == nil { chunk.drained.blocked = .ioError }
      state.buffer.removeFirst(taken)
      state.isRecovering = chunk.drained.blocked == nil
      if let blocked = chunk.drained.blocked { state.detour = blocked }
    }
    return chunk
  }

  /// True where events are buffered and no caller writes them.
  var needsWriter: Bool { state.withLock { !$0.buffer.isEmpty && !$0.isRecovering } }

  /// The store takes nothing: all callers buffer until `endDetour`.
  func blocked(_ reason: BufferReason) {
    state.withLock { state in
      state.detour = reason
      state.isRecovering = false
    }
  }

  /// Straight to the store again, where nothing is buffered; nil where something still is. The
  /// answer is true where there was a detour to speak of.
  func endDetour() -> Bool? {
    state.withLock { state in
      guard state.buffer.isEmpty, state.session.earlier != nil else { return nil }
      defer {
        state.detour = nil
        state.isRecovering = false
      }
      return state.detour != nil && state.detour != .notOpen
    }
  }
}
