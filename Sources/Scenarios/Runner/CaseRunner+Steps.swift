import Foundation
import JSONText
import MockBatchServer
import TelemetrySDK

/// What each step does.
extension CaseRunner {
  func run(_ step: Step) throws {
    // Steps change files from outside, too.
    filesGrew.withLock { $0 = true }
    history.append(.step(index: step.index, what: StepWords.words(step.action)))
    do {
      try carryOut(step)
      try settle()
    } catch is DeviceGone {
      try settle()
    }
  }

  private func carryOut(_ step: Step) throws {
    guard link != nil || !step.action.needsLivingDevice else {
      history.append(.missed(step: step.index, what: StepWords.words(step.action)))
      return
    }
    switch step.action {
    case .record(let record): try begin(record, step: step.index)
    case .kill(let restart): try die(restartAfterNs: restart, powerLoss: false)
    case .reboot(let restart): try die(restartAfterNs: restart, powerLoss: true)
    case .restart: if link == nil { try startDevice() }
    case .network(let state, let redirects): try setNetwork(state, redirects: redirects)
    case .serverToken(let accept, let account, let expire):
      setTokens(accept: accept, account: account, expire: expire)
    case .serverRestart:
      history.append(.condition(name: "server", value: "restarted"))
      try rig?.restart { link?.dropConnections() }
    case .gate(let name, let open): _ = rig?.engine.setGate(name, isOpen: open)
    case .expect(let expectations): try ask(expectations)
    default: try changePhone(step.action)
    }
  }

  /// Gathers what the run so far is to be judged by.
  private func ask(_ expectations: [Expectation]) throws {
    if link != nil { try readBooks() }
    try readServer()
    readLedger()
    let lines = SourceLines(file: scenario.file)
    history.append(.asked(expectations.map { CaseHeader.expected($0, lines) }))
  }

  private func die(restartAfterNs: Int64?, powerLoss: Bool) throws {
    try killDevice(how: powerLoss ? "reboot" : "SIGKILL")
    if powerLoss {
      databaseLock?.release()
      databaseLock = nil
      try Medium.losePower(folder: phone.folder, kept: phone.medium)
      boots += 1
      phone.boot = "boot-\(boots)"
      // Uptime starts anew; 1 ns keeps a boot at the very start apart from none.
      phone.bootNs = max(1, clock.nowNs + (restartAfterNs ?? 0))
    }
    if let restartAfterNs {
      let (time, overflow) = clock.nowNs.addingReportingOverflow(restartAfterNs)
      restartAtNs = overflow ? nil : time
    }
  }

  private func setNetwork(_ state: NetworkState, redirects: Bool) throws {
    phone.network = state
    history.append(.condition(name: "network", value: state.rawValue))
    rig?.handler.setPortal(state == .captive ? (redirects ? .redirect : .page) : nil)
    try tell("path", ["state": .string(state.rawValue)])
  }

  private func setTokens(accept: String?, account: String, expire: String?) {
    if let expire {
      tokens.removeAll { $0.value == expire }
      // An empty list would accept every token; one that nobody has keeps it a list.
      if tokens.isEmpty { tokens.append(ContractRules.Token(value: "\u{1}none")) }
      history.append(.condition(name: "serverToken", value: "\(expire) expired"))
    }
    if let accept {
      tokens.append(ContractRules.Token(value: accept, account: account))
      history.append(.condition(name: "serverToken", value: "\(accept) accepted"))
    }
    rig?.engine.setTokens(tokens)
    tellAccounts()
  }

