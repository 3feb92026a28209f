import XCTest

@testable import MockBatchServer

final class BatchContractTests: XCTestCase {
  func testHead_whenItIsWrong_isRefusedWithItsStatus() throws {
    let driver = try EngineDriver(
      #"{"version":1,"contract":{"tokens":[{"value":"T1","account":"a","expiresAt":"9h"}]}}"#)
    func check(
      _ request: HTTPRequest, _ status: Int, _ problem: String?, line: UInt = #line
    ) -> Running {
      let running = driver.send(request)
      XCTAssertEqual(running.status, status, line: line)
      XCTAssertEqual(running.problem, problem, line: line)
      return running
    }
    _ = check(RequestBuilder.make(), 200, nil)
    _ = check(RequestBuilder.make(type: "Application/JSON; charset=UTF-8"), 200, nil)
    let missing = check(RequestBuilder.make(token: nil), 401, "missing-token")
    XCTAssertEqual(
      missing.response.headers["www-authenticate"], "Bearer realm=\"telemetry\"")
    let bad = check(RequestBuilder.make(token: "T2"), 401, "bad-token")
    XCTAssertEqual(
      bad.response.headers["www-authenticate"],
      "Bearer realm=\"telemetry\", error=\"invalid_token\"")
    XCTAssertFalse(bad.text.contains("T2"))
    let basic = RequestBuilder.make(token: nil, headers: [("Authorization", "Basic VDE=")])
    _ = check(basic, 401, "missing-token")
    let two = RequestBuilder.make(token: nil, headers: [("Authorization", "Bearer T1 T1")])
    _ = check(two, 401, "missing-token")
    let lower = RequestBuilder.make(token: nil, headers: [("authorization", "bearer T1")])
    _ = check(lower, 200, nil)
    _ = check(RequestBuilder.make(type: nil), 415, "wrong-content-type")
    _ = check(RequestBuilder.make(type: "text/plain"), 415, "wrong-content-type")
    _ = check(RequestBuilder.make(type: "app lication/json"), 415, "wrong-content-type")
    _ = check(RequestBuilder.make(type: "application/json ;\t charset=\"utf-8\" "), 200, nil)
    _ = check(
      RequestBuilder.make(type: "application/json; charset=latin1"), 415, "wrong-content-type")
    _ = check(RequestBuilder.make(encoding: "br"), 415, "unsupported-encoding")
    _ = check(RequestBuilder.make(encoding: "gzip, gzip"), 415, "unsupported-encoding")
    _ = check(RequestBuilder.make(encoding: nil), 415, "identity-body")
    driver.clock.advance(toNs: 9 * 3_600_000_000_000 - 1)
    _ = check(RequestBuilder.make(), 200, nil)
    driver.clock.advance(toNs: 9 * 3_600_000_000_000)
    _ = check(RequestBuilder.make(), 401, "expired-token")
  }

  func testToken_whenAnyWillDo_mustStillBeABearersAndNotEmpty() throws {
    let driver = try EngineDriver()
    for header in ["Bearer x", "bearer  x"] {
      let request = RequestBuilder.make(token: nil, headers: [("Authorization", header)])
      XCTAssertEqual(driver.send(request).status, 200, header)
    }
    for header in ["Basic VDE=", "Bearer", "Bearer ", "Bearer a b", "x"] {
      let request = RequestBuilder.make(token: nil, headers: [("Authorization", header)])
      XCTAssertEqual(driver.send(request).problem, "missing-token", header)
    }
    XCTAssertEqual(driver.send(RequestBuilder.make(token: nil)).problem, "missing-token")
  }

  func testRoutes_whenPathOrMethodIsForeign_areRefused() throws {
    let driver = try EngineDriver()
    XCTAssertEqual(driver.send(RequestBuilder.make(target: "/nowhere")).status, 404)
    let get = driver.send(RequestBuilder.make(method: "GET"))
    XCTAssertEqual(get.status, 405)
    XCTAssertEqual(get.response.headers["allow"], "POST, OPTIONS")
    XCTAssertEqual(get.response.headers["content-type"], "application/problem+json")
    let options = driver.send(RequestBuilder.make(method: "OPTIONS"))
    XCTAssertEqual(options.status, 204)
    XCTAssertEqual(options.response.headers["allow"], "POST, OPTIONS")
    let server = driver.send(RequestBuilder.make(method: "OPTIONS", target: "*"))
    XCTAssertEqual(server.status, 204)
    XCTAssertEqual(driver.engine.ledger.counts.invalid, 0)
  }

  func testBody_whenItIsNoBatch_isRefusedWithThePlace() throws {
    let driver = try EngineDriver()
    let event = EventBuilder.make(1)
    func check(
      _ text: String, _ problem: String, pointer: String? = nil, column: Int? = nil,
      status: Int = 400, line: UInt = #line
    ) {
      let running = driver.send(RequestBuilder.make(text))
      XCTAssertEqual(running.status, status, line: line)
      XCTAssertEqual(running.problem, problem, line: line)
      XCTAssertEqual(running.json.objectValue?["pointer"]?.stringValue, pointer, line: line)
      if let column {
        XCTAssertEqual(running.json.objectValue?["column"]?.intValue, column, line: line)
      }
    }
    check("", "invalid-json", column: 1)
    check("{\"events\":[}", "invalid-json", column: 12)
    check("[]", "wrong-envelope", pointer: "", column: 1)
    check("{}", "wrong-envelope", pointer: "")
    check("{\"events\":{}}", "wrong-envelope", pointer: "/events", column: 11)
    check("{\"events\":[\(event)],\"more\":1}", "wrong-envelope", pointer: "")
    check("{\"events\":[]}", "empty-batch", pointer: "/events")
    check("{\"events\":[\(event)],\"events\":[]}", "duplicate-key")
    check(EventBuilder.batch(["1"]), "invalid-event", pointer: "/events/0", column: 12)
    check(EventBuilder.batch([event, "{}"]), "invalid-event", pointer: "/events/1")
    check(
      EventBuilder.batch((0..<1_001).map { EventBuilder.make($0, payload: "{}") }),
      "too-many-events", pointer: "/events", status: 413)
    let big = "{\"a\":\"" + String(repeating: "x", count: 256_000) + "\"}"
    check(EventBuilder.batch([EventBuilder.make(1, payload: big)]), "body-too-large", status: 413)
    let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    check(
      EventBuilder.batch([EventBuilder.make(1, payload: "{\"a\":\(deep)}")]), "invalid-json")
  }

  func testEvent_whenAMemberIsWrong_isRefusedWithItsPointer() throws {
    let driver = try EngineDriver()
    let good: [(String, String)] = [
      ("id", "\"\(EventBuilder.id(1))\""), ("ts", "\"2026-05-04T09:15:02.114Z\""),
      ("type", "\"t\""), ("payload", "{}"), ("sessionId", "\"s\""),
    ]
    func text(_ members: [(String, String)]) -> String {
      "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
    func check(_ key: String, _ value: String, line: UInt = #line) {
      let members = good.map { $0.0 == key ? (key, value) : $0 }
      let running = driver.send(RequestBuilder.make(EventBuilder.batch([text(members)])))
      XCTAssertEqual(running.status, 400, line: line)
      XCTAssertEqual(
        running.json.objectValue?["pointer"]?.stringValue, "/events/0/" + key, line: line)
    }
    XCTAssertEqual(driver.send(RequestBuilder.make(EventBuilder.batch([text(good)]))).status, 200)
    for value in ["1", "null", "\"\"", "\"x\"", "\"\(EventBuilder.id(1))0\""] { check("id", value) }
    check("id", "\"\(EventBuilder.id(1).replacingOccurrences(of: "-", with: "_"))\"")
    check("id", "\"g1112222-3333-4444-0000-000000000001\"")
    for value in [
      "1", "\"2026-05-04T09:15:02Z\"", "\"2026-05-04T09:15:02.114+00:00\"",
      "\"2026-05-04 09:15:02.114Z\"", "\"2026-02-29T09:15:02.114Z\"",
      "\"2026-13-04T09:15:02.114Z\"", "\"2026-05-04T24:00:00.000Z\"",
      "\"2026-05-04T09:60:02.114Z\"", "\"2026-05-04T09:15:60.114Z\"",
      "\"٢٠٢٦-05-04T09:15:02.114Z\"", "\"2026-00-04T09:15:02.114Z\"",
    ] { check("ts", value) }
    for value in ["1", "\"\"", "null", "[]"] { check("type", value) }
    for value in ["1", "\"{}\"", "null", "[]"] { check("payload", value) }
    for value in ["1", "\"\"", "null"] { check("sessionId", value) }
    for index in good.indices {
      var members = good
      let removed = members.remove(at: index)
      let running = driver.send(RequestBuilder.make(EventBuilder.batch([text(members)])))
      XCTAssertEqual(running.json.objectValue?["pointer"]?.stringValue, "/events/0")
      XCTAssertEqual(
        running.json.objectValue?["detail"]?.stringValue, "missing \(removed.0)")
    }
    let extra = driver.send(RequestBuilder.make(EventBuilder.batch([text(good + [("a/b", "1")])])))
    XCTAssertEqual(extra.json.objectValue?["pointer"]?.stringValue, "/events/0/a~1b")
    let leap = good.map { $0.0 == "ts" ? ("ts", "\"2028-02-29T23:59:59.999Z\"") : $0 }
    XCTAssertEqual(driver.send(RequestBuilder.make(EventBuilder.batch([text(leap)]))).status, 200)
    let upper = good.map { $0.0 == "id" ? ("id", "\"\(EventBuilder.id(1).uppercased())\"") : $0 }
    XCTAssertEqual(driver.send(RequestBuilder.make(EventBuilder.batch([text(upper)]))).status, 200)
  }

  func testLimits_whenBodyIsExactlyAtThem_isAccepted() throws {
    let driver = try EngineDriver(
      #"{"version":1,"contract":{"maxEvents":2,"maxBodyBytes":600,"maxWireBytes":700}}"#)
    let padding =
      600 - EventBuilder.batch([1, 2]).utf8.count - "{\"screen\":\"Orders\"}".utf8.count
    func batch(_ more: Int) -> String {
      let payload = "{\"screen\":\"Orders\(String(repeating: "x", count: more))\"}"
      return EventBuilder.batch([EventBuilder.make(1), EventBuilder.make(2, payload: payload)])
    }
    let exact = padding + "{\"screen\":\"Orders\"}".utf8.count
    XCTAssertEqual(batch(exact).utf8.count, 600)
    XCTAssertEqual(driver.send(RequestBuilder.make(batch(exact))).status, 200)
    XCTAssertEqual(driver.send(RequestBuilder.make(batch(exact + 1))).status, 413)
    XCTAssertEqual(driver.send(RequestBuilder.make(EventBuilder.batch([1, 2, 3]))).status, 413)
    let wire = RequestBuilder.make(body: [UInt8](repeating: 0, count: 701))
    let refused = driver.send(wire)
    XCTAssertEqual(refused.problem, "body-too-large")
    XCTAssertEqual(refused.acts.last, .close)
    XCTAssertEqual(driver.engine.ledger.counts.invalid, 3)
  }

  func testAnswer_whenSomeEventsAreRejected_namesThem() throws {
    let driver = try EngineDriver(
      #"{"version":1,"contract":{"rejectTypes":["secret"],"invalidEvents":"rejectEvent"}}"#)
    let events = [
      EventBuilder.make(1), EventBuilder.make(2, type: "secret"), "{\"id\":7}",
      EventBuilder.make(1),
    ]
    let running = driver.send(RequestBuilder.make(EventBuilder.batch(events)))
    XCTAssertEqual(
      running.text,
      "{\"accepted\":1,\"duplicates\":1,\"rejected\":["
        + "{\"id\":\"\(EventBuilder.id(2))\",\"reason\":\"type not accepted\"},"
        + "{\"id\":null,\"reason\":\"found a number, expected a string at /events/2/id\"}]}")
    XCTAssertEqual(driver.engine.ledger.counts.rejected, 2)
    XCTAssertEqual(driver.engine.ledger.counts.received, 4)
  }

  func testLimits_whenTheBodyIsNotCompressed_holdToo() throws {
    let driver = try EngineDriver(
      #"{"version":1,"contract":{"identityBody":"accept","maxBodyBytes":600}}"#)
    let batch = Array(EventBuilder.batch([1]).utf8)
    let room = [UInt8](repeating: 0x20, count: 600 - batch.count)
    XCTAssertEqual(driver.send(RequestBuilder.make(body: batch + room, encoding: nil)).status, 200)
    let long = driver.send(RequestBuilder.make(body: batch + room + [0x20], encoding: nil))
    XCTAssertEqual(long.status, 413)
    XCTAssertEqual(long.problem, "body-too-large")
  }

  func testText_whenABodyIsLongerThanMayBeSent_isRefusedWhoeverReadIt() {
    var rules = ContractRules()
    rules.maxWireBytes = 100
    let long = RequestBuilder.make(body: [UInt8](repeating: 0x20, count: 101))
    XCTAssertThrowsError(try BatchContract(rules: rules).text(of: long)) {
      XCTAssertEqual(($0 as? Problem)?.detail, "more than 100 bytes were sent")
    }
  }

  func testEnvelope_whenPlanSaysArray_takesAnArray() throws {
    let driver = try EngineDriver(#"{"version":1,"contract":{"envelope":"array"}}"#)
    XCTAssertEqual(driver.send(RequestBuilder.make("[\(EventBuilder.make(1))]")).status, 200)
    XCTAssertEqual(driver.send().problem, "wrong-envelope")
    let other = try EngineDriver(
      #"{"version":1,"contract":{"envelope":{"object":"items"},"identityBody":"accept"}}"#)
    let text = "{\"items\":[\(EventBuilder.make(1))]}"
    XCTAssertEqual(other.send(RequestBuilder.make(text, encoding: nil)).status, 200)
  }

  func testContent_whenWrittenOtherwise_hashesTheSame() throws {
    func hash(_ payload: String) throws -> UInt64 {
      let contract = BatchContract(rules: ContractRules())
      let text = EventBuilder.batch([EventBuilder.make(1, payload: payload)])
      return try contract.decode(RequestBuilder.make(text), account: nil).events[0].content
    }
    let base = try hash(#"{"a":1,"b":["x",{"c":null,"d":true}]}"#)
    XCTAssertEqual(try hash(#"{ "b" : ["x", {"d":true,"c":null}] , "a" : 1 }"#), base)
    XCTAssertEqual(try hash(#"{"\u0061":1,"b":["\u0078",{"c":null,"d":true}]}"#), base)
    for other in [
      #"{"a":1.0,"b":["x",{"c":null,"d":true}]}"#, #"{"a":1,"b":[{"c":null,"d":true},"x"]}"#,
      #"{"a":1,"b":["x",{"c":null,"d":1}]}"#, #"{"a":"1","b":["x",{"c":null,"d":true}]}"#,
      #"{"b":1,"a":["x",{"c":null,"d":true}]}"#, #"{"a":1,"b":["x",{"d":null,"c":true}]}"#,
      #"{"a":1,"b":["x",[{"c":null,"d":true}]]}"#,
    ] { XCTAssertNotEqual(try hash(other), base, other) }
  }
}
