import XCTest

@testable import MockBatchServer

final class EngineAnswerTests: XCTestCase {
  private func plan(_ responses: String, contract: String = "{}") -> String {
    "{\"version\":1,\"seed\":7,\"contract\":\(contract),\"rules\":[{\"responses\":[\(responses)]}]}"
  }

  func testAnswer_whenBatchComesAgain_countsDuplicates() throws {
    let driver = try EngineDriver()
    let first = driver.send(RequestBuilder.make(EventBuilder.batch([1, 2])))
    XCTAssertEqual(first.status, 200)
    XCTAssertEqual(first.text, "{\"accepted\":2,\"duplicates\":0,\"rejected\":[]}")
    XCTAssertEqual(first.response.headers["content-type"], "application/json")
    XCTAssertEqual(first.response.headers["date"], "Sun, 06 Nov 1994 08:49:37 GMT")
    XCTAssertEqual(first.acts.last, .keepAlive)
    let again = driver.send(RequestBuilder.make(EventBuilder.batch([2, 1, 3])))
    XCTAssertEqual(again.text, "{\"accepted\":1,\"duplicates\":2,\"rejected\":[]}")
    let entries = driver.engine.journal.entries
    XCTAssertEqual(entries.map(\.attempt), [1, 1])
    XCTAssertEqual(entries.map(\.events), [2, 3])
    XCTAssertEqual(entries.map(\.ending), ["completed", "completed"])
  }

  func testAttempt_whenTheSameSetComes_countsUp() throws {
    let driver = try EngineDriver()
    for numbers in [[1, 2], [2, 1], [1], [1, 2]] {
      driver.send(RequestBuilder.make(EventBuilder.batch(numbers)))
    }
    XCTAssertEqual(driver.engine.journal.entries.map(\.attempt), [1, 2, 1, 3])
  }

