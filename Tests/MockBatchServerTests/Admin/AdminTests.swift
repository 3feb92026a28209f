import Foundation
import JSONText
import XCTest

@testable import MockBatchServer

final class AdminTests: XCTestCase {
  func testHealth_whenAsked_tellsHowTokensAreChecked() throws {
    let driver = try EngineDriver()
    var settings = AdminHandler.Settings()
    settings.facts = { ["url": "http://127.0.0.1:1"] }
    let admin = AdminHandler(engine: driver.engine, settings: settings)
    let health = call(admin, "GET", "/health")
    XCTAssertEqual(health.status, 200)
    XCTAssertEqual(health.json.objectValue?["tokens"], "any")
    XCTAssertEqual(health.json.objectValue?["url"], "http://127.0.0.1:1")
    driver.engine.setTokens([ContractRules.Token(value: "x")])
    XCTAssertEqual(call(admin, "GET", "/health").json.objectValue?["tokens"], "restricted")
  }

  func testPlan_whenPutAndDeleted_isInForce() throws {
    let driver = try EngineDriver()
    let admin = AdminHandler(engine: driver.engine)
    let text = #"{"version":1,"rules":[{"responses":[{"status":503}],"onExhausted":"last"}]}"#
    XCTAssertEqual(call(admin, "PUT", "/plan", text).status, 200)
    XCTAssertEqual(call(admin, "GET", "/plan").json.description, text)
    XCTAssertEqual(driver.send().status, 503)
    let bad = call(admin, "PUT", "/plan", #"{"version":1,"ruls":[]}"#)
    XCTAssertEqual(bad.status, 400)
    XCTAssertEqual(bad.json.objectValue?["column"], 14)
    XCTAssertEqual(bad.json.objectValue?["suggestion"], "rules")
    XCTAssertEqual(bad.response.headers["content-type"], "application/problem+json")
    XCTAssertEqual(call(admin, "GET", "/plan").json.description, text)
    XCTAssertEqual(driver.send().status, 503)
    XCTAssertEqual(call(admin, "DELETE", "/plan").status, 204)
    XCTAssertEqual(driver.send().status, 200)
    try driver.engine.attach(.urlProtocol)
    let refused = call(
      admin, "PUT", "/plan", #"{"version":1,"rules":[{"responses":[{"fault":"HALF_CLOSE"}]}]}"#)
    XCTAssertEqual(refused.status, 422)
    XCTAssertEqual(
      refused.json.objectValue?["detail"], "urlprotocol cannot express halfClose (rule \"rule-1\")")
  }

  func testPlan_whenTheHostRestrictsTokens_neverOpensTheDoor() throws {
    let clock = ManualEngineClock()
    let engine = BatchEngine(clock: clock, tokens: [ContractRules.Token(value: "T1")])
    let driver = EngineDriver(engine, clock)
    let admin = AdminHandler(engine: engine)
    func statuses() -> [Int] {
      ["T1", "T2", "T3"].map { driver.send(RequestBuilder.make(token: $0)).status }
    }
    XCTAssertEqual(statuses(), [200, 401, 401])
    XCTAssertEqual(call(admin, "DELETE", "/plan").status, 204)
    XCTAssertEqual(statuses(), [200, 401, 401])
    let plan = #"{"version":1,"contract":{"tokens":[{"value":"T2"}]}}"#
    XCTAssertEqual(call(admin, "PUT", "/plan", plan).status, 200)
    XCTAssertEqual(statuses(), [200, 200, 401])
    XCTAssertEqual(call(admin, "POST", "/reset", #"{"parts":["plan"]}"#).status, 200)
    XCTAssertEqual(statuses(), [200, 200, 401])
    XCTAssertEqual(call(admin, "GET", "/plan").json.description, plan)
  }

  func testLedger_whenAsked_showsCountsAndOneEvent() throws {
    let driver = try EngineDriver()
    let admin = AdminHandler(engine: driver.engine)
    let payload = #"{"big":18446744073709551615,"text":"é\u0000"}"#
    driver.send(
      RequestBuilder.make(EventBuilder.batch([EventBuilder.make(1, payload: payload)])))
    driver.send()
    let ledger = call(admin, "GET", "/ledger").json.objectValue
    XCTAssertEqual(ledger?["counts"]?.objectValue?["conflicting"], 1)
    XCTAssertEqual(ledger?["events"]?.arrayValue?.count, 1)
    let one = call(admin, "GET", "/ledger/" + EventBuilder.id(1).uppercased())
    XCTAssertEqual(one.json.objectValue?["timesSeen"], 2)
    XCTAssertEqual(one.json.objectValue?["timesStored"], 1)
    let event = one.json.objectValue?["event"]?.objectValue
    XCTAssertEqual(event?["payload"], try JSONValue.parse(payload))
    XCTAssertEqual(call(admin, "GET", "/ledger/" + EventBuilder.id(2)).status, 404)
  }

  func testGatesAndReset_whenPut_act() throws {
    let driver = try EngineDriver(
      """
      {"version":1,"rules":[{"responses":[{"status":503,
       "effects":[{"at":"requestBody","type":"gate","name":"a b"}]}]}]}
      """)
    let admin = AdminHandler(engine: driver.engine)
    let running = driver.start(RequestBuilder.make())
    running.run()
    let gates = call(admin, "GET", "/gates").json.objectValue?["gates"]?.arrayValue
    XCTAssertEqual(gates, [["name": "a b", "state": "held", "waiting": 1]])
    let opened = call(admin, "PUT", "/gates/a%20b", #"{"state":"open"}"#)
    XCTAssertEqual(opened.json, ["name": "a b", "state": "open", "waiting": 0])
    running.run()
    XCTAssertEqual(running.status, 503)
    XCTAssertEqual(call(admin, "PUT", "/gates/x", #"{"state":"ajar"}"#).status, 400)
    XCTAssertEqual(call(admin, "POST", "/reset", #"{"parts":["plan","gates"]}"#).status, 200)
    XCTAssertEqual(driver.engine.appliedRules.first?.times, 0)
    for body in ["{}", #"{"parts":[]}"#, #"{"parts":["all"]}"#, "[]", #"{"parts":["plan"],"x":1}"#]
    {
      XCTAssertEqual(call(admin, "POST", "/reset", body).status, 400, body)
    }
  }

  func testWait_whenRequestsCome_answersOrTimesOut() throws {
    let driver = try EngineDriver()
    let admin = AdminHandler(engine: driver.engine)
    func wait(_ query: String) -> AdminExchange {
      let head = HTTPRequest(
        method: "GET", target: "/__admin/wait?" + query, headers: ["Host": "localhost"])
      let exchange = AdminExchange(handler: admin, head: head)
      exchange.supply(.complete([], trailers: HTTPHeaders()))
      return exchange
    }
    func answer(_ exchange: AdminExchange) -> String? {
      guard case .send(let response) = exchange.next() else { return nil }
      return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
    }
    let two = wait("count=2&timeout=30s")
    guard case .park(let park) = two.next() else { return XCTFail("not waiting") }
    driver.send()
    XCTAssertFalse(park.isReady)
    driver.send()
    XCTAssertTrue(park.isReady)
    XCTAssertEqual(answer(two), "200 {\"count\":2}")
    let three = wait("count=3&timeout=5s")
    guard case .park(let late) = three.next() else { return XCTFail("not waiting") }
    driver.clock.advance(toNs: 5_000_000_000)
    XCTAssertTrue(late.isReady)
    XCTAssertEqual(answer(three), "408 {\"count\":2}")
    let now = wait("count=1")
    guard case .park(let ready) = now.next() else { return XCTFail("not waiting") }
    XCTAssertTrue(ready.isReady)
    now.ended(bytesSent: 0, .clientWentAway)
    XCTAssertNil(driver.clock.nextDueNs)
    XCTAssertEqual(call(admin, "GET", "/wait?timeout=5").status, 400)
  }

  func testEvents_whenTheClientIsSlow_tellHowManyWereDropped() throws {
    let driver = try EngineDriver()
    let feed = EventFeed(engine: driver.engine)
    func taken() -> String? { feed.take().map { String(decoding: $0, as: UTF8.self) } }
    XCTAssertEqual(taken(), ": listening\n\n")
    let park = feed.park()
    XCTAssertFalse(park.isReady)
    driver.engine.setGate("g", isOpen: true)
    XCTAssertTrue(park.isReady)
    let text = try XCTUnwrap(taken())
    XCTAssertTrue(text.contains("event: gateChanged\ndata: {"), text)
    XCTAssertTrue(text.contains("\"name\":\"g\",\"state\":\"open\""), text)
    for _ in 0..<EventFeed.maxWaiting + 7 { driver.engine.setGate("g", isOpen: true) }
    XCTAssertEqual(taken()?.hasPrefix("event: dropped\ndata: {\"count\":7}\n\n"), true)
    // Lines are long at times: what waits is bounded in bytes, too.
    let name = String(repeating: "g", count: EventFeed.maxWaitingBytes / 10)
    for _ in 0..<15 { driver.engine.setGate(name, isOpen: true) }
    let rest = try XCTUnwrap(taken())
    XCTAssertTrue(rest.hasPrefix("event: dropped\ndata: {\"count\":6}\n\n"), "\(rest.prefix(60))")
    XCTAssertLessThan(rest.utf8.count, EventFeed.maxWaitingBytes + 100)
    driver.clock.advance(toNs: 15_000_000_000)
    XCTAssertEqual(taken()?.hasSuffix(": heartbeat\n\n"), true)
    XCTAssertEqual(taken(), "")
    feed.end()
    XCTAssertTrue(feed.park().isReady)
    XCTAssertNil(taken())
    feed.close()
    XCTAssertNil(driver.clock.nextDueNs)
  }

  func testMetrics_whenScraped_countWhatHappened() throws {
    let driver = try EngineDriver(
      #"{"version":1,"rules":[{"id":"a\"b","responses":[{"status":503}]}]}"#)
    driver.send()
    driver.send()
    driver.send(RequestBuilder.make(token: nil))
    let page = call(AdminHandler(engine: driver.engine), "GET", "/metrics").response
    let text = String(decoding: page.body, as: UTF8.self)
    for line in [
      "mock_batch_server_requests_total{status=\"200\"} 1",
      "mock_batch_server_requests_total{status=\"503\"} 1",
      "mock_batch_server_problems_total{type=\"missing-token\"} 1",
      "mock_batch_server_rule_applied_total{rule=\"a\\\"b\"} 1",
      "mock_batch_server_ledger_stored 1", "mock_batch_server_ledger_invalid 1",
      "mock_batch_server_connections_total 3",
    ] { XCTAssertTrue(text.contains(line + "\n"), line) }
  }

  func testSecurity_whenHostOrOriginIsForeign_isRefused() throws {
    let admin = AdminHandler(engine: try EngineDriver().engine)
    func status(_ host: String, _ origin: String? = nil) -> Int {
      call(admin, "GET", "/health", host: host, headers: origin.map { [("Origin", $0)] } ?? [])
        .status
    }
    for host in ["localhost", "localhost:8080", "127.0.0.1", "127.9.9.9:1", "[::1]:80"] {
      XCTAssertEqual(status(host), 200, host)
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "localhost.evil"] {
      XCTAssertEqual(status(host), 403, host)
    }
    XCTAssertEqual(status("localhost:1", "http://localhost:1"), 200)
    XCTAssertEqual(status("localhost:1", "http://localhost:2"), 403)
    XCTAssertEqual(status("localhost:1", "null"), 403)
    XCTAssertEqual(status("localhost:1", "http://evil.example"), 403)
  }

  func testSecurity_whenBeyondLoopback_asksForTheTokenOrItsCookie() throws {
    let engine = try EngineDriver().engine
    var settings = AdminHandler.Settings()
    settings.isLoopback = false
    XCTAssertEqual(
      call(AdminHandler(engine: engine, settings: settings), "GET", "/health").status, 403)
    settings.token = "secret"
    let admin = AdminHandler(engine: engine, settings: settings)
    let host = "192.168.1.5:8081"
    func status(_ headers: [(String, String)]) -> Int {
      call(admin, "GET", "/health", host: host, headers: headers).status
    }
    XCTAssertEqual(status([]), 401)
    XCTAssertEqual(status([("Authorization", "Bearer wrong")]), 401)
    XCTAssertEqual(status([("Authorization", "Bearer secret")]), 200)
    XCTAssertEqual(call(admin, "POST", "/session", host: host).status, 401)
    let opened = call(
      admin, "POST", "/session", host: host, headers: [("Authorization", "Bearer secret")])
    XCTAssertEqual(opened.status, 204)
    let cookie = try XCTUnwrap(opened.response.headers["set-cookie"])
    XCTAssertTrue(cookie.hasSuffix("; Path=/__admin; HttpOnly; SameSite=Strict"))
    XCTAssertFalse(cookie.contains("secret"))
    let value = String(cookie.prefix { $0 != ";" })
    XCTAssertEqual(status([("Cookie", "a=b; " + value)]), 200)
    XCTAssertEqual(status([("Cookie", value + "x")]), 401)
    XCTAssertEqual(
      call(admin, "GET", "/health", host: "evil.example", headers: [("Cookie", value)]).status, 403)
    settings.hosts = ["Desk.local"]
    let named = AdminHandler(engine: engine, settings: settings)
    let bearer = [("Authorization", "Bearer secret")]
    XCTAssertEqual(
      call(named, "GET", "/health", host: "desk.local:8081", headers: bearer).status, 200)
    XCTAssertEqual(call(named, "GET", "/health", host: "desk", headers: bearer).status, 403)
  }

  func testOpenAPI_whenServed_describesEveryEndpoint() throws {
    let admin = AdminHandler(engine: try EngineDriver().engine)
    let document = try XCTUnwrap(call(admin, "GET", "/openapi.json").json.objectValue)
    XCTAssertEqual(document["openapi"], "3.1.0")
    let paths = try XCTUnwrap(document["paths"]?.objectValue)
    for endpoint in AdminEndpoints.all {
      let item = paths["/__admin" + endpoint.path]?.objectValue
      XCTAssertNotNil(item?[endpoint.method.lowercased()], endpoint.path)
    }
    XCTAssertNotNil(paths["/v1/telemetry/batch"]?.objectValue?["post"])
    let text = JSONValue.object(document).description
    let schemas = document["components"]?.objectValue?["schemas"]?.objectValue?.keys ?? []
    for reference in text.components(separatedBy: "#/components/schemas/").dropFirst() {
      let name = reference.prefix { $0 != "\"" }
      XCTAssertTrue(schemas.contains(String(name)), String(name))
    }
  }

  func testOpenAPI_whenATokenIsAskedFor_saysSo() throws {
    let engine = try EngineDriver().engine
    var settings = AdminHandler.Settings()
    func security() -> JSONValue? {
      let document = OpenAPI.document(for: AdminHandler(engine: engine, settings: settings))
      let path = document.objectValue?["paths"]?.objectValue?["/__admin/health"]
      return path?.objectValue?["get"]?.objectValue?["security"]
    }
    XCTAssertNil(security())
    settings.token = "secret"
    XCTAssertEqual(security(), [["bearer": []], ["cookie": []]])
  }

  func testOpenAPI_whenTimesAreDescribed_allowsDaysThatThereAre() throws {
    let document = OpenAPI.document(for: AdminHandler(engine: try EngineDriver().engine))
    let schemas = document.objectValue?["components"]?.objectValue?["schemas"]?.objectValue
    let event = schemas?["event"]?.objectValue?["properties"]?.objectValue
    let pattern = try XCTUnwrap(event?["ts"]?.objectValue?["pattern"]?.stringValue)
    for year in ["1900", "2000", "2023", "2024"] {
      for month in 0...13 {
        for day in 0...32 {
          let date = [month, day].map { ($0 < 10 ? "-0" : "-") + String($0) }.joined()
          let text = year + date + "T23:59:59.999Z"
          XCTAssertEqual(
            text.range(of: pattern, options: .regularExpression) != nil,
            Array(text.utf8).withUnsafeBufferPointer(Timestamp.isWellFormed), text)
        }
      }
    }
  }

  func testRoutes_whenMethodOrPathIsWrong_answer405And404() throws {
    let admin = AdminHandler(engine: try EngineDriver().engine)
    let wrong = call(admin, "POST", "/plan")
    XCTAssertEqual(wrong.status, 405)
    XCTAssertEqual(wrong.response.headers["allow"], "DELETE, GET, PUT")
    let written = call(admin, "GET", "/requests/find")
    XCTAssertEqual(written.status, 405)
    XCTAssertEqual(written.response.headers["allow"], "POST")
    XCTAssertEqual(call(admin, "GET", "/nothing").status, 404)
    XCTAssertEqual(call(admin, "PUT", "/gates/").status, 404)
    XCTAssertEqual(call(admin, "HEAD", "/health").status, 200)
  }

  func testShutdown_whenAsked_tellsTheHost() throws {
    let asked = Guarded(0)
    var settings = AdminHandler.Settings()
    settings.shutdown = { asked.access { $0 += 1 } }
    let admin = AdminHandler(engine: try EngineDriver().engine, settings: settings)
    XCTAssertEqual(call(admin, "POST", "/shutdown").status, 202)
    XCTAssertEqual(asked.access { $0 }, 1)
  }
}
