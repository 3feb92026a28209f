/// Makes the queue's store and the keys' place from the configuration.
package enum StoreFactory {
  /// - Parameters:
  ///   - files: the disk for files that are not SQLite's; scripted hosts bring their own.
  ///   - vfsName: a registered SQLite VFS for the same disk; nil for the system's.
  package static func make(
    _ configuration: TelemetryConfiguration, _ environment: TelemetryEnvironment,
    files: any FileOperations = SystemFiles(), vfsName: String? = nil
  ) -> any EventStore {
    var store = storeConfiguration(configuration, environment)
    store.vfsName = vfsName
    return SQLiteEventStore(
      configuration: store, keyStore: environment.keyStore, clock: environment.clock, files: files)
  }

  /// Where the queue's database lies.
  package static func databasePath(_ configuration: TelemetryConfiguration) -> String {
    StorePaths(directory: configuration.directory + "/queue").database
  }

  static func storeConfiguration(
    _ configuration: TelemetryConfiguration, _ environment: TelemetryEnvironment
  ) -> StoreConfiguration {
    var store = StoreConfiguration(directory: configuration.directory + "/queue")
    store.durability = configuration.durability
    store.maxBytesOnDisk = Int64(configuration.queueCapBytes)
    store.walBudgetBytes = Int64(configuration.walBudgetBytes)
    store.maxQuarantineBytes = Int64(configuration.quarantineCapBytes)
    store.appendWaitMs = configuration.recordWaitMs
    store.sealsPerKey = configuration.keyMaxSeals
    store.keyLifetimeMs = configuration.keyMaxAgeMs
    store.resealsOldRows = configuration.resealsOldRows
    store.usesBackgroundThreads = environment.storeUsesThreads
    return store
  }

  package static func keyStore(
    _ configuration: TelemetryConfiguration, files: any FileOperations = SystemFiles()
  ) -> any KeyStore {
    FileKeyStore(directory: configuration.directory + "/keys", files: files)
  }
}

/// The store of a disabled SDK: takes nothing, has nothing.
final class NoStore: UncontendedEventStore {
  var onEvent: (@Sendable (StoreEvent) -> Void)? {
    get { nil }
    set { _ = newValue }
  }
  var appended: Int64 { 0 }
  func open() -> StoreBlock? { .notOpen }
  func append(_ event: NewEvent) -> AppendOutcome { .blocked(.notOpen) }
  func append(batch events: [NewEvent]) -> [AppendOutcome] { [.blocked(.notOpen)] }
  func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) { callback(.notOpen) }
  func readBatch(account: String?, bounds: BatchBounds) -> ReadBatch {
    ReadBatch(blocked: .notOpen)
  }
  func markInFlight(_ rows: [RowReference]) {}
  func clearInFlight(_ rows: [RowReference]) {}
  func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? { .notOpen }
  func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? { .notOpen }
  func dropAll(account: String?) -> StoreBlock? { .notOpen }
  func quarantinedEvents(limit: Int) -> [QuarantinedEvent] { [] }
  func requeueQuarantined() -> Int { 0 }
  func clearQuarantine() -> Int { 0 }
  func enforceAge(confirmedNowMs: Int64, maxAgeMs: Int64) {}
  func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? { .notOpen }
  func note(_ key: String) -> [UInt8]? { nil }
  func snapshot() -> StoreSnapshot { StoreSnapshot() }
  func accounts() -> [String] { [] }
  func rotateKey() -> StoreBlock? { .notOpen }
  func purge() -> StoreBlock? { .notOpen }
  func maintain() -> Bool { false }
  func sync() -> StoreBlock? { .notOpen }
  func suspend() {}
  func resume() -> StoreBlock? { .notOpen }
  func close() {}
}