  func testCommit_whenResponseSaysSo_takesNoneAllOrTheFirst() throws {
    func stored(_ response: String) throws -> (Int, Running) {
      let driver = try EngineDriver(plan(response))
      let running = driver.send(RequestBuilder.make(EventBuilder.batch([1, 2, 3])))
      return (driver.engine.ledger.counts.stored, running)
    }
    XCTAssertEqual(try stored(#"{"status":503}"#).0, 0)
    XCTAssertEqual(try stored(#"{"status":202}"#).0, 3)
    XCTAssertEqual(try stored(#"{"status":200,"commit":"none"}"#).0, 0)
    XCTAssertEqual(try stored(#"{"status":503,"commit":"all"}"#).0, 3)
    XCTAssertEqual(try stored(#"{"status":503,"commit":{"first":2}}"#).0, 2)
    XCTAssertEqual(try stored(#"{"status":503,"commit":{"first":9}}"#).0, 3)
    XCTAssertEqual(try stored(#"{"delay":"1s"}"#).0, 3)
    XCTAssertEqual(try stored(#"{"fault":"EMPTY_RESPONSE"}"#).0, 0)
    XCTAssertEqual(try stored(#"{"fault":"EMPTY_RESPONSE","commit":"all"}"#).0, 3)
    XCTAssertEqual(try stored(#"{"captivePortal":true}"#).0, 0)
    XCTAssertEqual(try stored(#"{"redirect":"http://x.invalid/"}"#).0, 0)
    let accepted = try stored(#"{"status":202}"#).1
    XCTAssertEqual(accepted.text, "{\"accepted\":3,\"duplicates\":0,\"rejected\":[]}")
    XCTAssertEqual(accepted.status, 202)
  }

  func testResponse_whenScripted_hasItsHeadersAndBody() throws {
    let driver = try EngineDriver(
      plan(
        #"""
        {"status":429,"retryAfter":{"in":"19.5s"},"headers":{"X-A":["1","2"],"Date":"never"}},
        {"status":503,"retryAfter":{"in":"20s","form":"rfc850"},"jsonBody":{"a":1},
         "headers":{"content-type":"text/odd"}},
        {"status":429,"headers":{"Retry-After":["3","9"]},"body":"slow down"},
        {"captivePortal":true},{"redirect":"http://portal.invalid/login"},
        {"status":405},{"status":204},{"retryAfter":{"raw":"abc"}}
        """#))
    let busy = driver.send()
    XCTAssertEqual(busy.status, 429)
    XCTAssertEqual(busy.response.headers["retry-after"], "20")
    XCTAssertEqual(busy.response.headers.all("x-a"), ["1", "2"])
    XCTAssertEqual(busy.response.headers.all("date"), ["never"])
    XCTAssertEqual(busy.problem, "scripted-fault")
    let down = driver.send()
    XCTAssertEqual(down.text, "{\"a\":1}")
    XCTAssertEqual(down.response.headers.all("content-type"), ["text/odd"])
    XCTAssertEqual(down.response.headers["retry-after"], "Sunday, 06-Nov-94 08:49:57 GMT")
    let text = driver.send()
    XCTAssertEqual(text.response.headers.all("retry-after"), ["3", "9"])
    XCTAssertEqual(text.response.headers["content-type"], "text/plain; charset=utf-8")
    let portal = driver.send()
    XCTAssertEqual(portal.status, 200)
    XCTAssertEqual(portal.response.headers["content-type"], "text/html; charset=utf-8")
    let redirect = driver.send()
    XCTAssertEqual(redirect.status, 302)
    XCTAssertEqual(redirect.response.headers["location"], "http://portal.invalid/login")
    XCTAssertEqual(driver.send().response.headers["allow"], "POST, OPTIONS")
    let empty = driver.send()
    XCTAssertEqual(empty.status, 204)
    XCTAssertTrue(empty.response.body.isEmpty)
    let natural = driver.send()
    XCTAssertEqual(natural.status, 200)
    XCTAssertEqual(natural.response.headers["retry-after"], "abc")
    XCTAssertEqual(driver.engine.appliedRules.first?.times, 8)
  }

  func testPhases_whenARequestIsAnswered_comeInOrder() throws {
    let driver = try EngineDriver(plan(#"{"delay":"2s"}"#))
    driver.send()
    let phases = driver.kinds.compactMap { kind -> Phase? in
      if case .phase(let phase) = kind { return phase }
      return nil
    }
    XCTAssertEqual(phases, Phase.allCases)
    XCTAssertTrue(driver.kinds.contains(.delayed(untilNs: 2_000_000_000)))
    XCTAssertTrue(driver.kinds.contains(.ruleApplied(rule: "rule-1", response: 0)))
    XCTAssertTrue(
      driver.kinds.contains(
        .committed(stored: [EventBuilder.id(1)], duplicates: [], conflicting: [])))
    XCTAssertTrue(driver.kinds.contains(.identified(ids: [EventBuilder.id(1)], attempt: 1)))
    XCTAssertTrue(driver.kinds.contains(.finished(bytesSent: 43, ending: "completed")))
  }

  func testGate_whenHeldAfterTheCommit_parksUntilOpened() throws {
    let driver = try EngineDriver(
      plan(
        #"""
        {"fault":"CONNECTION_RESET_BY_PEER","commit":"all",
         "effects":[{"at":"committed","type":"gate","name":"kill-here"}]},
        {"effects":[{"at":"requestBody","type":"gate","name":"kill-here","timeout":"5s"}]}
        """#))
    let running = driver.start(RequestBuilder.make())
    running.run()
    XCTAssertEqual(running.parked?.reason, "gate kill-here")
    XCTAssertEqual(driver.engine.ledger.counts.stored, 1)
    XCTAssertTrue(driver.kinds.contains(.gateHeld("kill-here")))
    XCTAssertEqual(driver.engine.gates.all().map(\.waiting), [1])
    driver.engine.setGate("kill-here", isOpen: true)
    running.run()
    XCTAssertEqual(running.acts, [.reset])
    driver.engine.setGate("kill-here", isOpen: false)
    let second = driver.start(RequestBuilder.make())
    second.run()
    XCTAssertEqual(driver.engine.ledger.counts.duplicatesAcross, 0)
    driver.clock.advance(toNs: 5_000_000_000)
    second.run()
    XCTAssertEqual(second.status, 200)
    XCTAssertEqual(driver.engine.ledger.counts.duplicatesAcross, 1)
  }

  func testGate_whenTheClientGoes_isLeft() throws {
    let driver = try EngineDriver(
      plan(#"{"effects":[{"at":"requestBody","type":"gate","name":"g","timeout":"5s"}]}"#))
    let running = driver.start(RequestBuilder.make())
    running.run()
    running.exchange.ended(bytesSent: 0, .clientWentAway)
    XCTAssertEqual(driver.engine.gates.all().map(\.waiting), [0])
    XCTAssertNil(driver.clock.nextDueNs)
    XCTAssertEqual(driver.engine.journal.entries.last?.ending, "client went away")
    XCTAssertEqual(driver.engine.ledger.counts.received, 0)
  }

  func testFaults_whenPlanned_becomeTheirActs() throws {
    let length = 43
    let cases: [(String, [EngineDriver.Act])] = [
      (#"{"fault":"EMPTY_RESPONSE"}"#, [.close]),
      (#"{"fault":"CONNECTION_RESET_BY_PEER"}"#, [.reset]),
      (#"{"fault":"STALL"}"#, [.stall]),
      (#"{"fault":"RANDOM_DATA_THEN_CLOSE"}"#, [.raw(64), .close]),
      (#"{"fault":"MALFORMED_RESPONSE_CHUNK"}"#, [.head(200, length: nil), .raw(13), .close]),
      (#"{"effects":[{"at":"responseHead","type":"reset"}]}"#, [.reset]),
      (#"{"effects":[{"at":"requestBody","type":"close"}]}"#, [.close]),
      (#"{"effects":[{"at":"requestHead","type":"reset"}]}"#, [.reset]),
      (#"{"effects":[{"at":"responseHead","type":"garbage","bytes":9}]}"#, [.raw(9), .close]),
      (#"{"truncateAfter":0}"#, [.head(200, length: length), .close]),
    ]
    for (response, acts) in cases {
      let driver = try EngineDriver(plan(response))
      XCTAssertEqual(driver.send().acts, acts, response)
      XCTAssertEqual(driver.engine.journal.entries.last?.effects.count, 1, response)
    }
  }

  func testRule_whenItActsAtAccept_endsTheConnectionAndAnswersItsFirstRequest() throws {
    let driver = try EngineDriver(
      plan(
        #"""
        {"effects":[{"at":"accept","type":"reset"}]},
        {"status":503,"effects":[{"at":"accept","type":"gate","name":"door"}]}
        """#))
    XCTAssertEqual(driver.send().acts, [.reset])
    XCTAssertTrue(driver.kinds.contains(.faultApplied("reset")))
    let second = driver.start(RequestBuilder.make())
    second.run()
    XCTAssertEqual(second.parked?.reason, "gate door")
    driver.engine.setGate("door", isOpen: true)
    second.run()
    XCTAssertEqual(second.status, 503)
    XCTAssertEqual(driver.send().status, 200)
  }

  func testEffects_whenSeveralLieAtTheHead_allHappenBeforeTheBody() throws {
    let driver = try EngineDriver(
      plan(
        #"""
        {"status":503,"effects":[{"at":"requestHead","type":"delay","delay":"1s"},
         {"at":"requestHead","type":"delay","delay":"2s"},
         {"at":"requestBody","type":"delay","delay":"4s"}]}
        """#))
    let running = driver.send()
    XCTAssertEqual(running.sent[0].atNs, 7_000_000_000)
    XCTAssertEqual(driver.engine.journal.entries[0].effects, ["delay", "delay", "delay"])
  }

  func testFault_whenAtTheHead_countsAsIncompleteRequest() throws {
    let driver = try EngineDriver(plan(#"{"effects":[{"at":"requestHead","type":"reset"}]}"#))
    driver.send()
    XCTAssertEqual(driver.engine.journal.completeRequests, 0)
    XCTAssertEqual(driver.engine.journal.entries.map(\.isComplete), [false])
    XCTAssertEqual(driver.send().status, 200)
  }

  func testStep_whenTheBodyNeverCame_isNotTaken() throws {
    let driver = try EngineDriver(plan(#"{"status":503}"#))
    let running = driver.start(RequestBuilder.make())
    guard case .readBody = running.exchange.next() else { return XCTFail("no body asked for") }
    running.exchange.ended(bytesSent: 0, .incompleteRequest("body deadline"))
    XCTAssertEqual(driver.engine.appliedRules.first?.times, 0)
    XCTAssertEqual(
      driver.engine.journal.entries.map(\.ending), ["incomplete request: body deadline"])
    XCTAssertEqual(driver.send().status, 503)
  }

  func testExpect_whenTheHeadIsRefused_asksForNoBody() throws {
    let driver = try EngineDriver()
    let request = RequestBuilder.make(token: nil, headers: [("Expect", "100-continue")])
    let running = driver.start(request)
    guard case .send(let response) = running.exchange.next() else { return XCTFail("no answer") }
    XCTAssertEqual(response.status, 401)
    guard case .finish(.close) = running.exchange.next() else { return XCTFail("kept alive") }
  }

  func testExpect_whenTheLengthIsTooMuch_asksForNoBody() throws {
    let driver = try EngineDriver()
    let headers = [("Expect", "100-continue"), ("Content-Length", "1000001")]
    let running = driver.start(RequestBuilder.make(headers: headers))
    guard case .send(let response) = running.exchange.next() else { return XCTFail("no answer") }
    XCTAssertEqual(response.status, 413)
    guard case .finish(.close) = running.exchange.next() else { return XCTFail("kept alive") }
  }

  func testTokens_whenReplaced_keepTheRulesCounting() throws {
    let driver = try EngineDriver(plan(#"{"status":503},{"status":429}"#))
    XCTAssertEqual(driver.send().status, 503)
    driver.engine.setTokens([ContractRules.Token(value: "T2", account: "b")])
    XCTAssertEqual(driver.send(RequestBuilder.make(token: "T2")).status, 429)
    XCTAssertEqual(driver.send(RequestBuilder.make(token: "T1")).status, 401)
    XCTAssertEqual(driver.send(RequestBuilder.make(token: "T2")).status, 200)
    XCTAssertEqual(driver.engine.journal.entries.last?.account, "b")
  }

  func testTimeline_whenTimePasses_movesTheListener() throws {
    let driver = try EngineDriver(
      """
      {"version":1,"timeline":[{"at":"6s","listener":"accept"},{"at":"3s","listener":"refuse"}]}
      """)
    let states = Guarded<[ListenerState]>([])
    driver.engine.watchListener { state in states.access { $0.append(state) } }
    driver.clock.advance(toNs: 2_999_999_999)
    XCTAssertEqual(driver.engine.listenerState, .accept)
    driver.clock.advance(toNs: 3_000_000_000)
    XCTAssertEqual(driver.engine.listenerState, .refuse)
    try driver.engine.use(
      FaultPlan(#"{"version":1,"timeline":[{"at":"0s","listener":"blackhole"}]}"#))
    driver.clock.advance(toNs: 60_000_000_000)
    XCTAssertEqual(states.access { $0 }, [.accept, .refuse, .blackhole])
  }

  func testDelay_whenRandom_isTheSameForTheSameBatch() throws {
    func delay(_ numbers: [Int], _ seed: Int) throws -> Int64 {
      let driver = try EngineDriver(
        """
        {"version":1,"seed":\(seed),"rules":[{"responses":[{"status":503,
         "delay":{"type":"lognormal","median":"80ms","sigma":0.4}}],"onExhausted":"last"}]}
        """)
      return driver.send(RequestBuilder.make(EventBuilder.batch(numbers))).sent[0].atNs
    }
    let first = try delay([1, 2, 3], 42)
    XCTAssertGreaterThan(first, 0)
    XCTAssertEqual(first % 1_000, 0)
    XCTAssertEqual(try delay([3, 1, 2], 42), first)
    XCTAssertNotEqual(try delay([3, 1, 4], 42), first)
    XCTAssertNotEqual(try delay([1, 2, 3], 43), first)
  }
}
