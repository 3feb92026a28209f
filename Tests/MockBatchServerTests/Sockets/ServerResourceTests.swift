import XCTest

@testable import MockBatchServer

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a server takes from its host, and gives back.
final class ServerResourceTests: XCTestCase {
  private func openDescriptors() throws -> Int {
    let folder =
      FileManager.default.fileExists(atPath: "/proc/self/fd") ? "/proc/self/fd" : "/dev/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder).count
  }

  private func makeServer(
    _ handler: ScriptedHandler, port: Int = 0
  ) throws -> (server: SocketServer, port: Int) {
    let server = try SocketServer(clock: LiveEngineClock())
    do {
      return (server, try server.start([.init(host: "127.0.0.1", port: port, handler: handler)])[0])
    } catch {
      server.stop()
      throw error
    }
  }

  func testBigAnswers_whenClientsResetWithoutReading_theServerLivesAndFreesAll() throws {
    let handler = ScriptedHandler(readsBody: false) { _, _ in
      [
        .send(HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: 1_048_576))),
        .finish(.keepAlive),
      ]
    }
    let (server, port) = try makeServer(handler)
    defer { server.stop() }
    let before = try openDescriptors()
    for _ in 0..<200 {
      let client = try RawClient(port: port, receiveBuffer: 4_096)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      client.reset()
    }
    XCTAssertTrue(handler.wait { $0.closed == 200 })
    let client = try RawClient(port: port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try client.readResponse().body.count, 1_048_576)
    XCTAssertEqual(try openDescriptors(), before + 2)
  }

  func testBigAnswer_whenTheClientReadsNothing_isGivenUp() throws {
    let clock = ManualEngineClock()
    let handler = ScriptedHandler { _, _ in
      [
        .send(HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: 20_000_000))),
        .finish(.keepAlive),
      ]
    }
    let server = try SocketServer(clock: clock)
    defer { server.stop() }
    let port = try server.start([.init(host: "127.0.0.1", port: 0, handler: handler)])[0]
    let client = try RawClient(port: port, receiveBuffer: 4_096)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertTrue(handler.waitForBody())
    while handler.log.access({ $0.endings.isEmpty }), clock.nowNs < 1_000_000_000_000 {
      if let due = clock.nextDueNs { clock.advance(toNs: due) }
    }
    XCTAssertEqual(handler.log.access { $0.endings[0].ending }, .clientDidNotRead)
    XCTAssertTrue(handler.wait { $0.closed == 1 })
    XCTAssertGreaterThanOrEqual(clock.nowNs, 60_000_000_000)
    XCTAssertNotEqual(client.readToEnd().end, .guardExpired)
  }

  func testStartAndStop_whenRepeatedOnOnePort_neverFindItTaken() throws {
    let before = try openDescriptors()
    var port = 0
    for _ in 0..<100 {
      let (server, bound) = try makeServer(.echo(), port: port)
      port = bound
      let client = try RawClient(port: port)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try client.readResponse().status, 200)
      server.stop()
    }
    XCTAssertEqual(try openDescriptors(), before)
  }

  func testStart_whenThePortIsTaken_saysSoAndLeavesTheFirstServerAlone() throws {
    let (first, port) = try makeServer(.echo())
    defer { first.stop() }
    XCTAssertThrowsError(try makeServer(.echo(), port: port)) {
      XCTAssertEqual("\($0)", "bind 127.0.0.1:\(port): the port is in use")
    }
    let client = try RawClient(port: port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try client.readResponse().status, 200)
  }

  func testDescriptors_whenNoneIsLeft_connectionsAreShedAndTheServerRecovers() throws {
    let handler = ScriptedHandler.echo()
    let (server, port) = try makeServer(handler)
    defer { server.stop() }
    let early = try RawClient(port: port)
    early.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try early.readResponse().status, 200)

    var old = rlimit()
    getrlimit(ResourceKind.descriptors, &old)
    var sockets = (0..<60).map { _ in RawClient.bareSocket() }
    var low = old
    low.rlim_cur = rlim_t((sockets.max() ?? 0) + 3)
    setrlimit(ResourceKind.descriptors, &low)
    for socket in sockets { RawClient.connectBare(socket, port: port) }
    // The connection that was open goes on, though nobody new can be taken.
    var asked = 0
    while asked == 0 || (server.droppedForDescriptors == 0 && asked < 100_000) {
      early.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try early.readResponse().status, 200)
      asked += 1
    }
    XCTAssertGreaterThan(server.droppedForDescriptors, 0)
    setrlimit(ResourceKind.descriptors, &old)
    for socket in sockets { close(socket) }
    sockets = []
    let late = try RawClient(port: port)
    late.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try late.readResponse().status, 200)
  }

  func testStop_whenAForeignDescriptorHasTheNumberOfAClosedOne_leavesItAlone() throws {
    let handler = ScriptedHandler.echo()
    let (server, port) = try makeServer(handler)
    for _ in 0..<20 {
      let client = try RawClient(port: port)
      client.send("\u{1}")
      _ = client.readToEnd()
    }
    XCTAssertTrue(handler.wait { $0.closed >= 1 })
    let foreign = (0..<40).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    server.stop()
    for descriptor in foreign {
      XCTAssertNotEqual(fcntl(descriptor, F_GETFD), -1)
      close(descriptor)
    }
  }

  func testDrain_whenARequestIsInProgress_answersItAndThenReports() throws {
    let gate = Park(reason: "gate")
    let handler = ScriptedHandler { _, _ in
      [.park(gate), .send(HTTPResponse(status: 200)), .finish(.keepAlive)]
    }
    let (server, port) = try makeServer(handler)
    let idle = try RawClient(port: port)
    let busy = try RawClient(port: port)
    busy.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok")
    XCTAssertTrue(handler.waitForBody())
    let drained = expectation(description: "drained")
    server.drain { drained.fulfill() }
    XCTAssertEqual(idle.readToEnd().end, .endOfFile)
    XCTAssertThrowsError(try RawClient(port: port))
    gate.release()
    XCTAssertTrue(busy.readToEnd().text.lowercased().contains("connection: close"))
    idle.finishSending()
    busy.finishSending()
    wait(for: [drained], timeout: 60)
    server.stop()
  }
}

enum ResourceKind {
  #if canImport(Glibc)
    static let descriptors = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    static let fileSize = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
  #else
    static let descriptors = RLIMIT_NOFILE
    static let fileSize = RLIMIT_FSIZE
  #endif
}
