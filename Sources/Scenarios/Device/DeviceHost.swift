import JSONText
import TelemetrySDK

/// A phone with the SDK on it, as far as a script can tell: carries out requests, one at a time.
///
/// The same code serves the device process and the virtual lane. Everything happens on the thread
/// that calls `handle` and empties the executor; callbacks from transports only queue work.
final class DeviceHost: DeviceCommandHandler {
  private struct Running {
    var telemetry: Telemetry
    var clock: ScriptedClock
    var transport: ScriptedTransport
    var keyStore: ScriptedKeyStore
    var store: ObservedStore
    var disk: ScriptedDisk
    var provider: ScriptedTokenProvider
    var backgroundTime: ScriptedBackgroundTime
    var setup: DeviceSetup
  }

  private let executor: ScriptedExecutor
  private let innerTransport: any BatchTransport
  private let say: @Sendable (JSONObject) -> Void
  private let wake: @Sendable () -> Void
  private let onStorage: @Sendable (StorageOperation) -> Void
  private let onFileGrowth: @Sendable () -> Void
  private let isAlone: Bool
  private var running: Running?
  private let isFrozen = Guarded(false)

  /// `isAlone`: no other process opens the device's files. `onFileGrowth` is called after each
  /// operation that may have made one of them larger.
  init(
    executor: ScriptedExecutor, transport: any BatchTransport,
    say: @escaping @Sendable (JSONObject) -> Void, wake: @escaping @Sendable () -> Void,
    isAlone: Bool = false,
    onStorage: @escaping @Sendable (StorageOperation) -> Void = { _ in },
    onFileGrowth: @escaping @Sendable () -> Void = {}
  ) {
    self.isAlone = isAlone
    self.onStorage = onStorage
    self.onFileGrowth = onFileGrowth
    self.executor = executor
    innerTransport = transport
    self.say = say
    self.wake = wake
  }

  var nextDueNs: Int64? { running?.clock.nextDueNs }
  var inFlight: [String] { running?.transport.inFlight ?? [] }

  func handle(_ command: String, _ arguments: JSONValue) -> JSONObject {
    if command == "open" {
      do { try open(DeviceSetup(message: arguments)) } catch {
        return ["error": .string("\(error)")]
      }
      return [:]
    }
    guard let running else { return ["error": "not open"] }
    switch command {
    case "record": return record(arguments, running)
    case "advance":
      running.clock.advance(toNs: arguments["to"]?.int64Value ?? 0) { executor.runAll() }
    case "status": return status(running)
    case "flush": flush(arguments, running)
    case "close": running.telemetry.shutdown()
    case "quarantine":
      // As the app does it: delivery has to hear of what is back in the queue.
      if arguments["requeue"]?.boolValue ?? false {
        running.telemetry.requeueQuarantined()
      } else {
        running.telemetry.clearQuarantine()
      }
    default:
      if let error = change(command, arguments, running) { return ["error": .string(error)] }
    }
    return [:]
  }

  /// Death inside a call in the runner's own process: what is left of the call changes no file.
  func freeze() { isFrozen.withLock { $0 = true } }

  /// Death in the runner's own process: nothing runs any more, and what the SDK had open is closed
  /// without its knowledge. The files it wrote to are not looked at again.
  func abandon() {
    executor.discard()
    running?.clock.discard()
    running?.store.inner.close()
    running?.disk.close()
    running = nil
  }

  // MARK: Starting

  private func open(_ setup: DeviceSetup) throws {
    let configuration = setup.configuration
    let clock = ScriptedClock(
      nowNs: setup.nowNs, bootNs: setup.bootNs, boot: setup.boot, wallOffsetNs: setup.wallOffsetNs)
    let say = self.say
    let transport = ScriptedTransport(
      inner: innerTransport, incarnation: setup.incarnation, executor: executor,
      onStart: { say(["event": "requestStarted", "request": .string($0)]) },
      onEnd: { name, outcome in
        say(["event": "requestEnded", "request": .string(name), "outcome": .string(outcome)])
      },
      onChange: wake)
    transport.setConnects(setup.network.connects)
    let disk = try ScriptedDisk(
      folder: setup.folder, medium: setup.medium.isEmpty ? nil : setup.medium,
      state: setup.disk, isFrozen: isFrozen, isAlone: isAlone, onGrowth: onFileGrowth)
    let keyStore = ScriptedKeyStore(
      inner: StoreFactory.keyStore(configuration, files: disk.files),
      isAvailable: setup.keyAvailable)
    let backgroundTime = ScriptedBackgroundTime(
      clock: clock, incarnation: setup.incarnation,
      assertionMs: setup.settings.backgroundTimeNs / 1_000_000,
      say: { kind, what in
        say(["event": "backgroundTime", "of": .string(kind), "what": .string(what)])
      })
    let environment = TelemetryEnvironment(
      clock: clock,
      random: ScriptedRandom(seed: setup.seed, incarnation: UInt64(setup.incarnation)),
      keyStore: keyStore, transport: transport, executor: executor,
      assertions: PlantedFaults.wrap(backgroundTime, setup), storeUsesThreads: false)
    let inner = StoreFactory.make(
      configuration, environment, files: disk.files, vfsName: ScriptedDisk.vfsName)
    let watch = StorageWatch(setup.storage, say: say) { SystemCalls.killSelf() }
    let onStorage = self.onStorage
    let store = ObservedStore(
      PlantedFaults.wrap(inner, setup), isFrozen: isFrozen,
      onSighting: { say(DeviceHost.message($0)) },
      onOperation: {
        onStorage($0)
        watch.happens($0)
      })
    let provider = ScriptedTokenProvider(setup.token)
    let telemetry = Telemetry.start(
      configuration, tokenProvider: provider, environment: environment, store: store,
      onDiagnostic: { say(DeviceHost.message($0)) })
    running = Running(
      telemetry: telemetry, clock: clock, transport: transport, keyStore: keyStore, store: store,
      disk: disk, provider: provider, backgroundTime: backgroundTime, setup: setup)
    // The app knows whose events it records before any token is asked for.
    if !setup.token.account.isEmpty { telemetry.tokenDidChange(account: setup.token.account) }
    telemetry.setNetwork(setup.path)
    telemetry.setLowPower(setup.lowPower)
    if setup.foreground { telemetry.enterForeground() } else { telemetry.enterBackground() }
  }

