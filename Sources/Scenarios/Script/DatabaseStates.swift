/// What a script's steps make of the device's database, as far as the script alone tells: a change
/// that has no sense is a mistake of the script's, and found before anything runs.
struct DatabaseStates {
  private var hasRecorded = false
  private var isLocked = false
  private var isNewer = false
  private var isOlder = false
  /// False from a kill on, until the app surely lives again.
  private var isSurelyAlive = true
  /// When a killed app is started again.
  private var restartNs: Int64?

  /// Why this step has no sense; nil where it has.
  mutating func take(_ step: Step) -> String? {
    if case .at(let ns) = step.moment, let restart = restartNs, restart <= ns { start() }
    switch step.action {
    case .record: hasRecorded = true
    case .kill(let restartAfter), .reboot(let restartAfter): die(step, restartAfter)
    case .restart: start()
    case .disk(let state): isLocked = state == .locked
    case .database(let change): return take(change)
    default: break
    }
    return nil
  }

  private mutating func start() {
    isSurelyAlive = true
    restartNs = nil
    // The app brings it up to date.
    isOlder = false
  }

  private mutating func die(_ step: Step, _ restartAfter: Int64?) {
    isSurelyAlive = false
    restartNs = nil
    guard case .at(let ns) = step.moment, let restartAfter else { return }
    let (restart, overflow) = ns.addingReportingOverflow(restartAfter)
    if !overflow { restartNs = restart }
  }

  private mutating func take(_ change: DatabaseChange) -> String? {
    if isSurelyAlive { return "the app lives: its database can be changed while it is dead" }
    if isLocked { return "the database is locked, nobody can change it" }
    switch change {
    case .bitFlip: return hasRecorded ? nil : "nothing is recorded before, there is no bit to flip"
    case .olderVersion:
      if isNewer { return "the database is of a newer version, \"ownVersion\" comes first" }
      if isOlder { return "the database is of the older version already" }
      isOlder = true
    case .newerVersion:
      if isNewer { return "the database is of a newer version already" }
      isNewer = true
    case .ownVersion:
      guard isNewer else { return "the database was not made of a newer version before" }
      isNewer = false
    }
    return nil
  }
}
