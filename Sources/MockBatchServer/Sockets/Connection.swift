/// One accepted connection: reads requests, lets the handler decide, performs what it says.
///
/// Guard: everything belongs to the loop's thread; other threads only post to the loop.
final class Connection: PollTarget, @unchecked Sendable {
  /// What the connection is doing.
  enum Phase: Equatable {
    /// Waiting for a request, or in the middle of its head.
    case reading
    /// A request's exchange takes its steps.
    case exchanging
    /// The exchange waits for the body.
    case awaitingBody
    /// The exchange waits for a park.
    case parked
    /// Reads and discards until the client closes.
    case discarding
    /// Neither reads nor writes until the client goes.
    case stalled
    case closed
  }

  let id: Int
  let peer: String
  let socket: Socket
  let handler: any ExchangeHandler
  let worker: SocketWorker
  let tls: (any TLSSession)?
  let resetsHandshake: Bool
  /// Whether the plan's connection faults apply.
  var followsPlan = true

  var phase = Phase.reading
  var parser: RequestParser
  var input = InputWindow()
  var unsent = OutputQueue()
  var exchange: (any Exchange)?
  /// What the exchange waits for.
  var park: Park?
  private var upstream = StreamLimits()
  /// When this connection is given up, on the engine's clock; `Int64.max` for never.
  private var deadlineNs = Int64.max
  /// When a client that takes nothing of what waits for it is given up.
  private var sendDeadlineNs = Int64.max

  var requests = 0
  var context = ResponseWriter.Context()
  var framing = BodyFraming.untilClose
  var bodyIsRead = false
  var bytesQueued = 0
  private var bytesRead = 0
  /// Bytes that were read before `upstream` held.
  private var bytesBeforeLimits = 0
  var discarded = 0
  var peerClosed = false
  var readPausedUntilNs = Int64.min
  let gone: @Sendable () -> Void
  private var interest: Interest = .read
  private var isAdvancing = false

  /// Bytes of later requests that are taken while one is being answered.
  static let maxPipelinedBytes = 65_536
  /// Bytes of a request nobody wants that are read before the connection is closed anyway.
  static let maxDiscardedBytes = 8_388_608
  /// Body bytes that are skipped in order to keep a connection whose body nobody asked for.
  static let maxSkippedBodyBytes = 65_536

  init(
    id: Int, socket: Socket, peer: String, handler: any ExchangeHandler, worker: SocketWorker,
    acceptor: (any TLSAcceptor)?, gone: @escaping @Sendable () -> Void
  ) {
    self.id = id
    self.socket = socket
    self.peer = peer
    self.handler = handler
    self.worker = worker
    self.gone = gone
    tls = acceptor?.makeSession()
    resetsHandshake = acceptor?.resetsHandshake ?? false
    parser = RequestParser(limits: worker.limits)
  }

  /// Starts watching; called once.
  func open() {
    guard worker.loop.add(socket, self, interest) else { return lose() }
    setDeadline(after: worker.limits.headTimeoutNs)
  }

  // MARK: Readiness

  func ready(_ readiness: Readiness) {
    if readiness.contains(.write) {
      let waiting = unsent.count
      guard unsent.flush(over: socket) else { return lose() }
      if unsent.count < waiting { renewSendDeadline() }
      if unsent.isEmpty { advance() }
    }
    guard phase != .closed else { return }
    if phase == .stalled || peerClosed {
      if !readiness.isDisjoint(with: [.broken, .peerClosed]) { lose() }
      return
    }
    if !readiness.isDisjoint(with: [.read, .broken]) { readOnce() }
  }

