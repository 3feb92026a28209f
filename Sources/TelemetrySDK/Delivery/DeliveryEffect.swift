/// Everything that the delivery engine asks its shell to do.
package enum DeliveryEffect: Sendable, Equatable {
  /// Read rows of the first of these accounts that has some (nil: of any one account), join and
  /// compress them, mark them as in flight. Answer: `prepared`.
  case prepare(generation: UInt64, accounts: [String]?, bounds: BatchBounds)
  /// Send a prepared batch. Answer: `uploadEnded`.
  case send(generation: UInt64, batch: UInt64, token: String)
  case cancelUpload(generation: UInt64)
  /// Forget a prepared batch and take its marks back.
  case release(batch: UInt64)
  /// Delete and quarantine rows of a batch. Answer: `settled`.
  case settle(generation: UInt64, batch: UInt64, Settlement)
  /// Delete rows of all accounts but these.
  case purgeOthers(keeping: [String])
  /// Delete rows over the age limit; the wall clock is confirmed.
  case enforceAge(confirmedNowMs: Int64)
  /// Answer: `tokenAnswered`.
  case askToken(generation: UInt64)
  /// Events are recorded for this account from now on.
  case accountKnown(String)
  case setTimer(DeliveryTimer, at: Moment, generation: UInt64)
  case cancelTimer(DeliveryTimer)
  case persist(GateRecord)
  /// Ask the system for time in the background. Answers: `assertionRefused`, `assertionExpiring`.
  case beginBackgroundTime(generation: UInt64)
  case endBackgroundTime(generation: UInt64)
  case scheduleBackgroundTask
  case completeTask(id: Int, success: Bool)
  /// Fsync what is committed.
  case sync
  /// Sync and close the files for suspension, or open them again.
  case suspendStore
  case resumeStore
  /// Open the store, or write the memory buffer. Answers: `storeOpened`, `storeBlocked`,
  /// `writesRecovered`, `writesBlocked`.
  case openStore
  case writeBuffer
  /// Tend the store: sync, checkpoint, shrink.
  case upkeep
  case resumeWaiter(id: Int, FlushReport.Ending)
  case diagnostic(DiagnosticEvent)
}

/// What becomes of the rows of a batch after its answer.
package enum Settlement: Sendable, Equatable {
  /// Delivered, but for these.
  case delivered(rejected: [RejectedEvent])
  /// All to quarantine.
  case quarantine(QuarantineReason)
}
