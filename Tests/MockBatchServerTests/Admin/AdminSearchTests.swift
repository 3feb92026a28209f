import Foundation
import JSONText
import XCTest

@testable import MockBatchServer

/// Looking through the journal, which may be long.
final class AdminSearchTests: XCTestCase {
  func testRequests_whenSearched_areFoundCountedAndNearlyFound() throws {
    let driver = try EngineDriver()
    let admin = AdminHandler(engine: driver.engine)
    driver.send(RequestBuilder.make(EventBuilder.batch([1])))
    driver.send(RequestBuilder.make(EventBuilder.batch([2]), token: "other"))
    driver.send(RequestBuilder.make("{"))
    let all = call(admin, "GET", "/requests?limit=2")
    XCTAssertEqual(all.json.objectValue?["total"], 3)
    let shown = try XCTUnwrap(all.json.objectValue?["requests"]?.arrayValue)
    XCTAssertEqual(shown.count, 2)
    let first = try XCTUnwrap(shown[0].objectValue)
    XCTAssertEqual(first["decodedBody"]?.stringValue, EventBuilder.batch([1]))
    let raw = first["rawBodyBase64"]?.stringValue.flatMap { Data(base64Encoded: $0) }
    XCTAssertEqual(raw.map(Array.init), GzipBuilder.make(EventBuilder.batch([1])))
    XCTAssertEqual(first["ending"], "completed")
    let pattern = #"{"eventId":"\#(EventBuilder.id(2))"}"#
    XCTAssertEqual(call(admin, "POST", "/requests/count", pattern).json.objectValue?["count"], 1)
    let found = call(admin, "POST", "/requests/find", pattern).json.objectValue?["requests"]
    XCTAssertEqual(found?.arrayValue?.first?.objectValue?["id"], 2)
    XCTAssertEqual(call(admin, "POST", "/requests/count", "{}").json.objectValue?["count"], 3)
    let near = call(
      admin, "POST", "/requests/near-misses",
      #"{"method":"POST","urlPath":"/v2","headers":{"Authorization":"Bearer other"}}"#)
    let misses = try XCTUnwrap(near.json.objectValue?["nearMisses"]?.arrayValue)
    XCTAssertEqual(misses[0].objectValue?["mismatches"], ["URL path"])
    XCTAssertEqual(misses[0].objectValue?["request"]?.objectValue?["id"], 2)
    XCTAssertEqual(misses[1].objectValue?["mismatches"], ["URL path", "header Authorization"])
    XCTAssertEqual(call(admin, "POST", "/requests/find", #"{"metod":"x"}"#).status, 400)
    XCTAssertEqual(call(admin, "POST", "/requests/find", "{").status, 400)
    XCTAssertEqual(call(admin, "GET", "/requests/2").json.objectValue?["id"], 2)
    XCTAssertEqual(call(admin, "GET", "/requests/9").status, 404)
    XCTAssertEqual(call(admin, "GET", "/requests?limit=x").status, 400)
    XCTAssertEqual(call(admin, "GET", "/requests?bodies=no").status, 400)
    XCTAssertEqual(call(admin, "DELETE", "/requests").status, 204)
    XCTAssertEqual(call(admin, "GET", "/requests").json.objectValue?["total"], 0)
  }

  func testLists_whenTheyAreLong_comeInParts() throws {
    let driver = try EngineDriver()
    var settings = AdminHandler.Settings()
    settings.pageBytes = 40_000
    let admin = AdminHandler(engine: driver.engine, settings: settings)
    // A small body that opens into a larger one.
    let zeros = GzipBuilder.bomb(zeros: 2_500)
    for number in 1...40 {
      driver.send(RequestBuilder.make(body: zeros, headers: [("X-Number", "\(number)")]))
    }
    func parts(_ method: String, _ path: String, _ body: String = "") throws -> [[Int]] {
      var parts: [[Int]] = []
      var next: Int? = 0
      while let offset = next, parts.count < 100 {
        let answer = call(admin, method, path + "offset=\(offset)", body)
        XCTAssertEqual(answer.status, 200)
        XCTAssertLessThan(answer.response.body.count, settings.pageBytes + 1_000)
        let list = try XCTUnwrap(answer.json.objectValue?["requests"]?.arrayValue)
        parts.append(list.compactMap { $0.objectValue?["id"]?.intValue })
        next = answer.json.objectValue?["next"]?.intValue
      }
      return parts
    }
    let all = try parts("GET", "/requests?limit=100&")
    XCTAssertGreaterThan(all.count, 5)
    XCTAssertEqual(all.flatMap { $0 }, Array(1...40))
    let even = #"{"headers":{"X-Number":{"matches":"[0-9]*[02468]"}}}"#
    let found = try parts("POST", "/requests/find?", even)
    XCTAssertGreaterThan(found.count, 2)
    XCTAssertEqual(found.flatMap { $0 }, (1...20).map { $0 * 2 })
    XCTAssertEqual(try parts("GET", "/requests?bodies=false&limit=25&").map(\.count), [25, 15])
    let ledger = call(admin, "GET", "/ledger?limit=1").json.objectValue
    XCTAssertEqual(ledger?["next"], .null)
    driver.send(RequestBuilder.make(EventBuilder.batch([1, 2])))
    let first = call(admin, "GET", "/ledger?limit=1").json.objectValue
    XCTAssertEqual(first?["next"], 1)
  }

  func testSearch_whenTheClientGoes_isGivenUp() throws {
    let driver = try EngineDriver()
    driver.send()
    let admin = AdminHandler(engine: driver.engine)
    let request = HTTPRequest(
      method: "GET", target: "/__admin/requests", headers: ["Host": "localhost"])
    let held = AdminQueue()
    let gate = DispatchSemaphore(value: 0)
    _ = held.later(AdminWork()) {
      gate.wait()
      return HTTPResponse(status: 200)
    }
    let work = AdminWork()
    let result = held.later(work) {
      do {
        try work.goOn()
        return HTTPResponse(status: 200)
      } catch {
        return HTTPResponse(status: 503)
      }
    }
    guard case .later(let park, let cancel, let answer) = result else {
      return XCTFail("answered at once")
    }
    XCTAssertFalse(park.isReady)
    cancel()
    gate.signal()
    let done = expectation(description: "done")
    park.whenReady { done.fulfill() }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(answer().status, 503)
    guard case .later = admin.respond(to: request) else { return XCTFail("on the loop") }
  }

  func testSearch_whenAJSONPathMultiplies_isRefused() throws {
    let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
    let batch = EventBuilder.batch([EventBuilder.make(1, payload: "{\"deep\":\(deep)}")])
    let path = "$" + String(repeating: "..*", count: 12)
    try expectGivenUp(
      #"{"bodyPatterns":[{"matchesJsonPath":"\#(path)"}]}"#, batch,
      why: "a JSONPath comes to too many values",
      cheaper: #"{"bodyPatterns":[{"matchesJsonPath":"$..*..*"}]}"#)
  }

  func testSearch_whenARegularExpressionTriesEverything_isRefused() throws {
    let text = String(repeating: "a", count: 60) + "b"
    let batch = EventBuilder.batch([EventBuilder.make(1, payload: "{\"x\":\"\(text)\"}")])
    // Each "a" belongs to the inner or to the outer repetition: 2⁶⁰ ways that all fail.
    let costly = #"[\\s\\S]*\"x\":\"(a+)+c[\\s\\S]*"#
    for key in ["matches", "doesNotMatch"] {
      try expectGivenUp(
        #"{"bodyPatterns":[{"\#(key)":"\#(costly)"}]}"#, batch,
        why: "a regular expression takes too many steps",
        cheaper: #"{"bodyPatterns":[{"matches":"[\\s\\S]*(a+)b[\\s\\S]*"}]}"#)
    }
  }

  func testPlan_whenOneRuleIsCostly_stillTriesTheOthers() throws {
    let text = String(repeating: "a", count: 60) + "b"
    let batch = EventBuilder.batch([EventBuilder.make(1, payload: "{\"x\":\"\(text)\"}")])
    func rule(_ pattern: String, _ status: Int) -> String {
      #"{"request":{"bodyPatterns":[{"matches":"\#(pattern)"}]},"#
        + #""responses":[{"status":\#(status)}]}"#
    }
    let costly = #"[\\s\\S]*\"x\":\"(a+)+c[\\s\\S]*"#
    let rules = [rule(costly, 503), rule(#"[\\s\\S]*a+b[\\s\\S]*"#, 429)].joined(separator: ",")
    let driver = try EngineDriver(#"{"version":1,"rules":[\#(rules)]}"#)
    XCTAssertEqual(driver.send(RequestBuilder.make(batch)).status, 429)
    let entry = driver.engine.journal.entries[0]
    XCTAssertEqual(entry.givenUp, "a regular expression takes too many steps")
    XCTAssertEqual(driver.engine.metrics.access { $0.faults }, [:])
  }

  /// A rule with a pattern that is too costly applies to nothing, and a search with it is refused.
  private func expectGivenUp(
    _ pattern: String, _ batch: String, why: String, cheaper: String
  ) throws {
    let driver = try EngineDriver(
      #"{"version":1,"rules":[{"request":\#(pattern),"responses":[{"status":503}]}]}"#)
    XCTAssertEqual(driver.send(RequestBuilder.make(batch)).status, 200)
    XCTAssertEqual(driver.engine.journal.entries[0].givenUp, why)
    XCTAssertEqual(driver.engine.journal.entries[0].effects, [])
    let admin = AdminHandler(engine: driver.engine)
    for search in ["find", "count", "near-misses"] {
      let refused = call(admin, "POST", "/requests/" + search, pattern)
      XCTAssertEqual(refused.status, 400)
      XCTAssertEqual(refused.json.objectValue?["detail"], .string("\(why) in request 1"))
    }
    XCTAssertEqual(call(admin, "POST", "/requests/count", cheaper).json.objectValue?["count"], 1)
  }
}
