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

  /// Writes the oldest buffered events. Callers wait for one another, at most the given time;
  /// nil waits as long as it takes. Waiters are resumed outside the lock.
  func drainChunk(waitingAtMostMs limitMs: Int64?) -> Drained {
    let chunk: Chunk?
    if let limitMs {
      chunk = drain.withLock(waitingAtMostMs: limitMs) { _ in writeChunk() }
    } else {
      chunk = drain.withLock { _ in writeChunk() }
    }
    guard let chunk else { return Drained(isIdle: true) }
    for _ in chunk.duplicates { diagnostics.emit(.rejected(.duplicateID)) }
    resume(chunk.duplicates, with: .rejected(.duplicateID))
    resume(chunk.drained.written, with: nil)
    if !chunk.synced.isEmpty { resumeWhenSynced(chunk.synced) }
    if !chunk.drained.written.isEmpty || !chunk.synced.isEmpty { announce() }
    return chunk.drained
  }

  private func writeChunk() -> Chunk {
    guard let events = bufferedEvents() else { return Chunk(drained: Drained(isIdle: true)) }
    return settle(events, store.append(batch: events))
  }

  /// The oldest buffered events, ready for the store; nil where there are none.
  private func bufferedEvents() -> [NewEvent]? {
    state.withLock { state in
      guard !state.buffer.isEmpty, let session = state.session.id else { return nil }
      return state.buffer.head(Recorder.chunkEvents).map {
        $0.finished(session: session, account: state.account ?? "")
      }
    }
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
          state.news.bytes += event.json.count
          state.committedSinceCount += 1
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
      guard state.buffer.isEmpty, state.session.id != nil else { return nil }
      defer {
        state.detour = nil
        state.isRecovering = false
      }
      return state.detour != nil && state.detour != .notOpen
    }
  }
}