  /// Changes of the phone: remembered for the next start, told to a living device.
  private func changePhone(_ action: StepAction) throws {
    switch action {
    case .app(let foreground):
      phone.foreground = foreground
      history.append(.condition(name: "app", value: foreground ? "foreground" : "background"))
      try tell("app", ["on": .bool(foreground)])
    case .backgroundTask(let granted): try tell("backgroundTask", ["on": .bool(granted)])
    case .flush(let timeout):
      history.append(.condition(name: "flush", value: "asked"))
      try tell("flush", ["timeoutMs": .number(JSONNumber(timeout / 1_000_000))])
    case .deviceToken(let token):
      phone.token = token
      history.append(
        .condition(name: "token", value: "\(token.value ?? "none") \(token.account)"))
      try tell(
        "token",
        [
          "value": token.value.map { .string($0) } ?? .null, "account": .string(token.account),
          "notify": .bool(token.notify),
        ])
    case .lowPower(let on):
      phone.lowPower = on
      history.append(.condition(name: "lowPower", value: on ? "on" : "off"))
      try tell("power", ["on": .bool(on)])
    case .wallJump(let ns):
      let (offset, overflow) = phone.wallOffsetNs.addingReportingOverflow(ns)
      phone.wallOffsetNs = overflow ? phone.wallOffsetNs : offset
      history.append(
        .condition(name: "wall", value: Quantity.text(durationNs: phone.wallOffsetNs)))
      try tell("wall", ["offset": .number(JSONNumber(phone.wallOffsetNs))])
    case .disk(let state): try setDisk(state)
    case .database(let change):
      history.append(.condition(name: "database", value: change.rawValue))
      let flipped = try databaseEditor.change(
        change, in: StoreFactory.databasePath(phone.configuration), vfs: outsiderVFS)
      if let flipped {
        history.append(.condition(name: "flipped", value: sealNames.place(of: flipped)))
      }
    case .key(let change): try changeKey(change)
    case .newSession: try tell("session", [:])
    case .consent(let given):
      phone.consent = given
      history.append(.condition(name: "consent", value: given ? "given" : "withdrawn"))
      try tell("consent", ["on": .bool(given)])
    case .purge: try tell("purge", [:])
    case .quarantine(let requeue):
      history.append(.condition(name: "quarantine", value: requeue ? "requeue" : "clear"))
      try tell("quarantine", ["requeue": .bool(requeue)])
    default: return
    }
  }

  private func tell(_ command: String, _ arguments: JSONObject) throws {
    if link != nil { _ = try call(command, arguments) }
  }

  private func setDisk(_ state: DiskState) throws {
    history.append(.condition(name: "disk", value: state.rawValue))
    guard state != .corrupt else {
      try DiskDamage.damage(folder: phone.folder)
      // Damage is none of a power loss's business: it is there afterwards too.
      if FileManager.default.fileExists(atPath: phone.medium) {
        try DiskDamage.damage(folder: phone.medium)
      }
      return
    }
    phone.disk = state
    try lockDatabase(state == .locked)
    try tell("disk", ["state": .string(state.rawValue)])
  }

  /// Holds the device's database from outside, or lets go of it.
  func lockDatabase(_ holds: Bool) throws {
    databaseLock?.release()
    databaseLock =
      holds
      ? try DatabaseLock(
        database: StoreFactory.databasePath(phone.configuration), vfs: outsiderVFS) : nil
  }

  /// How the runner opens the device's database beside the device: in its own process they share
  /// the locks that the scripted disk keeps there.
  private var outsiderVFS: String? {
    settings.lane == .virtual ? ScriptedDisk.bystanderVFSName : nil
  }

  private func changeKey(_ change: KeyChange) throws {
    history.append(.condition(name: "key", value: change.rawValue))
    switch change {
    case .rotate: try tell("rotate", [:])
    case .lost where link == nil:
      let keys = ScriptedKeyStore(
        inner: StoreFactory.keyStore(phone.configuration), isAvailable: true)
      try keys.loseAll()
    case .lost: try tell("keyLost", [:])
    case .unavailable, .available:
      phone.keyAvailable = change == .available
      try tell("keyAvailable", ["on": .bool(phone.keyAvailable)])
    }
  }
}

/// Damages a database as a dying flash chip does.
enum DiskDamage {
  /// Bytes overwritten at the start of the largest file.
  private static let damagedBytes = 4_096

  /// The largest file of the folder is the database.
  static func damage(folder: String) throws {
    let manager = FileManager.default
    var largest: (path: String, size: Int)?
    for case let name as String in manager.enumerator(atPath: folder) ?? .init() {
      let path = folder + "/" + name
      let attributes = try manager.attributesOfItem(atPath: path)
      guard attributes[.type] as? FileAttributeType == .typeRegular, !name.hasSuffix("-wal"),
        !name.hasSuffix("-shm")
      else { continue }
      let size = (attributes[.size] as? NSNumber)?.intValue ?? 0
      if size > largest?.size ?? 0 { largest = (path, size) }
    }
    guard let largest, let handle = FileHandle(forWritingAtPath: largest.path) else {
      throw RunnerFailure("no database to damage in \(folder)")
    }
    handle.write(Data(repeating: 0xa5, count: min(damagedBytes, largest.size)))
    handle.closeFile()
  }
}
