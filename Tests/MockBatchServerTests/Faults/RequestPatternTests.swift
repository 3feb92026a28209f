import JSONText
import XCTest

@testable import MockBatchServer

final class RequestPatternTests: XCTestCase {
  private let text = EventBuilder.batch([
    EventBuilder.make(1),
    EventBuilder.make(2, type: "error", payload: "{\"code\":7,\"tags\":[1,2]}"),
  ])

  private func view() -> RequestView {
    let request = RequestBuilder.make(
      target: "/v1/telemetry/batch?a=1%202&b=&a=x+y", headers: [("X-Trace", "abc")])
    return RequestView(
      request: request, context: RequestContext(connection: 4, indexOnConnection: 2), attempt: 3,
      decodedBody: { [text] in Array(text.utf8) })
  }

  private func pattern(_ text: String) throws -> RequestPattern {
    try RequestPattern(reading: JSONDocument(parsing: Array(text.utf8)).root)
  }

  func testPattern_whenEachConditionIsTried_matchesAsItSays() throws {
    let holds = [
      "{}", #"{"method":"POST"}"#, #"{"method":"ANY"}"#, #"{"urlPath":"/v1/telemetry/batch"}"#,
      #"{"url":"/v1/telemetry/batch?a=1%202&b=&a=x+y"}"#, #"{"urlPattern":"/v1/.*\\?a=.*"}"#,
      #"{"urlPathPattern":"/v1/[a-z]+/batch"}"#, #"{"queryParameters":{"a":"1 2"}}"#,
      #"{"queryParameters":{"a":{"matches":"x y"},"b":{"equalTo":""},"c":{"absent":true}}}"#,
      #"{"headers":{"x-trace":{"contains":"bc"},"X-None":{"absent":true}}}"#,
      #"{"headers":{"X-TRACE":{"equalTo":"ABC","caseInsensitive":true}}}"#,
      #"{"headers":{"x-trace":{"absent":false,"doesNotContain":"z","doesNotMatch":"z.*"}}}"#,
      #"{"attempt":3}"#, #"{"attempt":{"min":2}}"#, #"{"attempt":{"max":3}}"#,
      #"{"connection":4,"requestOnConnection":{"min":1,"max":2}}"#,
      #"{"eventId":"\#(EventBuilder.id(2))"}"#, #"{"eventType":{"matches":"err.*"}}"#,
      #"{"bodyPatterns":[{"contains":"Orders"},{"doesNotContain":"nothing"}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":"$.events[1].payload.code"}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":"$.events[?(@.payload.code == 7)]"}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":{"expression":"$..code","equalTo":"7"}}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":{"expression":"$.events[*].type","equalTo":"error"}}]}"#,
    ]
    for text in holds {
      let pattern = try pattern(text)
      XCTAssertTrue(pattern.matches(view()), text)
      XCTAssertEqual(pattern.mismatches(view()), [], text)
    }
    let fails = [
      #"{"method":"GET"}"#, #"{"urlPath":"/v1/telemetry"}"#, #"{"url":"/v1/telemetry/batch"}"#,
      #"{"urlPathPattern":"/v1"}"#, #"{"queryParameters":{"a":"3"}}"#,
      #"{"queryParameters":{"c":{"absent":false}}}"#, #"{"headers":{"X-Trace":{"absent":true}}}"#,
      #"{"headers":{"X-Trace":"ABC"}}"#, #"{"attempt":2}"#, #"{"attempt":{"max":2}}"#,
      #"{"connection":5}"#, #"{"eventId":"x"}"#, #"{"eventType":"nothing"}"#,
      #"{"bodyPatterns":[{"contains":"Orders"},{"contains":"nothing"}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":"$.events[2]"}]}"#,
      #"{"bodyPatterns":[{"matchesJsonPath":"$.events[?(@.payload.code > 7)]"}]}"#,
      #"{"bodyPatterns":[{"equalToJson":{"events":[]}}]}"#,
    ]
    for text in fails {
      let pattern = try pattern(text)
      XCTAssertFalse(pattern.matches(view()), text)
      XCTAssertEqual(pattern.mismatches(view()).count, 1, text)
    }
  }

  func testEqualToJson_whenOrderOrExtrasAreFree_matches() {
    func same(_ found: String, _ wanted: String, order: Bool = false, extra: Bool = false) -> Bool {
      let found = (try? JSONValue.parse(found)) ?? .null
      let wanted = (try? JSONValue.parse(wanted)) ?? .null
      return JSONLikeness.holds(found, wanted, ignoresOrder: order, ignoresExtra: extra)
    }
    XCTAssertTrue(same(#"{"a":1,"b":[1,2]}"#, #"{"b":[1,2.0],"a":1}"#))
    XCTAssertFalse(same("[1,2]", "[2,1]"))
    XCTAssertTrue(same("[1,2]", "[2,1]", order: true))
    XCTAssertFalse(same("[1,1]", "[1,2]", order: true))
    XCTAssertFalse(same(#"{"a":1,"b":2}"#, #"{"a":1}"#))
    XCTAssertTrue(same(#"{"a":1,"b":2}"#, #"{"a":1}"#, extra: true))
    XCTAssertFalse(same(#"{"a":true}"#, #"{"a":1}"#))
  }

  func testTextPattern_whenEmpty_matchesEmptyTextOnly() throws {
    let pattern = try TextPattern("")
    var steps = 1
    XCTAssertEqual(pattern.matches("", &steps), true)
    XCTAssertEqual(pattern.matches("a", &steps), false)
  }

  func testJSONPath_whenItIsNone_isRefused() {
    for text in ["", "a", "$.", "$[", "$[x]", "$['a", "$[?(a)]", "$[?(@.a == b)]", "$ "] {
      XCTAssertThrowsError(try JSONPath(text), text)
    }
  }

  func testJSONPath_whenRead_findsValuesInOrder() throws {
    let root = try JSONValue.parse(#"{"a":[{"b":1},{"b":"x","c":null},5],"b":true}"#)
    func found(_ path: String) throws -> String {
      JSONValue.array(try XCTUnwrap(JSONPath(path).values(in: root))).description
    }
    XCTAssertEqual(try found("$.a[*].b"), #"[1,"x"]"#)
    XCTAssertEqual(try found("$..b"), #"[true,1,"x"]"#)
    XCTAssertEqual(try found("$.a[-1]"), "[5]")
    XCTAssertEqual(try found("$['a'][0]"), #"[{"b":1}]"#)
    XCTAssertEqual(try found("$.a[?(@.b)].b"), #"[1,"x"]"#)
    XCTAssertEqual(try found("$.a[?(@.b == 'x')].c"), "[null]")
    XCTAssertEqual(try found("$.a[?(@.b <= 1)]"), #"[{"b":1}]"#)
    XCTAssertEqual(try found("$.a[9]"), "[]")
  }
}