  // MARK: Doing

  private func record(_ arguments: JSONValue, _ running: Running) -> JSONObject {
    let events = arguments["events"]?.arrayValue ?? []
    let receipts = events.map { event -> JSONValue in
      let type = event["type"]?.stringValue ?? ""
      let payload = event["payload"] ?? .object([:])
      let receipt: RecordReceipt
      if let id = event["id"]?.stringValue.flatMap({ EventID($0) }) {
        receipt = running.telemetry.record(type, payload, id: id)
      } else {
        receipt = running.telemetry.record(type, payload)
      }
      return DeviceHost.message(receipt)
    }
    // An app that asks for the stronger promise waits for the medium, as `recordDurably` does.
    if running.setup.settings.powerLossDurability { running.store.whenSynced { _ in } }
    let session = running.telemetry.status().sessionID
    return ["receipts": .array(receipts), "session": session.map { .string($0) } ?? .null]
  }

  private func flush(_ arguments: JSONValue, _ running: Running) {
    let seconds = Double(arguments["timeoutMs"]?.int64Value ?? 0) / 1_000
    let say = self.say
    running.telemetry.flush(timeout: seconds) { report in
      say([
        "event": "flushed", "ending": .string(report.ending.rawValue),
        "sent": .number(JSONNumber(report.sent)),
        "remaining": .number(JSONNumber(report.remaining)),
        "quarantined": .number(JSONNumber(report.quarantined)),
        "dropped": .number(JSONNumber(report.dropped)),
      ])
    }
  }

  /// Changes of the phone's state. Says what is wrong with the request, if anything is.
  private func change(
    _ command: String, _ arguments: JSONValue, _ running: Running
  ) -> String? {
    let on = arguments["on"]?.boolValue ?? false
    switch command {
    case "path":
      let network = NetworkState(rawValue: arguments["state"]?.stringValue ?? "") ?? .wifi
      self.running?.setup.network = network
      running.transport.setConnects(network.connects)
      running.telemetry.setNetwork(self.running?.setup.path ?? running.setup.path)
    case "power": running.telemetry.setLowPower(on)
    case "app":
      if on { running.telemetry.enterForeground() } else { running.telemetry.enterBackground() }
    case "backgroundTask" where on:
      running.backgroundTime.grantTask { completion in
        running.telemetry.shell.backgroundTaskGranted(deadline: nil, completion: completion)
      }
    case "backgroundTask": running.backgroundTime.expireAll()
    case "token":
      running.provider.set(
        value: arguments["value"]?.stringValue, account: arguments["account"]?.stringValue ?? "")
      if arguments["notify"]?.boolValue == true {
        // An app that says so knows who has signed in.
        running.telemetry.tokenDidChange(account: arguments["account"]?.stringValue ?? "")
      }
    case "rotate": running.telemetry.rotateKey()
    case "keyLost":
      do { try running.keyStore.loseAll() } catch { return "\(error)" }
    case "keyAvailable": running.keyStore.setAvailable(on)
    case "wall": running.clock.setWallOffset(ns: arguments["offset"]?.int64Value ?? 0)
    case "disk":
      running.disk.set(DiskState(rawValue: arguments["state"]?.stringValue ?? "") ?? .ok)
    case "session": running.telemetry.newSession()
    case "consent": running.telemetry.setConsent(on)
    case "purge": running.telemetry.purge()
    default: return "unknown request \"\(command)\""
    }
    return nil
  }

  // MARK: Telling

  private func status(_ running: Running) -> JSONObject {
    let status = running.telemetry.status()
    let ledger = status.ledger
    func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    var dropped = JSONObject()
    for (reason, count) in ledger.dropped.sorted(by: { $0.key < $1.key }) {
      dropped[reason] = number(count)
    }
    return [
      "recorded": number(ledger.recorded), "delivered": number(ledger.delivered),
      "queued": number(ledger.queued), "quarantined": number(ledger.quarantined),
      "dropped": .object(dropped), "buffered": number(Int64(status.buffered)),
      "inFlight": number(Int64(status.inFlight)), "bytes": number(status.bytesOnDisk),
      "state": .string(DeviceHost.name(status.state)),
    ]
  }
}