  private func readOnce() {
    guard wantsRead || interest.isEmpty else { return }
    var buffer = worker.loop.scratch
    if let rate = upstream.bytesPerSecond {
      buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Throttle.slice(rate)])
    }
    if let limit = upstream.closeAfterBytes {
      // Not a byte behind the limit is looked at.
      let most = min(buffer.count, max(1, limit - bytesRead + bytesBeforeLimits))
      buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<most])
    }
    switch socket.receive(into: buffer) {
    case .bytes(let count):
      noteRead(count)
      take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      checkReadLimit()
    case .endOfFile: peerEnded()
    case .wouldBlock: break
    case .failed: lose()
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    guard let tls else { return takePlain(bytes) }
    guard !resetsHandshake else { return abort() }
    let progress = tls.receive(bytes) { takePlain($0) }
    guard phase != .closed else { return }
    transmitTLS()
    switch progress {
    case .open: break
    case .ended: peerEnded()
    case .failed(let reason):
      handler.refused([], status: 0, reason: "TLS: \(reason)", context: requestContext)
      unsent.isEmpty ? lose() : finishClosing()
    }
  }

  private func takePlain(_ bytes: UnsafeRawBufferPointer) {
    if phase == .discarding {
      discarded += bytes.count
      if discarded > Connection.maxDiscardedBytes { close() }
      return
    }
    guard phase != .closed, phase != .stalled else { return }
    input.lend(bytes)
    advance()
    input.settle()
    updateInterest()
  }

  /// The client will send nothing more. It may still wait for an answer that has begun; before its
  /// first byte nobody can tell the client's end from its half, and it is taken to have gone.
  private func peerEnded() {
    peerClosed = true
    switch phase {
    case .parked where bytesQueued == 0 && !(park?.isWork ?? false): lose()
    case .parked, .exchanging: updateInterest()
    case .reading:
      if parser.isInsideHead { refuse(HTTPFailure(400, "The request ends too early.")) }
      close()
    case .awaitingBody:
      endExchange(.incompleteRequest("the client closed before the body was complete"))
      close()
    case .discarding, .stalled: close()
    case .closed: break
    }
  }

  // MARK: Driving

  /// Goes on as far as possible. Never re-entered; never called with a lock held.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    while unsent.isEmpty, step() {}
    isAdvancing = false
    updateInterest()
  }

  /// Continues after a park, on the loop's thread.
  func unpark() {
    switch phase {
    case .parked:
      park = nil
      phase = .exchanging
      advance()
    case .stalled: close()
    default: break
    }
  }

  /// One step; false when something has to be waited for.
  private func step() -> Bool {
    switch phase {
    case .reading: return stepReading()
    case .awaitingBody: return stepBody()
    case .exchanging: return stepExchange()
    case .parked, .discarding, .stalled, .closed: return false
    }
  }

  private func stepReading() -> Bool {
    guard !input.isEmpty else {
      if peerClosed { close() }
      return false
    }
    let wasInsideHead = parser.isInsideHead
    switch input.parse(&parser) {
    case .needMore:
      if !wasInsideHead, parser.isInsideHead { setDeadline(after: worker.limits.headTimeoutNs) }
      return false
    case .head(let head):
      begin(head)
      return true
    case .failed(let failure):
      refuse(failure)
      return false
    case .body, .bodyTooLarge: return false
    }
  }

  private func begin(_ head: HTTPRequest) {
    context = ResponseWriter.Context(
      isHead: head.method == "HEAD", minorVersion: head.minorVersion,
      closes: !parser.keepsConnection || worker.isDraining)
    bodyIsRead = false
    deadlineNs = .max
    bytesQueued = 0
    framing = .untilClose
    phase = .exchanging
    exchange = handler.begin(head, context: requestContext)
    requests += 1
  }

  /// The body as far as it has come; false when more is needed.
  private func stepBody() -> Bool {
    switch input.parse(&parser) {
    case .body(let body, let trailers):
      bodyIsRead = true
      supply(.complete(body, trailers: trailers))
    case .bodyTooLarge:
      context.closes = true
      bodyIsRead = true
      supply(.tooLarge)
    case .failed(let failure):
      endExchange(.incompleteRequest(failure.reason))
      answer(failure)
      return false
    case .needMore, .head:
      if peerClosed {
        endExchange(.incompleteRequest("the client closed before the body was complete"))
        close()
      } else if deadlineNs == .max {
        setDeadline(after: worker.limits.bodyTimeoutNs)
      }
      return false
    }
    return true
  }

  private func supply(_ body: SuppliedBody) {
    deadlineNs = .max
    exchange?.supply(body)
    phase = .exchanging
  }

  var requestContext: RequestContext {
    RequestContext(
      connection: id, indexOnConnection: requests, peer: peer, isTLS: tls != nil)
  }

  // MARK: Interest and limits

  private var wantsRead: Bool {
    guard !peerClosed, readPausedUntilNs == .min else { return false }
    switch phase {
    case .stalled, .closed: return false
    case .reading, .awaitingBody, .discarding: return true
    case .exchanging, .parked: return input.count < Connection.maxPipelinedBytes
    }
  }

  func updateInterest() {
    guard phase != .closed else { return }
    var wanted: Interest = []
    if wantsRead { wanted.insert(.read) }
    if !unsent.isEmpty { wanted.insert(.write) }
    if phase == .stalled, !peerClosed { wanted.insert(.hangup) }
    guard wanted != interest else { return }
    interest = wanted
    worker.loop.change(socket, wanted)
  }

  /// When the connection is next to be looked at.
  var nextDeadlineNs: Int64 { min(deadlineNs, sendDeadlineNs) }

  func setDeadline(after timeout: UInt64?) {
    deadlineNs = moment(after: timeout)
    worker.noteDeadline(deadlineNs)
  }

  func clearDeadline() { deadlineNs = .max }

  /// Called when output begins to wait, and whenever the client took some.
  func renewSendDeadline() {
    sendDeadlineNs = unsent.isEmpty ? .max : moment(after: worker.limits.sendTimeoutNs)
    worker.noteDeadline(sendDeadlineNs)
  }

  /// Called behind every write.
  func noteUnsent() {
    if !unsent.isEmpty, sendDeadlineNs == .max { renewSendDeadline() }
  }

  private func moment(after timeout: UInt64?) -> Int64 {
    guard let timeout else { return .max }
    let (sum, overflow) = worker.clock.nowNs.addingReportingOverflow(Int64(clamping: timeout))
    return overflow ? .max : sum
  }

  /// From now on reads within the limits. With a connection's first request they hold for what
  /// has come already, too.
  func limitReading(_ limits: StreamLimits) {
    upstream = limits
    bytesBeforeLimits = requests > 1 ? bytesRead - input.count : 0
    readPausedUntilNs = .min
    pauseReading(after: bytesRead - bytesBeforeLimits)
    checkReadLimit()
  }

  private func noteRead(_ count: Int) {
    bytesRead += count
    pauseReading(after: count)
  }

  /// Reads no further until so many bytes have taken their time.
  private func pauseReading(after count: Int) {
    guard let rate = upstream.bytesPerSecond else { return }
    let due = Throttle.due(count: count, rate: rate, nowNs: worker.clock.nowNs)
    readPausedUntilNs = due
    _ = worker.clock.schedule(atNs: due) { [weak self, loop = worker.loop] in
      loop.post { [weak self] in self?.resumeReading() }
    }
  }

  private func resumeReading() {
    readPausedUntilNs = .min
    updateInterest()
  }

  private func checkReadLimit() {
    guard let limit = upstream.closeAfterBytes, bytesRead - bytesBeforeLimits >= limit,
      phase != .closed
    else { return }
    let reason = StreamLimits.closingReason(bytes: limit)
    if exchange == nil, phase == .reading {
      let begun = input.prefix(SocketServer.maxRefusedBytes)
      handler.cut(begun, reason: reason, context: requestContext)
    }
    endExchange(.incompleteRequest(reason))
    close()
  }

  /// Ends the connection where a deadline has passed.
  func expire(nowNs: Int64) {
    guard sendDeadlineNs > nowNs else {
      endExchange(.clientDidNotRead)
      return abort()
    }
    guard deadlineNs <= nowNs else { return }
    switch phase {
    case .reading where parser.isInsideHead:
      refuse(HTTPFailure(408, "The head did not come in time."))
    case .awaitingBody:
      endExchange(.incompleteRequest("body deadline"))
      answer(HTTPFailure(408, "The body did not come in time."))
    case .reading, .discarding: close()
    case .exchanging, .parked, .stalled, .closed: deadlineNs = .max
    }
  }
}

/// Reading at a rate.
enum Throttle {
  /// Pieces of a twentieth of a second.
  static func slice(_ rate: Int) -> Int { min(65_536, max(1, rate / 20)) }

  /// When the next piece may be read.
  static func due(count: Int, rate: Int, nowNs: Int64) -> Int64 {
    let duration = Double(count) / Double(max(1, rate)) * 1e9
    guard duration < 9e18 else { return .max }
    let (sum, overflow) = nowNs.addingReportingOverflow(Int64(duration))
    return overflow ? .max : sum
  }
}
