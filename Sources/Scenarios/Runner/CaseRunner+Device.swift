import Foundation
import JSONText
import MockBatchServer

/// Starting, talking to, waiting for and burying devices.
extension CaseRunner {
  func startDevice() throws {
    lastIncarnation += 1
    phone.incarnation = lastIncarnation
    phone.nowNs = clock.nowNs
    idle = nil
    streamEnded = false
    brokenReason = nil
    isExpectedToDie = false
    restartAtNs = nil
    replies = [:]
    rig?.board.forgetAll()
    // The files of a new life may be others than those that were locked.
    try lockDatabase(phone.disk == .locked)
    phone.storage = settings.lane == .virtual ? [] : triggers.storageWishes
    let link = try makeLink(incarnation: phone.incarnation)
    self.link = link
    triggers.setLink(link)
    history.append(.started(incarnation: phone.incarnation))
    do {
      _ = try call(phone.message)
      try settle()
      keepUntouchedFiles()
    } catch is DeviceGone {
      try settle()
    }
  }

  private func makeLink(incarnation: Int) throws -> any DeviceLink {
    guard let rig else {
      guard settings.remote != nil else { throw RunnerFailure("no server") }
      return try makeRemoteLink(incarnation: incarnation)
    }
    let mailbox = self.mailbox
    let board = rig.board
    if settings.lane == .virtual {
      let triggers = self.triggers
      let filesGrew = self.filesGrew
      filesGrew.withLock { $0 = true }
      return VirtualLink(
        incarnation: incarnation, mailbox: mailbox,
        network: VirtualTransport(
          performer: rig.performer, network: { rig.engine.listenerState },
          onHang: { board.hangs($0) }),
        onStorage: { triggers.storage($0.rawValue) },
        onFileGrowth: { filesGrew.withLock { $0 = true } })
    }
    let process = try DeviceProcess(
      executable: settings.executable, logFile: settings.folder + "/device.log",
      withBridge: settings.lane == .urlprotocol
    ) { mailbox.put(.device(incarnation: incarnation, $0)) }
    guard process.bridge >= 0 else { return ProcessLink(process: process, bridge: nil) }
    let bridge = BridgeServer(
      descriptor: process.bridge, performer: rig.performer, network: { rig.engine.listenerState },
      onHang: { board.hangs($0) })
    bridge.start()
    return ProcessLink(process: process, bridge: bridge)
  }

  // MARK: Talking

  /// Sends a request and waits for its reply. Throws `DeviceGone` where a trigger killed the
  /// device first.
  func call(_ command: String, _ arguments: JSONObject = [:]) throws -> JSONValue {
    var request = arguments
    request["do"] = .string(command)
    return try call(request)
  }

  func call(_ request: JSONObject) throws -> JSONValue {
    guard let link else { throw DeviceGone() }
    lastNumber += 1
    let number = lastNumber
    var numbered = request
    numbered["n"] = .number(JSONNumber(number))
    do { try link.send(numbered) } catch {
      // The device is dead; whether that was meant shows when its stream is read to the end.
      try waitForEnd()
    }
    while true {
      take(mailbox.takeAll())
      if let reply = replies.removeValue(forKey: number) {
        if let error = reply["error"]?.stringValue {
          throw RunnerFailure(
            "the device refused \"\(request["do"]?.stringValue ?? "")\": \(error)")
        }
        return reply
      }
      if streamEnded {
        try bury()
        throw DeviceGone()
      }
      try waitForNews("the device's reply")
    }
  }

  private func waitForEnd() throws {
    while !streamEnded { try waitForNews("the end of the device's stream") }
  }

  private func waitForNews(_ what: String) throws {
    if let brokenReason { throw RunnerFailure("the device's stream is broken: \(brokenReason)") }
    guard remainingSeconds > 0, let events = mailbox.await(seconds: remainingSeconds) else {
      throw RunnerFailure(
        "\(Int(settings.timeoutSeconds)) s of real time passed while waiting for \(what);"
          + " the device said last: \(idle.map { "\($0)" } ?? "nothing")")
    }
    take(events)
  }

