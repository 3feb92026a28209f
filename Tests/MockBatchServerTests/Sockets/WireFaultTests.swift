import XCTest

@testable import MockBatchServer

/// Every way to break a connection, seen by a client that reads plain bytes.
final class WireFaultTests: XCTestCase {
  private var servers: [SocketServer] = []

  override func tearDown() {
    for server in servers { server.stop() }
    servers = []
  }

  private func start(
    _ handler: ScriptedHandler, clock: any EngineClock = LiveEngineClock()
  ) throws -> Int {
    let server = try SocketServer(clock: clock)
    servers.append(server)
    return try server.start([.init(host: "127.0.0.1", port: 0, handler: handler)])[0]
  }

  private func start(_ steps: [ExchangeStep]) throws -> (port: Int, handler: ScriptedHandler) {
    let handler = ScriptedHandler { _, _ in steps }
    return (try start(handler), handler)
  }

  private func outcome(_ steps: [ExchangeStep]) throws -> (text: String, end: RawClient.End) {
    let client = try RawClient(port: start(steps).port)
    client.send(WireFaultTests.post)
    return client.readToEnd()
  }

  private static let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok"

  func testClose_whenNothingWasSent_isEndOfFileBeforeAByte() throws {
    let (text, end) = try outcome([.finish(.close)])
    XCTAssertEqual(text, "")
    XCTAssertEqual(end, .endOfFile)
  }

  func testReset_whenOrdered_isARealReset() throws {
    let (text, end) = try outcome([.finish(.reset)])
    XCTAssertEqual(text, "")
    XCTAssertEqual(end, .reset)
  }

  func testReset_whenTheAnswerHasBegun_comesBehindItsStart() throws {
    let gate = Park(reason: "gate")
    let (port, _) = try start([
      .sendHead(HTTPResponse(status: 200), .length(9)), .sendBody(Array("abc".utf8)), .park(gate),
      .finish(.reset),
    ])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    var text = ""
    while !text.hasSuffix("abc") {
      text += String(decoding: try client.readSome().get(), as: UTF8.self)
    }
    gate.release()
    XCTAssertEqual(client.readToEnd().end, .reset)
  }

