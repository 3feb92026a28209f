/// The numbers and choices that delivery decides by; see `TelemetryConfiguration` for each.
package struct DeliveryPolicy: Sendable {
  package var retry: RetrySchedule
  package var retryAfterCapMs: Int64
  package var batchLimitBytes: Int
  package var batchMeasure: BatchMeasure
  package var batchMaxEvents: Int
  package var envelopeBytes: Int
  package var flushIntervalMs: Int64
  package var lowPowerIntervalMs: Int64
  package var probeIntervalMs: Int64
  package var requestTimeoutMs: Int64
  package var resourceTimeoutMs: Int64
  package var slowLinkBytesPerSecond: Int
  package var tokenTimeoutMs: Int64
  package var refusal: RefusalPause.Limits
  package var restoreThrottleMs: Int64
  package var restoreJitterMs: Int64
  package var syncIntervalMs: Int64
  package var isolatesRefusedBodies: Bool
  package var foreignAccounts: ForeignAccountPolicy
  package var allowsExpensivePaths: Bool
  package var allowsConstrainedPaths: Bool
  package var directoryIsShared: Bool
  package var schedulesBackgroundTasks: Bool
  package var consent: Bool

  package init(_ configuration: TelemetryConfiguration) {
    retry = RetrySchedule(baseMs: configuration.backoffBaseMs, capMs: configuration.backoffCapMs)
    retryAfterCapMs = configuration.retryAfterCapMs
    batchLimitBytes = configuration.batchLimitBytes
    batchMeasure = configuration.batchMeasure
    batchMaxEvents = configuration.batchMaxEvents
    envelopeBytes = configuration.envelope.bytes
    flushIntervalMs = configuration.flushIntervalMs
    lowPowerIntervalMs = configuration.lowPowerIntervalMs
    probeIntervalMs = configuration.probeIntervalMs
    requestTimeoutMs = configuration.requestTimeoutMs
    resourceTimeoutMs = configuration.resourceTimeoutMs
    slowLinkBytesPerSecond = configuration.slowLinkBytesPerSecond
    tokenTimeoutMs = configuration.tokenTimeoutMs
    refusal = RefusalPause.Limits(
      bodies: configuration.refusalsBeforePause, firstMs: configuration.refusalPauseMs,
      capMs: configuration.refusalPauseCapMs)
    restoreThrottleMs = configuration.restoreThrottleMs
    restoreJitterMs = configuration.restoreJitterMs
    syncIntervalMs = configuration.syncIntervalMs
    isolatesRefusedBodies = configuration.isolatesRefusedBodies
    foreignAccounts = configuration.foreignAccounts
    allowsExpensivePaths = configuration.allowsExpensivePaths
    allowsConstrainedPaths = configuration.allowsConstrainedPaths
    directoryIsShared = configuration.directoryIsShared
    schedulesBackgroundTasks = configuration.schedulesBackgroundTasks
    consent = configuration.consent
  }

  /// A path that policy allows to use.
  func allows(_ path: NetworkPath) -> Bool {
    (allowsExpensivePaths || !path.expensive) && (allowsConstrainedPaths || !path.constrained)
  }

  /// The time a request of this size may take: more on a slow link, within a bound.
  func requestDeadlineMs(bytes: Int) -> Int64 {
    let extra = Int64(bytes / max(1, slowLinkBytesPerSecond)) * 1_000
    return min(requestTimeoutMs + extra, max(requestTimeoutMs, resourceTimeoutMs))
  }

  /// Bytes of JSON that may be read for one batch. Measured on the wire, more JSON is read than
  /// the limit says, and the builder cuts what does not fit.
  func jsonLimit(lesson: Int?) -> Int {
    let limit =
      batchMeasure == .wire
      ? batchLimitBytes * BatchBuilder.expectedCompression : batchLimitBytes
    return min(limit, lesson ?? limit)
  }
}
