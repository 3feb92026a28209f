import XCTest

@testable import MockBatchServer

/// The embedded server, over real sockets.
final class BatchServerTests: XCTestCase {
  private func plan(_ json: String) throws -> FaultPlan { try FaultPlan(json) }

  /// A body without gzip; plans of these tests accept it.
  private static func batch(_ ids: [Int]) -> String {
    let events = ids.map { id in
      let tail = String(repeating: "0", count: 12 - "\(id)".count) + "\(id)"
      return #"{"id":"b1946ac9-2492-4d23-8e3a-\#(tail)","ts":"2026-05-04T09:15:02.114Z","#
        + #""type":"t","payload":{},"sessionId":"s"}"#
    }
    return #"{"events":[\#(events.joined(separator: ","))]}"#
  }

  private static func post(_ body: String) -> String {
    "POST /v1/telemetry/batch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer T\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private static let identity = #""contract":{"identityBody":"accept"}"#

  func testServer_whenEmbedded_countsWhatItTook() throws {
    let server = try BatchServer(plan: plan(#"{"version":1,\#(Self.identity)}"#)).start()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    for _ in 0..<2 {
      client.send(Self.post(Self.batch([1, 2, 3])))
      XCTAssertEqual(try client.readResponse().status, 200)
    }
    XCTAssertEqual(server.ledger.counts.unique, 3)
    XCTAssertEqual(server.ledger.counts.duplicatesAcross, 3)
    XCTAssertEqual(server.url.absoluteString, "http://127.0.0.1:\(server.port)")
  }

  func testChunkedBatches_whenPipelined_areBothCounted() throws {
    let server = try BatchServer().start()
    defer { server.stop() }
    let head =
      "POST /v1/telemetry/batch HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer T\r\n"
      + "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
    for (round, size) in [1, 7, 4_096].enumerated() {
      let chunked = GzipBuilder.make(EventBuilder.batch(Array(1...20).map { $0 + round * 100 }))
      let whole = GzipBuilder.make(EventBuilder.batch([round * 100 + 50]))
      var wire = Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8)
      for start in stride(from: 0, to: chunked.count, by: size) {
        let piece = chunked[start..<min(chunked.count, start + size)]
        wire += Array("\(String(piece.count, radix: 16));part=x\r\n".utf8) + piece + [13, 10]
      }
      wire += Array("0\r\nDigest: none\r\n\r\n\(head)Content-Length: \(whole.count)\r\n\r\n".utf8)
      let client = try RawClient(port: server.port)
      client.send(wire + whole)
      XCTAssertEqual(try client.readResponse().status, 200)
      XCTAssertEqual(try client.readResponse().status, 200)
      XCTAssertEqual(server.ledger.counts.unique, (round + 1) * 21)
    }
    XCTAssertEqual(server.ledger.counts.batches, 6)
  }

  func testServer_whenStartedAndStoppedOnOnePort_canAlwaysStartAgain() throws {
    let first = try BatchServer().start()
    let port = first.port
    first.stop()
    for _ in 0..<100 {
      let server = try BatchServer(configuration: .init(port: port)).start()
      let client = try RawClient(port: port)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      XCTAssertEqual(try client.readResponse().status, 404)
      server.stop()
    }
  }

  func testServer_whenItsPortIsTaken_throwsAndLeavesTheFirstAlone() throws {
    let first = try BatchServer().start()
    defer { first.stop() }
    XCTAssertThrowsError(try BatchServer(configuration: .init(port: first.port)).start()) {
      XCTAssertTrue($0 is SocketError, "\($0)")
    }
    let client = try RawClient(port: first.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try client.readResponse().status, 404)
  }

  func testScript_whenFiftyRequestsRace_eachStepIsTakenOnce() throws {
    var threaded = BatchServer.Configuration()
    threaded.threads = 4
    for _ in 0..<100 {
      let server = try BatchServer(
        plan: plan(
          #"{"version":1,\#(Self.identity),"rules":[{"id":"busy","when":{"times":2},"#
            + #""request":{"method":"POST"},"responses":[{"status":503},{"status":503}]}]}"#),
        configuration: threaded
      ).start()
      defer { server.stop() }
      let clients = try (0..<50).map { _ in try RawClient(port: server.port) }
      for (index, client) in clients.enumerated() {
        client.send(Self.post(Self.batch([index])))
      }
      let statuses = try clients.map { try $0.readResponse().status }
      XCTAssertEqual(statuses.filter { $0 == 503 }.count, 2)
      XCTAssertEqual(statuses.filter { $0 == 200 }.count, 48)
      XCTAssertEqual(server.ledger.counts.unique, 48)
    }
  }

  func testFaults_whenAPlanOrdersThem_areSeenOnTheWire() throws {
    let cases: [(fault: String, end: RawClient.End, starts: String)] = [
      (#"{"fault":"EMPTY_RESPONSE"}"#, .endOfFile, ""),
      (#"{"fault":"CONNECTION_RESET_BY_PEER"}"#, .reset, ""),
      (#"{"fault":"MALFORMED_RESPONSE_CHUNK"}"#, .endOfFile, "HTTP/1.1 200 OK\r\n"),
    ]
    for (fault, end, start) in cases {
      let server = try BatchServer(
        plan: plan(
          #"{"version":1,\#(Self.identity),"rules":[{"id":"f","request":{"method":"POST"},"#
            + #""responses":[\#(fault)]}]}"#)
      ).start()
      defer { server.stop() }
      let client = try RawClient(port: server.port)
      client.send(Self.post(Self.batch([1])))
      let seen = client.readToEnd()
      XCTAssertEqual(seen.end, end, fault)
      XCTAssertTrue(seen.text.hasPrefix(start), fault)
      if start.isEmpty { XCTAssertEqual(seen.text, "", fault) }
      XCTAssertEqual(server.ledger.counts.stored, 0, fault)
    }
  }

  func testCutAnswers_whenAPlanOrdersThem_areShortOfTheirLength() throws {
    for cut in [#"{"fault":"HALF_CLOSE"}"#, #"{"truncateAfter":10}"#] {
      let server = try BatchServer(
        plan: plan(#"{"version":1,\#(Self.identity),"rules":[{"responses":[\#(cut)]}]}"#)
      ).start()
      defer { server.stop() }
      let client = try RawClient(port: server.port)
      client.send(Self.post(Self.batch([1])))
      let (text, end) = client.readToEnd()
      let parts = text.components(separatedBy: "\r\n\r\n")
      XCTAssertTrue(parts[0].hasPrefix("HTTP/1.1 200 OK"), cut)
      XCTAssertTrue(parts[0].contains("content-length: 43"), parts[0])
      XCTAssertLessThan(parts[1].utf8.count, 43, cut)
      XCTAssertEqual(end, .endOfFile, cut)
    }
  }

  func testReset_whenItComesBehindTheCommit_theResentBatchIsADuplicate() throws {
    let server = try BatchServer(
      plan: plan(
        #"{"version":1,\#(Self.identity),"rules":[{"id":"lost","request":{"method":"POST"},"#
          + #""when":{"times":1},"#
          + #""responses":[{"fault":"CONNECTION_RESET_BY_PEER","commit":"all"}]}]}"#)
    ).start()
    defer { server.stop() }
    let lost = try RawClient(port: server.port)
    lost.send(Self.post(Self.batch([1, 2])))
    XCTAssertEqual(lost.readToEnd().end, .reset)
    let again = try RawClient(port: server.port)
    again.send(Self.post(Self.batch([1, 2])))
    let answer = try again.readResponse()
    XCTAssertEqual(
      String(decoding: answer.body, as: UTF8.self), #"{"accepted":0,"duplicates":2,"rejected":[]}"#)
    XCTAssertEqual(server.ledger.counts.stored, 2)
  }

  func testAdmin_whenOnItsOwnPort_isReachedWhileTheContractRefuses() throws {
    let server = try BatchServer(
      plan: plan(#"{"version":1,"timeline":[{"at":"0s","listener":"refuse"}]}"#),
      configuration: .init(adminPort: 0)
    ).start()
    defer { server.stop() }
    XCTAssertThrowsError(try RawClient(port: server.port))
    let admin = try RawClient(port: XCTUnwrap(server.adminURL.port))
    admin.send("GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    XCTAssertEqual(try admin.readResponse().status, 200)
  }

  func testAdmin_whenTheContractIsFull_isStillReached() throws {
    var configuration = BatchServer.Configuration(adminPort: 0)
    configuration.limits.maxConnections = 1
    let server = try BatchServer(configuration: configuration).start()
    defer { server.stop() }
    let phone = try RawClient(port: server.port)
    phone.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    XCTAssertEqual(try phone.readResponse().status, 404)
    let admin = try RawClient(port: XCTUnwrap(server.adminURL.port))
    admin.send("GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    XCTAssertEqual(try admin.readResponse().status, 200)
  }

  func testDrain_whenSomebodyListensToEvents_endsTheStream() throws {
    let server = try BatchServer().start()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    client.send("GET /__admin/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    var text = ""
    while !text.contains(": listening") {
      text += String(decoding: try client.readSome().get(), as: UTF8.self)
    }
    let drained = expectation(description: "drained")
    server.drain { drained.fulfill() }
    let (rest, end) = client.readToEnd()
    XCTAssertTrue(rest.hasSuffix("0\r\n\r\n"), rest)
    XCTAssertEqual(end, .endOfFile)
    client.finishSending()
    wait(for: [drained], timeout: 60)
  }

  func testUpstreamLimit_whenReachedOutsideARequest_isToldToo() throws {
    let request = Self.post(Self.batch([1]))
    let length = request.utf8.count
    // Where the limit falls behind an answered request, and what the journal then shows of it.
    let cases: [(behind: Int, requests: Int, begun: String?)] = [
      (length, 2, nil), (20, 1, String(request.prefix(20))),
    ]
    for (behind, requests, begun) in cases {
      let toxic =
        #"{"name":"cut","type":"limit_data","stream":"upstream","#
        + #""attributes":{"bytes":\#(length + behind)}}"#
      let server = try BatchServer(
        plan: plan(#"{"version":1,\#(Self.identity),"toxics":[\#(toxic)]}"#)
      ).start()
      defer { server.stop() }
      let client = try RawClient(port: server.port)
      for _ in 0..<requests {
        client.send(request)
        XCTAssertEqual(try client.readResponse().status, 200)
      }
      client.send(request)
      XCTAssertEqual(client.readToEnd().text, "")
      let entries = server.engine.journal.entries
      XCTAssertEqual(entries.count, requests + (begun == nil ? 0 : 1))
      XCTAssertEqual(entries.filter(\.isComplete).count, requests)
      if let begun, let last = entries.first(where: { !$0.isComplete }) {
        XCTAssertEqual(String(decoding: last.request.body, as: UTF8.self), begun)
        XCTAssertEqual(last.effects, ["toxic cut"])
        XCTAssertEqual(
          last.ending, "incomplete request: the plan closes after \(length + behind) bytes")
      }
      XCTAssertEqual(server.engine.metrics.access { $0.faults }, ["toxic cut": 1])
    }
  }

  func testUpstreamLimit_whenReachedWhileTheServerLingers_isNoFault() throws {
    let request = Self.post(Self.batch([1]))
      .replacingOccurrences(of: "Host: a\r\n", with: "Host: a\r\nConnection: close\r\n")
    let toxic =
      #"{"name":"cut","type":"limit_data","stream":"upstream","#
      + #""attributes":{"bytes":\#(request.utf8.count + 20)}}"#
    let server = try BatchServer(
      plan: plan(#"{"version":1,\#(Self.identity),"toxics":[\#(toxic)]}"#)
    ).start()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    client.send(request)
    XCTAssertEqual(try client.readResponse().status, 200)
    client.send(String(repeating: "x", count: 20))
    // The one thread reads what came before it answers this.
    let other = try RawClient(port: server.port)
    other.send("GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    XCTAssertEqual(try other.readResponse().status, 200)
    XCTAssertEqual(server.engine.metrics.access { $0.faults }, [:])
    XCTAssertEqual(server.engine.journal.entries.count, 1)
  }

  func testAdmin_whenOnTheContractsPort_neverMeetsAConnectionFault() throws {
    let faults = [
      #""toxics":[{"type":"reset_peer","attributes":{"timeout":0}}]"#,
      #""toxics":[{"type":"timeout","attributes":{"timeout":0}}]"#,
      #""toxics":[{"type":"limit_data","stream":"upstream","attributes":{"bytes":1}}]"#,
      #""rules":[{"responses":[{"effects":[{"at":"accept","type":"reset"}]}],"onExhausted":"last"}]"#,
    ]
    let server = try BatchServer().start()
    defer { server.stop() }
    let health = "GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for fault in faults {
      try server.engine.use(plan(#"{"version":1,\#(fault)}"#))
      let admin = try RawClient(port: server.port)
      admin.send(health + health)
      XCTAssertEqual(try admin.readResponse().status, 200, fault)
      XCTAssertEqual(try admin.readResponse().status, 200, fault)
      let phone = try RawClient(port: server.port)
      phone.send(Self.post(Self.batch([1])))
      XCTAssertEqual(phone.readToEnd().text, "", fault)
      admin.send("DELETE /__admin/plan HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      XCTAssertEqual(try admin.readResponse().status, 204, fault)
    }
  }

  #if canImport(Glibc)
    func testTLS_whenACAFileIsAskedFor_isWrittenAndPlainTextIsRefused() throws {
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("ca-\(UUID().uuidString).pem").path
      defer { XCTAssertNoThrow(try FileManager.default.removeItem(atPath: file)) }
      let server = try BatchServer(configuration: .init(tls: .init(caFile: file))).start()
      defer { server.stop() }
      XCTAssertEqual(server.url.scheme, "https")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      XCTAssertTrue(text.hasPrefix("-----BEGIN CERTIFICATE-----"), text)
      let client = try RawClient(port: server.port)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let (answer, end) = client.readToEnd()
      XCTAssertFalse(answer.contains("HTTP/1.1"), answer)
      XCTAssertNotEqual(end, .guardExpired)
    }

    func testTLS_whenACertificateCannotBeRead_saysWhich() {
      let options = TLSOptions(certificate: .files(certificate: "/none.pem", key: "/none.key"))
      XCTAssertThrowsError(try BatchServer(configuration: .init(tls: options)).start()) {
        XCTAssertTrue("\($0)".contains("/none.pem"), "\($0)")
      }
    }
  #endif
}
