import JSONText

/// One life of a device, in a process of its own or in the runner's.
protocol DeviceLink: AnyObject, Sendable {
  /// Hands over one numbered request; the reply comes through the mailbox.
  func send(_ request: JSONObject) throws
  /// Does what is runnable, where the device has no thread of its own.
  func pump()
  /// The server restarts. In a lane with sockets the server itself ends them.
  func dropConnections()
  /// Ends the life at once. Any thread.
  func kill()
  /// After `kill`, or when the stream has ended: frees what the life held.
  func bury() -> ChildEnd
}

/// A device process.
final class ProcessLink: DeviceLink {
  private let process: DeviceProcess
  private let bridge: BridgeServer?

  init(process: DeviceProcess, bridge: BridgeServer?) {
    self.process = process
    self.bridge = bridge
  }

  func send(_ request: JSONObject) throws { try process.send(request) }
  func pump() {}
  func dropConnections() { bridge?.dropConnections() }
  func kill() { process.kill() }
  func bury() -> ChildEnd { process.reap() }
}

/// A device in the runner's own process: SDK and engine on one thread. Death drops the SDK
/// without a goodbye; the folder stays.
final class VirtualLink: DeviceLink, @unchecked Sendable {
  // Guard: everything belongs to the runner's thread; only `isDead` is set from callbacks, which
  // in this lane run on that thread as well.
  private let incarnation: Int
  private let mailbox: Mailbox
  private let executor = ScriptedExecutor()
  private let network: VirtualTransport
  private var host: DeviceHost?
  private var last: DeviceIdle?
  private var after: Int64 = 0
  private var isDead = false

  init(
    incarnation: Int, mailbox: Mailbox, network: VirtualTransport,
    onStorage: @escaping @Sendable (StorageOperation) -> Void,
    onFileGrowth: @escaping @Sendable () -> Void
  ) {
    self.incarnation = incarnation
    self.mailbox = mailbox
    self.network = network
    let say: @Sendable (JSONObject) -> Void = { [weak self] in self?.say($0) }
    host = DeviceHost(
      executor: executor, transport: network, say: say, wake: {}, isAlone: true,
      onStorage: onStorage, onFileGrowth: onFileGrowth)
  }

  private func say(_ message: JSONObject) {
    guard !isDead else { return }
    mailbox.put(.device(incarnation: incarnation, .message(.object(message))))
  }

  func send(_ request: JSONObject) throws {
    guard !isDead, let host else { return }
    let number = request["n"]?.int64Value ?? 0
    var reply = host.handle(request["do"]?.stringValue ?? "", .object(request))
    reply["n"] = .number(JSONNumber(number))
    say(reply)
    after = number
    pump()
  }

  func pump() {
    guard !isDead, let host else { return }
    // Requests leave while the SDK does not run, as they do on a wire.
    repeat { executor.runAll() } while !isDead && network.deliverOne()
    guard !isDead else { return }
    let idle = DeviceIdle(after: after, nextDueNs: host.nextDueNs, inFlight: host.inFlight)
    guard idle != last else { return }
    last = idle
    mailbox.put(.device(incarnation: incarnation, .idle(idle)))
  }

  func dropConnections() { network.dropConnections() }

  func kill() {
    guard !isDead else { return }
    isDead = true
    host?.freeze()
    network.cutOff()
    mailbox.put(.device(incarnation: incarnation, .ended(tornBytes: 0)))
  }

  func bury() -> ChildEnd {
    host?.abandon()
    host = nil
    return .signalled(9)
  }
}
