import XCTest

@testable import MockBatchServer

final class SocketServerTests: XCTestCase {
  private var servers: [SocketServer] = []

  override func tearDown() {
    for server in servers { server.stop() }
    servers = []
  }

  private func start(
    _ handler: ScriptedHandler, host: String = "127.0.0.1",
    clock: any EngineClock = LiveEngineClock(), limits: HTTPLimits = HTTPLimits(),
    threads: Int = 1
  ) throws -> Int {
    let server = try SocketServer(clock: clock, limits: limits, threads: threads)
    let port = try server.start([.init(host: host, port: 0, handler: handler)])[0]
    servers.append(server)
    return port
  }

  func testServer_whenRequestsFollowOnOneConnection_answersEach() throws {
    let handler = ScriptedHandler.echo()
    let client = try RawClient(port: start(handler))
    for text in ["one", "two", ""] {
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
      let answer = try client.readResponse()
      XCTAssertEqual(answer.status, 200)
      XCTAssertEqual(String(decoding: answer.body, as: UTF8.self), text)
    }
    XCTAssertEqual(handler.log.access { $0.opened }, 1)
  }

  func testServer_whenRequestsArePipelined_answersInOrder() throws {
    let client = try RawClient(port: start(.echo()))
    client.send(
      (0..<50).map {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\(100 + $0)"
      }.joined())
    for index in 0..<50 {
      XCTAssertEqual(try client.readResponse().body, Array("\(100 + index)".utf8))
    }
  }

