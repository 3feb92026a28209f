/// Explicit deliveries: what the caller hears at the end.
extension DeliveryShell {
  func flush(timeoutMs: Int64, completion: @escaping @Sendable (FlushReport) -> Void) {
    perform { $0.beginFlush(timeoutMs, grantsTime: false, completion) }
  }

  func deliverInBackground(
    deadlineMs: Int64, completion: @escaping @Sendable (FlushReport) -> Void
  ) {
    perform { $0.beginFlush(deadlineMs, grantsTime: true, completion) }
  }

  private func beginFlush(
    _ timeoutMs: Int64, grantsTime: Bool, _ completion: @escaping @Sendable (FlushReport) -> Void
  ) {
    guard !isDisabled else { return completion(FlushReport(ending: .disabled)) }
    takeNews()
    // What was dropped before the call is no part of it.
    refreshSnapshot()
    let id = nextFlushID
    nextFlushID += 1
    flushes[id] = FlushInProgress(
      completion: completion, ledgerBefore: published.withLock { $0.snapshot.ledger })
    receive(
      .flushAsked(
        FlushRequest(
          id: id, timeoutMs: timeoutMs, throughSequence: recorder.flushThrough,
          grantsTime: grantsTime)))
  }

  func finishFlush(_ id: Int, _ ending: FlushReport.Ending) {
    guard let flush = flushes.removeValue(forKey: id) else { return }
    if !isClosed { refreshSnapshot() }
    let snapshot = published.withLock { $0.snapshot }
    let after = snapshot.ledger
    let before = flush.ledgerBefore
    func dropped(_ ledger: ConservationLedger) -> Int64 { ledger.dropped.values.reduce(0, +) }
    let recorded = recorder.picture()
    let report = FlushReport(
      ending: ending, sent: Int(clamping: max(0, after.delivered - before.delivered)),
      remaining: Int(clamping: after.queued + committed(since: snapshot)) + recorded.buffered,
      quarantined: Int(clamping: max(0, after.quarantined - before.quarantined)),
      dropped: Int(clamping: max(0, dropped(after) - dropped(before))))
    // Not from inside the engine's turn: the caller may do anything.
    perform { _ in flush.completion(report) }
  }

  // MARK: Background tasks of the system

  /// The system granted a background task. `completion` is called exactly once, on the executor.
  package func backgroundTaskGranted(
    deadline: Moment?, completion: @escaping @Sendable (Bool) -> Void
  ) -> @Sendable () -> Void {
    let id = taskIDs.withLock { next -> Int in
      next += 1
      return next
    }
    perform { shell in
      guard !shell.isDisabled, !shell.isClosed else { return completion(false) }
      shell.taskCompletions[id] = completion
      shell.receive(.taskGranted(id: id, deadline: deadline))
    }
    return { [weak self] in self?.post(.taskExpiring(id: id)) }
  }
}
