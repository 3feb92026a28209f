import Foundation
import JSONText
import MockBatchServer

/// After the last step: heal, drain, look closely.
extension CaseRunner {
  /// Everything is made well, then the queue has its time to get empty.
  func drain() throws {
    isDraining = true
    // What fires from here on would break again what is healed now.
    triggers.disarm()
    try lookForSecrets()
    history.append(.note("everything is healed; the queue drains"))
    rig?.heal(gates: PlanGates.names(in: scenario.plan))
    try healRemote()
    rig?.handler.setPortal(nil)
    try healPhone()
    let (limit, overflow) = clock.nowNs.addingReportingOverflow(scenario.drainWithinNs)
    var deadline = overflow ? Int64.max : limit
    // Real time is not spent on a queue that does not get empty, whatever the script allows.
    if let site = settings.remote { deadline = min(deadline, clock.nowNs + site.maxRealNs) }
    var isEmpty = false
    var spins = 0
    while true {
      isEmpty = try isDrained()
      guard !isEmpty, let moment = nextMoment(of: deadline) else { break }
      spins = moment == clock.nowNs ? spins + 1 : 0
      guard spins < CaseRunner.maxRoundsAtOneMoment else {
        throw RunnerFailure("the queue does not drain and time does not pass")
      }
      try seeThatTimeIsLeft()
      try advance(toNs: moment)
      if link == nil { try startDevice() }
    }
    guard isEmpty || deadline == limit || settings.remote == nil else {
      throw RunnerFailure("the queue did not get empty within --max-real, the script allows longer")
    }
    history.append(.drained(isEmpty))
  }

  /// The drain's next moment; nil where none is left. In real time an answer that is awaited comes
  /// unannounced: then the drain's end is the moment.
  private func nextMoment(of deadline: Int64) -> Int64? {
    let moment = nextMoment() ?? .max
    let awaitsAnswer = pace != nil && link != nil && idle?.inFlight.isEmpty == false
    if awaitsAnswer, clock.nowNs < deadline { return min(moment, deadline) }
    return moment <= deadline && moment < .max ? moment : nil
  }

  private func isDrained() throws -> Bool {
    guard link != nil else { return false }
    let books = try readBooks()
    return books.queued == 0 && books.buffered == 0 && books.inFlight == 0
  }

  private func healPhone() throws {
    phone.network = .wifi
    phone.lowPower = false
    phone.disk = .ok
    phone.keyAvailable = true
    phone.foreground = true
    restartAtNs = nil
    history.append(.condition(name: "network", value: "wifi"))
    try lockDatabase(false)
    guard link != nil else { return try startDevice() }
    do {
      _ = try call("disk", ["state": "ok"])
      _ = try call("keyAvailable", ["on": true])
      _ = try call("power", ["on": false])
      _ = try call("path", ["state": "wifi"])
      _ = try call("app", ["on": true])
      try settle()
    } catch is DeviceGone {
      try settle()
      try startDevice()
    }
  }

  /// Reads books and ledger, ends the device, searches its files.
  func finish() throws {
    if link == nil && !scenario.drainSkipped { try startDevice() }
    if link != nil {
      try readBooks()
      measureFiles()
      try killDevice(how: "closed")
    } else {
      // It died earlier and stayed dead; it was looked at then, with less to look for.
      try lookForSecrets()
    }
    if settings.remote != nil { try finishRemote() }
    readLedger()
  }

  /// What the server holds is better evidence than what was seen going in.
  func readLedger() {
    guard let ledger = rig?.engine.ledger else { return }
    history.append(
      .held(
        ledger.entries().map {
          Holding(id: $0.id, stored: $0.timesStored, seen: $0.timesSeen)
        }))
  }
}
