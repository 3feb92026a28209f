/// A listening address whose state a plan can change at run time. The port is bound once, by a
/// companion socket that never listens and so holds the port while connects are refused.
///
/// Belongs to the loop's thread.
final class Listener: PollTarget {
  /// What a listener tells.
  enum Event {
    case connection(Socket, SocketAddress)
    /// A connection was closed at once because no descriptor was left for it.
    case dropped
    /// Nothing can be accepted for now: call `resume` in a while.
    case exhausted
  }

  /// The address with its real port.
  let address: SocketAddress
  private(set) var state = ListenerState.refuse

  private let companion: Socket
  private var listening: Socket?
  private var fillers: [Socket] = []
  private var reserve: Socket?
  private var isPaused = false
  private unowned let loop: EventLoop
  private let handler: (Event) -> Void

  private static let backlog: Int32 = 4_096
  /// Accepted per wake-up, so that a flood of connects does not starve open connections.
  private static let maxAcceptsPerWake = 64

  /// Binds; nobody is accepted before `set(.accept)`.
  init(
    address wanted: SocketAddress, loop: EventLoop,
    handler: @escaping (Event) -> Void
  ) throws {
    companion = try Socket.bound(to: wanted)
    guard let bound = SocketAddress(host: wanted.host, port: companion.localPort) else {
      throw SocketError(operation: "getsockname", code: 0, subject: wanted.description)
    }
    address = bound
    self.loop = loop
    self.handler = handler
  }

  /// Changes what happens to new connects.
  func set(_ wanted: ListenerState) throws {
    guard wanted != state || listening == nil else { return }
    switch wanted {
    case .refuse: stopListening()
    case .accept:
      dropFillers()
      let socket = try openedListener()
      try socket.listen(backlog: Listener.backlog, subject: address.description)
    case .blackhole: try swallowConnects(try openedListener())
    }
    state = wanted
    if wanted == .accept { watch() }
  }

  /// Stops listening and gives the port back.
  func close() {
    stopListening()
    companion.close()
    reserve?.close()
    reserve = nil
  }

  /// Takes no further connections for now; they wait in the kernel's backlog.
  func pause() {
    guard let listening, !isPaused else { return }
    isPaused = true
    loop.remove(listening)
  }

  /// Ends `pause`.
  func resume() {
    guard isPaused, state == .accept else { return }
    watch()
  }

  func ready(_ readiness: Readiness) {
    for _ in 0..<Listener.maxAcceptsPerWake {
      guard !isPaused, let listening else { return }
      switch listening.acceptOne() {
      case .socket(let socket, let peer): handler(.connection(socket, peer))
      case .nothing: return
      case .noDescriptors: shedOne(listening)
      }
    }
  }

  /// No descriptor is left: the reserve is given up for a moment, so that the waiting connection
  /// can be taken and closed. Otherwise the loop would spin on a socket that stays readable.
  private func shedOne(_ listening: Socket) {
    reserve?.close()
    reserve = nil
    if case .socket(let socket, _) = listening.acceptOne() {
      socket.reset()
      handler(.dropped)
    }
    reserve = Socket.reserve()
    if reserve == nil {
      pause()
      handler(.exhausted)
    }
  }

  private func openedListener() throws -> Socket {
    if let listening { return listening }
    let socket = try Socket.bound(to: address)
    listening = socket
    try socket.listen(backlog: Listener.backlog, subject: address.description)
    return socket
  }

  private func watch() {
    guard let listening else { return }
    if reserve == nil { reserve = Socket.reserve() }
    isPaused = false
    _ = loop.add(listening, self, .read)
  }

  private func stopListening() {
    dropFillers()
    if let listening {
      loop.remove(listening)
      listening.close()
    }
    listening = nil
    isPaused = false
  }

  private func dropFillers() {
    for filler in fillers { filler.reset() }
    fillers = []
  }

  /// A backlog of nothing, filled by connects of our own: the kernel then drops every further SYN,
  /// and clients wait as they would behind a broken route. Where the kernel does not work so,
  /// clients connect into the backlog and wait for an answer instead.
  private func swallowConnects(_ socket: Socket) throws {
    loop.remove(socket)
    try socket.listen(backlog: 0, subject: address.description)
    #if os(Linux)
      let target =
        address.host == "0.0.0.0"
        ? SocketAddress(host: "127.0.0.1", port: address.port)
        : address.host == "::" ? SocketAddress(host: "::1", port: address.port) : address
      guard let target else { return }
      for _ in 0..<2 {
        let filler = try Socket.stream(family: address.family)
        filler.beginConnecting(to: target)
        fillers.append(filler)
      }
    #endif
  }
}
