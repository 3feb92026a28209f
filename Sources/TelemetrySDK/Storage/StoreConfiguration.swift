/// Bounds and choices of one store.
package struct StoreConfiguration: Sendable {
  /// The store's own folder; its files are made there. Keys live elsewhere.
  package var directory: String
  package var durability = Durability.processKill
  /// Bound on all files together, 1 KB = 1,000 bytes.
  package var maxBytesOnDisk: Int64 = 20_000_000
  /// Bound on the write-ahead log; at half of it the log is restarted, at all of it nothing is
  /// written.
  package var walBudgetBytes: Int64 = 2_000_000
  package var maxQuarantineBytes: Int64 = 2_000_000
  /// How long `append` waits for the store's lock, once.
  package var appendWaitMs: Int64 = 50
  /// A new key is made after so many seals, or at this age.
  package var sealsPerKey: Int64 = 1 << 28
  package var keyLifetimeMs: Int64 = 90 * 86_400_000
  package var domain = SealDomain.telemetry
  /// True: checkpoints and group syncs run on the store's own threads. False: within the calls,
  /// one thread, deterministic.
  package var usesBackgroundThreads = true
  /// True: rows of old keys are sealed anew under the current one, a few per `maintain`.
  package var resealsOldRows = false
  /// The SQLite VFS to use, for tests.
  package var vfsName: String?

  package init(directory: String) { self.directory = directory }

  /// The log's bound, kept in proportion to a small cap.
  var effectiveWALBudget: Int64 { min(walBudgetBytes, maxBytesOnDisk / 4) }
  /// The quarantine's bound, likewise.
  var effectiveQuarantineBytes: Int64 { min(maxQuarantineBytes, maxBytesOnDisk / 8) }
}