  /// Waits until the device has nothing runnable and all its requests are parked; carries out
  /// triggered steps meanwhile.
  func settle() throws {
    var rounds = 0
    while true {
      rounds += 1
      guard rounds < CaseRunner.maxRoundsAtOneMoment else {
        throw RunnerFailure("the device does not come to rest at one moment")
      }
      link?.pump()
      take(mailbox.takeAll())
      if streamEnded, link != nil { try bury() }
      if !firedSteps.isEmpty {
        try runFiredSteps()
        continue
      }
      if isAtRest { return }
      try waitForNews("the device to come to rest")
    }
  }

  private var isAtRest: Bool {
    guard link != nil else { return true }
    guard !streamEnded, let idle, idle.after == lastNumber else { return false }
    // Nobody knows where a request is that went to a real server: time goes on meanwhile.
    guard let board = rig?.board else { return true }
    // A connect that nobody answers hangs without any server knowing of it.
    let isBlackHole = settings.lane == .socket && rig?.engine.listenerState == .blackhole
    return idle.inFlight.allSatisfy {
      board.isParked($0)
        || (isBlackHole && !$0.hasSuffix(ScriptedTransport.cancelledMark) && !board.hasSeen($0))
    }
  }

  // MARK: Hearing

  func take(_ events: [CaseEvent]) {
    for event in events {
      switch event {
      case .serverMoved: continue
      case .triggered(let step):
        firedSteps.append(step)
        // Told before the kill itself, so the stream cannot have ended without it.
        if scenario.timeline[step].action.kills { isExpectedToDie = true }
      case .device(let incarnation, let event):
        guard incarnation == phone.incarnation else { continue }
        switch event {
        case .message(let message): hear(message)
        case .idle(let idle): self.idle = idle
        case .ended: streamEnded = true
        case .broken(let reason): brokenReason = reason
        }
      }
    }
  }

  // MARK: Dying

  /// Kills the device and reads what it still said.
  func killDevice(how: String) throws {
    guard let link else { return }
    isExpectedToDie = true
    link.kill()
    try waitForEnd()
    try bury(how: how)
  }

  /// In the runner's own process nothing closes a dead device's files. The next life gets a copy
  /// of them as they are now, which is what the system keeps of a killed process.
  private func leaveFolderBehind() throws {
    let next = settings.folder + "/device-\(phone.incarnation + 1)"
    try FileManager.default.copyItem(atPath: phone.folder, toPath: next)
    abandonedFolders.append(phone.folder)
    phone.folder = next
  }

  /// The device's stream is at its end: reap it and write it down.
  func bury(how: String? = nil) throws {
    guard let link else { return }
    if settings.lane == .virtual { try leaveFolderBehind() }
    let end = link.bury()
    self.link = nil
    triggers.setLink(nil)
    idle = nil
    rig?.board.forgetAll()
    for folder in abandonedFolders {
      // Left over files cost only space in the case's own folder.
      try? FileManager.default.removeItem(atPath: folder)
    }
    abandonedFolders = []
    try lookForSecrets()
    measureFiles()
    switch (how, end) {
    case (_, .signalled(let signal)) where signal != 9:
      // Also where the script was about to kill it: the crash came first.
      history.append(.died(incarnation: phone.incarnation, how: "crashed (signal \(signal))"))
      throw DeviceCrashed()
    case (let how?, _): history.append(.died(incarnation: phone.incarnation, how: how))
    case (nil, .signalled(9)):
      history.append(
        .died(incarnation: phone.incarnation, how: isPowerLost ? "reboot" : "SIGKILL"))
      // Nobody in the script killed it: the system did, or a person.
      guard isExpectedToDie else {
        throw RunnerFailure("the device was killed (SIGKILL), and not by the script")
      }
    case (nil, _):
      history.append(.died(incarnation: phone.incarnation, how: "\(end)"))
      throw RunnerFailure(
        "the device ended by itself (\(end)); see \(settings.folder)/device.log")
    }
  }

  /// The step that has killed the device takes the power, too.
  private var isPowerLost: Bool {
    // What has come meanwhile says why the device died.
    take(mailbox.takeAll())
    return firedSteps.contains { index in
      if case .reboot = scenario.timeline[index].action { return true }
      return false
    }
  }
}