  func testTruncation_whenOrdered_isShortOfTheContentLength() throws {
    let (text, end) = try outcome([
      .sendHead(HTTPResponse(status: 200), .length(100)), .sendBody(Array("ten bytes.".utf8)),
      .finish(.close),
    ])
    XCTAssertTrue(text.lowercased().contains("content-length: 100\r\n"), text)
    XCTAssertTrue(text.hasSuffix("\r\n\r\nten bytes."), text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testGarbage_whenOrdered_isSentAsItIs() throws {
    let (text, end) = try outcome([.sendRaw(Array("\u{1}garbage".utf8)), .finish(.close)])
    XCTAssertEqual(text, "\u{1}garbage")
    XCTAssertEqual(end, .endOfFile)
  }

  func testChunkedAnswer_whenSentInPieces_isFramedAndKeepsTheConnection() throws {
    let (port, _) = try start([
      .sendHead(HTTPResponse(status: 200), .chunked), .sendBody(Array("abc".utf8)), .sendBody([]),
      .sendBody(Array(repeating: 0x61, count: 17)), .endBody, .finish(.keepAlive),
    ])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post + WireFaultTests.post)
    client.finishSending()
    let (text, end) = client.readToEnd()
    let body = "3\r\nabc\r\n11\r\naaaaaaaaaaaaaaaaa\r\n0\r\n\r\n"
    XCTAssertEqual(text.components(separatedBy: body).count, 3, text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testHTTP10_whenTheAnswerIsChunked_getsItUntilTheConnectionCloses() throws {
    let (port, _) = try start([
      .sendHead(HTTPResponse(status: 200), .chunked), .sendBody(Array("abc".utf8)), .endBody,
      .finish(.keepAlive),
    ])
    let client = try RawClient(port: port)
    client.send("POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")
    let (text, end) = client.readToEnd()
    XCTAssertTrue(text.hasSuffix("\r\n\r\nabc"), text)
    XCTAssertFalse(text.lowercased().contains("transfer-encoding"), text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testHalfClose_whenOrdered_goesOnReading() throws {
    let (port, handler) = try start([.finish(.halfClose)])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    XCTAssertEqual(client.readToEnd().end, .endOfFile)
    for _ in 0..<20 { client.send([UInt8](repeating: 0x61, count: 65_536)) }
    XCTAssertEqual(handler.log.access { $0.closed }, 0)
    client.finishSending()
    XCTAssertTrue(handler.wait { $0.closed == 1 })
  }

  func testStall_whenOrdered_holdsUntilTheClientGoes() throws {
    let (port, handler) = try start([.finish(.stall(nil))])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    // The server answers another connection meanwhile, and this one has neither byte nor end.
    let other = try RawClient(port: port)
    other.send("\u{1}")
    XCTAssertTrue(other.readToEnd().text.hasPrefix("HTTP/1.1 400"))
    XCTAssertTrue(handler.log.access { $0.endings.isEmpty })
    client.finishSending()
    XCTAssertTrue(handler.wait { $0.endings.count == 1 })
    XCTAssertEqual(handler.log.access { $0.endings[0].ending }, .clientWentAway)
    XCTAssertEqual(client.readToEnd().end, .endOfFile)
  }

  func testStall_whenItsParkEnds_closes() throws {
    let park = Park(reason: "stall")
    let (port, handler) = try start([.finish(.stall(park))])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    park.release()
    XCTAssertEqual(client.readToEnd().end, .endOfFile)
    XCTAssertTrue(handler.wait { $0.endings.count == 1 })
  }

  func testPark_whenTheClientCloses_endsTheExchangeAtOnce() throws {
    let (port, handler) = try start([
      .park(Park(reason: "never")), .send(HTTPResponse(status: 200)), .finish(.keepAlive),
    ])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    XCTAssertTrue(handler.waitForBody())
    client.finishSending()
    XCTAssertTrue(handler.wait { $0.closed == 1 })
    XCTAssertEqual(handler.log.access { $0.endings.map(\.ending) }, [.clientWentAway])
  }

  func testPark_whenTheAnswerHasBegun_outlastsTheClientsHalf() throws {
    let gate = Park(reason: "gate")
    let (port, handler) = try start([
      .sendHead(HTTPResponse(status: 200), .length(2)), .park(gate), .sendBody([0x6f, 0x6b]),
      .finish(.close),
    ])
    let client = try RawClient(port: port)
    client.send(WireFaultTests.post)
    XCTAssertTrue(handler.waitForBody())
    client.finishSending()
    // Another connection's answer comes behind the end of this one's half.
    let other = try RawClient(port: port)
    other.send("\u{1}")
    XCTAssertTrue(other.readToEnd().text.hasPrefix("HTTP/1.1 400"))
    XCTAssertEqual(handler.log.access { $0.endings.count }, 0)
    gate.release()
    XCTAssertTrue(client.readToEnd().text.hasSuffix("ok"))
    XCTAssertTrue(handler.wait { $0.endings.first?.ending == .completed })
  }

  func testPark_whenOneConnectionWaits_delaysNoOther() throws {
    let gate = Park(reason: "gate")
    let handler = ScriptedHandler { request, _ in
      let park: [ExchangeStep] = request.target == "/slow" ? [.park(gate)] : []
      return park + [.send(HTTPResponse(status: 200)), .finish(.keepAlive)]
    }
    let port = try start(handler)
    let slow = try RawClient(port: port)
    slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    let quick = try RawClient(port: port)
    for _ in 0..<20 {
      quick.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try quick.readResponse().status, 200)
    }
    gate.release()
    XCTAssertEqual(try slow.readResponse().status, 200)
  }

  func testUpstreamLimit_whenReached_closesTheConnection() throws {
    let limits = StreamLimits(closeAfterBytes: 60)
    let handler = ScriptedHandler(limits: limits) { _, _ in [.finish(.close)] }
    let client = try RawClient(port: start(handler))
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n")
    client.send([UInt8](repeating: 0x61, count: 40))
    XCTAssertTrue(handler.wait { $0.closed == 1 })
    XCTAssertNotEqual(client.readToEnd().end, .guardExpired)
    guard case .incompleteRequest? = handler.log.access({ $0.endings.first?.ending }) else {
      return XCTFail("not journaled as incomplete")
    }
  }

  func testUpstreamLimit_whenTheRequestComesInOnePiece_cutsItAtTheByte() throws {
    let handler = ScriptedHandler(limits: StreamLimits(closeAfterBytes: 60)) { _, _ in
      [.send(HTTPResponse(status: 200)), .finish(.keepAlive)]
    }
    let client = try RawClient(port: start(handler))
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n" + String(repeating: "a", count: 40)
    )
    let (text, end) = client.readToEnd()
    XCTAssertEqual(text, "")
    XCTAssertNotEqual(end, .guardExpired)
    XCTAssertTrue(handler.wait { $0.closed == 1 })
    XCTAssertEqual(handler.log.access { $0.bodies.count }, 0)
  }

  func testUpstreamBandwidth_whenLimited_takesTheTimeOfItsRateOnTheEnginesClock() throws {
    let clock = ManualEngineClock()
    let limits = StreamLimits(bytesPerSecond: 16_000)
    // When the body was whole: behind the answer the clock moves on to the end of the lingering.
    let wholeAtNs = Guarded<Int64?>(nil)
    let handler = ScriptedHandler(limits: limits) { _, _ in
      wholeAtNs.access { $0 = clock.nowNs }
      return [.send(HTTPResponse(status: 200)), .finish(.close)]
    }
    let client = try RawClient(port: start(handler, clock: clock))
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 160000\r\n\r\n")
    let sender = Thread { client.send([UInt8](repeating: 0x61, count: 160_000)) }
    sender.start()
    // Only the rate's own timers are due before the head's and the body's deadlines.
    while wholeAtNs.access({ $0 == nil }), clock.advanceToNextDue(before: 30_000_000_000) {}
    XCTAssertEqual(Double(try XCTUnwrap(wholeAtNs.access { $0 })) / 1e9, 10, accuracy: 0.5)
  }

  // MARK: Listener

  func testListener_whenRefusing_keepsThePortAndAcceptsAgain() throws {
    let port = try start(.echo())
    for _ in 0..<3 {
      servers[0].setListener(.refuse)
      XCTAssertThrowsError(try RawClient(port: port)) {
        XCTAssertEqual(($0 as? POSIXError)?.code, .ECONNREFUSED)
      }
      servers[0].setListener(.accept)
      let client = try RawClient(port: port)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try client.readResponse().status, 200)
    }
  }

  func testListener_whenSwallowingConnects_acceptsAgainLater() throws {
    let handler = ScriptedHandler.echo()
    let port = try start(handler)
    servers[0].setListener(.blackhole)
    #if os(Linux)
      // A handshake over loopback is done when connect returns; here it does not come to its end.
      let waiting = RawClient.bareSocket()
      defer { close(waiting) }
      _ = fcntl(waiting, F_SETFL, O_NONBLOCK)
      RawClient.connectBare(waiting, port: port)
      var state = pollfd(fd: waiting, events: Int16(POLLOUT), revents: 0)
      XCTAssertEqual(poll(&state, 1, 0), 0)
    #endif
    let connected = expectation(description: "connected")
    let thread = Thread {
      if let client = try? RawClient(port: port) {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        if (try? client.readResponse().status) == 200 { connected.fulfill() }
      }
    }
    thread.start()
    XCTAssertTrue(handler.log.access { $0.requests.isEmpty })
    servers[0].setListener(.accept)
    wait(for: [connected], timeout: 60)
  }

  func testConnections_whenReset_areAllReset() throws {
    let gate = Park(reason: "gate")
    let (port, handler) = try start([.park(gate), .finish(.close)])
    let clients = try (0..<10).map { _ in try RawClient(port: port) }
    for client in clients { client.send(WireFaultTests.post) }
    XCTAssertTrue(handler.waitForBody(count: 10))
    servers[0].resetConnections()
    for client in clients { XCTAssertEqual(client.readToEnd().end, .reset) }
    gate.release()
  }
}