  func testChunkedBody_whenPiecesAreOneSevenAndManyBytes_isWholeAndTheNextRequestParses() throws {
    let body = (0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for size in [1, 7, 4_096] {
      let client = try RawClient(port: start(.echo()))
      var wire = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
      for start in stride(from: 0, to: body.count, by: size) {
        let piece = body[start..<min(body.count, start + size)]
        wire += Array("\(String(piece.count, radix: 16));x=y\r\n".utf8) + piece + [13, 10]
      }
      wire += Array(
        "0\r\nDigest: z\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok".utf8)
      client.send(wire)
      XCTAssertEqual(try client.readResponse().body, body)
      XCTAssertEqual(try client.readResponse().body, Array("ok".utf8))
    }
  }

  func testHead_whenAnswered_tellsTheLengthAndSendsNoBody() throws {
    let handler = ScriptedHandler(readsBody: false) { _, _ in
      [.send(HTTPResponse(status: 200, body: Array("hello".utf8))), .finish(.keepAlive)]
    }
    let client = try RawClient(port: start(handler))
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    let head = try client.readResponse(isHead: true)
    XCTAssertTrue(head.head.lowercased().contains("content-length: 5"), head.head)
    XCTAssertEqual(try client.readResponse().body, Array("hello".utf8))
  }

  func testExpectation_whenTheBodyIsWanted_isAnsweredFirst() throws {
    let client = try RawClient(port: start(.echo()))
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    XCTAssertEqual(try client.readResponse().status, 100)
    client.send("ok")
    XCTAssertEqual(try client.readResponse().body, Array("ok".utf8))
  }

  func testExpectation_whenTheBodyIsNotWanted_getsTheAnswerAndAClosedConnection() throws {
    let client = try RawClient(port: start(.echo(readsBody: false)))
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    let (text, end) = client.readToEnd()
    XCTAssertTrue(text.hasPrefix("HTTP/1.1 200 OK\r\n"), text)
    XCTAssertTrue(text.lowercased().contains("connection: close"), text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testBadRequest_whenSent_isAnsweredJournaledAndTheConnectionClosed() throws {
    let handler = ScriptedHandler.echo()
    let client = try RawClient(port: start(handler))
    client.send(
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
    client.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    let (text, end) = client.readToEnd()
    XCTAssertTrue(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), text)
    XCTAssertTrue(text.contains("application/problem+json"), text)
    XCTAssertTrue(text.contains("Sun, 06 Nov 1994 08:49:37 GMT") || text.contains("GMT"), text)
    XCTAssertEqual(end, .endOfFile)
    XCTAssertEqual(handler.log.access { $0.refusals.map(\.status) }, [400])
    XCTAssertTrue(handler.log.access { $0.requests.isEmpty })
  }

  func testBody_whenTooLarge_isToldToTheHandlerAndTheConnectionCloses() throws {
    let client = try RawClient(port: start(.echo()))
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000001\r\n\r\nabc")
    let (text, end) = client.readToEnd()
    XCTAssertTrue(text.hasPrefix("HTTP/1.1 413 "), text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testIPv6_whenTheHostIsLocalhost_answersOnBothLoopbacks() throws {
    let port = try start(.echo(), host: "localhost")
    for host in ["127.0.0.1", "::1"] {
      guard let client = try? RawClient(port: port, host: host) else {
        guard host == "::1" else { return XCTFail("no IPv4") }
        throw XCTSkip("no IPv6 on this host")
      }
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try client.readResponse().status, 200)
    }
  }

  // MARK: Threads

  func testThreads_whenThereAreSeveral_shareTheConnectionsAndDrainTogether() throws {
    let gates = (0..<3).map { Park(reason: "gate \($0)") }
    let handler = ScriptedHandler { request, _ in
      let park = Int(request.target.dropFirst()).map { [ExchangeStep.park(gates[$0])] } ?? []
      return park + [.send(HTTPResponse(status: 200)), .finish(.keepAlive)]
    }
    let port = try start(handler, threads: 3)
    let clients = try (0..<30).map { _ in try RawClient(port: port) }
    for _ in 0..<5 {
      for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
      for client in clients { XCTAssertEqual(try client.readResponse().status, 200) }
    }
    XCTAssertEqual(servers[0].currentCounters, .init(open: 30, accepted: 30, dropped: 0))
    // One busy client on each thread.
    for (index, client) in clients.suffix(3).enumerated() {
      client.send("GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n")
    }
    XCTAssertTrue(handler.waitForBody(count: 153))
    let drained = expectation(description: "drained")
    servers[0].drain { drained.fulfill() }
    for client in clients.prefix(27) { XCTAssertEqual(client.readToEnd().end, .endOfFile) }
    for gate in gates { gate.release() }
    for client in clients.suffix(3) {
      XCTAssertTrue(client.readToEnd().text.lowercased().contains("connection: close"))
    }
    for client in clients { client.finishSending() }
    wait(for: [drained], timeout: 60)
    XCTAssertEqual(servers[0].currentCounters.open, 0)
  }

  func testConnections_whenAtTheirLimit_waitUntilOneOnAnotherThreadGoes() throws {
    var limits = HTTPLimits()
    limits.maxConnections = 4
    let port = try start(.echo(), limits: limits, threads: 3)
    var clients = try (0..<9).map { _ in try RawClient(port: port) }
    while !clients.isEmpty {
      // The oldest is among those that were taken; its end lets one in that waited.
      let client = clients.removeFirst()
      client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      XCTAssertTrue(client.readToEnd().text.hasPrefix("HTTP/1.1 200 "))
      client.finishSending()
    }
    XCTAssertEqual(servers[0].currentCounters.accepted, 9)
  }

  // MARK: Deadlines

  func testHead_whenItDoesNotCome_is408AtItsDeadlineOnTheEnginesClock() throws {
    let clock = ManualEngineClock()
    let handler = ScriptedHandler.echo()
    let client = try RawClient(port: start(handler, clock: clock))
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try client.readResponse()
    client.send("GET / HT")
    let other = try RawClient(port: servers[0].boundPort)
    other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try other.readResponse()
    clock.advance(toNs: 31_000_000_000)
    let (text, end) = client.readToEnd()
    XCTAssertTrue(text.hasPrefix("HTTP/1.1 408 "), text)
    XCTAssertEqual(end, .endOfFile)
  }

  func testIdleConnections_whenTheirTimeIsOver_areClosedWithoutAWord() throws {
    let clock = ManualEngineClock()
    let handler = ScriptedHandler.echo()
    let port = try start(handler, clock: clock)
    let clients = try (0..<200).map { _ in try RawClient(port: port) }
    for client in clients {
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try client.readResponse().status, 200)
    }
    XCTAssertTrue(handler.wait { $0.endings.count == 200 })
    XCTAssertEqual(servers[0].currentCounters.open, 200)
    clock.advance(toNs: 76_000_000_000)
    for client in clients { XCTAssertEqual(client.readToEnd().end, .endOfFile) }
    XCTAssertTrue(handler.wait { $0.closed == 200 })
    XCTAssertEqual(servers[0].currentCounters.open, 0)
  }

  func testBody_whenItStops_isJournaledAsIncomplete() throws {
    let clock = ManualEngineClock()
    let handler = ScriptedHandler.echo()
    let port = try start(handler, clock: clock)
    let slow = try RawClient(port: port)
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    let gone = try RawClient(port: port)
    gone.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    gone.finishSending()
    XCTAssertEqual(gone.readToEnd().end, .endOfFile)
    XCTAssertTrue(handler.wait { $0.endings.count == 1 && $0.requests.count == 2 })
    clock.advance(toNs: 121_000_000_000)
    XCTAssertTrue(slow.readToEnd().text.hasPrefix("HTTP/1.1 408 "))
    XCTAssertTrue(handler.wait { $0.endings.count == 2 })
    let endings = handler.log.access { $0.endings.map(\.ending) }
    XCTAssertEqual(endings[1], .incompleteRequest("body deadline"))
    XCTAssertNotEqual(endings[0], endings[1])
  }
}
