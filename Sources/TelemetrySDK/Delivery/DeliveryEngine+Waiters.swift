/// Callers of `flush`: each is answered exactly once, and as soon as waiting cannot help.
extension DeliveryEngine {
  mutating func flushAsked(_ request: FlushRequest, now: Moment) {
    guard !isShutDown, waiters.count < DeliveryEngine.maxWaiters else {
      return emit(.resumeWaiter(id: request.id, .cancelled))
    }
    let deadline = now.adding(milliseconds: max(0, request.timeoutMs))
    waiters.append(FlushRequestState(request: request, deadline: deadline))
    isAtRest = false
    if !isForeground, hasConsent, !request.grantsTime { askForBackgroundTime() }
    reopen()
    trigger()
    // An explicit wish passes own delays, never the server's.
    backoff = nil
    mayProbe = true
    occasionToAsk()
  }

  mutating func resumeWaiters(
    _ ending: FlushReport.Ending, where isMeant: (FlushRequestState) -> Bool
  ) {
    for waiter in waiters where isMeant(waiter) {
      emit(.resumeWaiter(id: waiter.request.id, ending))
    }
    waiters.removeAll(where: isMeant)
  }

  mutating func settleWaiters(now: Moment) {
    guard !waiters.isEmpty else { return }
    let blocker = blocker(now: now)
    let isIdle = flight == .idle && ahead == .none && token.asking == nil
    let overdue = isBufferUnwritten ? FlushReport.Ending.storageUnavailable : .timedOut
    // With the buffer unwritten, a token would not have helped.
    let known = isBufferUnwritten && blocker == .asking ? nil : ending(blocker)
    resumeWaiters(isIdle ? known ?? overdue : .timedOut) { $0.deadline <= now }
    guard isIdle else { return }
    // With the memory buffer unwritten, something recorded before is still here.
    guard isWanted || storage != .open || isBufferUnwritten || blocker == .disabled else {
      return resumeWaiters(.drained) { _ in true }
    }
    guard let blocker else { return }
    switch blocker {
    case .storage: return
    case .asking:
      // The provider is asked again when the pace allows.
      guard !isBufferUnwritten, let until = pace.due else { return }
      resumeWaiters(.waitingForToken) { $0.deadline < until }
    case .serverGate(let until), .refusals(let until), .backoff(let until):
      resumeWaiters(ending(blocker) ?? .timedOut) { $0.deadline < until }
    case .disabled, .suspended, .offline, .token:
      resumeWaiters(ending(blocker) ?? .timedOut) { _ in true }
    }
  }

  func ending(_ blocker: Blocker?) -> FlushReport.Ending? {
    switch blocker {
    case nil, .suspended: return nil
    case .disabled: return .disabled
    case .storage: return .storageUnavailable
    case .serverGate: return .gatedByServer
    case .refusals: return .pausedByRefusals
    case .backoff: return .backingOff
    case .offline: return .offline
    case .asking, .token: return .waitingForToken
    }
  }

  static let maxWaiters = 1_000
}
