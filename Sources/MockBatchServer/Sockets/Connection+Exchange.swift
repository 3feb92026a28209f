/// Performing an exchange's steps, and ending connections.
extension Connection {
  /// One step of the exchange; false when something has to be waited for.
  func stepExchange() -> Bool {
    guard let exchange else { return false }
    switch exchange.next() {
    case .readBody(let limit): return readBody(limit)
    case .limitReading(let limits): limitReading(limits)
    case .park(let park): return wait(for: park)
    case .send(let response):
      settleBody()
      noteClose(response)
      transmit { ResponseWriter.append(response, context, to: &$0) }
    case .sendHead(let response, let wanted):
      settleBody()
      noteClose(response)
      framing = wanted
      if case .untilClose = wanted { context.closes = true }
      if context.minorVersion == 0, case .chunked = wanted {
        framing = .untilClose
        context.closes = true
      }
      transmit { ResponseWriter.appendHead(response, framing, context, to: &$0) }
    case .sendBody(let piece):
      guard !context.isHead else { return true }
      transmit { out in
        if case .chunked = framing {
          ResponseWriter.appendChunk(piece, to: &out)
        } else {
          out.append(contentsOf: piece)
        }
      }
    case .sendRaw(let bytes): transmit { $0.append(contentsOf: bytes) }
    case .endBody:
      if case .chunked = framing, !context.isHead {
        transmit { ResponseWriter.appendLastChunk(to: &$0) }
      }
    case .finish(let finish): return perform(finish)
    }
    return phase != .closed
  }

  private func readBody(_ limit: Int) -> Bool {
    guard !bodyIsRead else {
      exchange?.supply(.complete([], trailers: HTTPHeaders()))
      return true
    }
    parser.bodyLimit = limit
    phase = .awaitingBody
    if parser.awaitsContinue, input.isEmpty {
      transmit { ResponseWriter.appendContinue(to: &$0) }
      bytesQueued = 0
    }
    return phase != .closed
  }

  /// Before an answer: a body that nobody asked for is skipped if it is here already, else the
  /// connection cannot be used again, because the rest of it would be read as a request.
  private func settleBody() {
    guard !bodyIsRead else { return }
    bodyIsRead = true
    parser.bodyLimit = Connection.maxSkippedBodyBytes
    if case .body = input.parse(&parser) { return }
    context.closes = true
  }

  private func noteClose(_ response: HTTPResponse) {
    if response.headers.value(of: "connection", equals: "close") { context.closes = true }
  }

  /// Waits for the engine. True when the wait is over already.
  func wait(for park: Park) -> Bool {
    guard !park.isReady else { return true }
    phase = .parked
    self.park = park
    clearDeadline()
    watch(park)
    return false
  }

  private func watch(_ park: Park) {
    park.whenReady { [weak self, loop = worker.loop] in
      loop.post { [weak self] in self?.unpark() }
    }
  }

  /// Ends the exchange as told. True when another request may follow at once.
  func perform(_ finish: ExchangeFinish) -> Bool {
    switch finish {
    case .keepAlive:
      settleBody()
      guard !context.closes else {
        endExchange(.completed)
        finishClosing()
        return false
      }
      phase = .reading
      setDeadline(after: worker.limits.idleTimeoutNs)
      endExchange(.completed)
      return true
    case .close:
      endExchange(.completed)
      finishClosing()
    case .reset:
      endExchange(.completed)
      abort()
    case .halfClose:
      endExchange(.completed)
      finishSending()
      startDiscarding(deadline: nil)
    case .stall(let park):
      phase = .stalled
      clearDeadline()
      input.drop()
      if let park { watch(park) }
      updateInterest()
    }
    return false
  }

  /// Reports the end of the present exchange, once.
  func endExchange(_ ending: ExchangeEnding) {
    guard let ended = exchange else { return }
    exchange = nil
    ended.ended(bytesSent: max(0, bytesQueued - unsent.count), ending)
  }

  // MARK: Refusals

  /// Answers bytes that are no request, and closes.
  func refuse(_ failure: HTTPFailure) {
    handler.refused(
      input.prefix(SocketServer.maxRefusedBytes), status: failure.status, reason: failure.reason,
      context: requestContext)
    answer(failure)
  }

  /// Answers with a problem and closes.
  func answer(_ failure: HTTPFailure) {
    context = ResponseWriter.Context(isHead: false, minorVersion: 1, closes: true)
    let response = failure.response(wallMs: worker.clock.wallMs)
    transmit { ResponseWriter.append(response, context, to: &$0) }
    finishClosing()
  }

  // MARK: Output

  /// Builds output in the loop's shared buffer and sends it at once.
  func transmit(_ build: (inout [UInt8]) -> Void) {
    guard phase != .closed else { return }
    let loop = worker.loop
    loop.output.removeAll(keepingCapacity: true)
    build(&loop.output)
    bytesQueued += loop.output.count
    let sent = loop.output.withUnsafeBytes { bytes -> Bool in
      guard let tls else { return unsent.send(bytes, over: socket) }
      tls.send(bytes)
      return true
    }
    guard sent else { return lose() }
    if tls != nil { transmitTLS() }
    noteUnsent()
    loop.trimOutput()
  }

  /// Sends what the TLS session has for the wire.
  func transmitTLS() {
    guard let tls, phase != .closed else { return }
    let loop = worker.loop
    loop.output.removeAll(keepingCapacity: true)
    tls.drain(to: &loop.output)
    let sent = loop.output.withUnsafeBytes { unsent.send($0, over: socket) }
    if !sent { lose() }
  }

  // MARK: Ends

  private func finishSending() {
    if let tls {
      tls.sendClose()
      transmitTLS()
    }
    socket.shutdownSending()
  }

  /// Closes so that the client can still read the answer: sends our end first and reads on for a
  /// while, because closing with unread bytes would reset the connection.
  func finishClosing() {
    guard phase != .closed else { return }
    finishSending()
    guard !peerClosed else { return close() }
    startDiscarding(deadline: worker.limits.lingerTimeoutNs)
  }

  /// Closes unless a request has begun.
  func closeIfIdle() {
    context.closes = true
    if phase == .reading, !parser.isInsideHead { finishClosing() }
  }

  private func startDiscarding(deadline: UInt64?) {
    guard phase != .closed else { return }
    phase = .discarding
    input.drop()
    setDeadline(after: deadline)
    updateInterest()
  }

  /// The connection broke or the client went.
  func lose() {
    endExchange(.clientWentAway)
    close()
  }

  /// Closes with an RST.
  func abort() {
    guard phase != .closed else { return }
    leave()
    socket.reset()
  }

  func close() {
    guard phase != .closed else { return }
    endExchange(.clientWentAway)
    leave()
    socket.close()
  }

  private func leave() {
    phase = .closed
    unsent.drop()
    input.drop()
    worker.loop.remove(socket)
    worker.forget(self)
    gone()
    handler.connectionClosed(id)
  }
}
