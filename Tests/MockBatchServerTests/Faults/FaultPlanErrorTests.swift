import Foundation
import XCTest

@testable import MockBatchServer

/// The words of errors are an interface: people read them more often than any page.
final class FaultPlanErrorTests: XCTestCase {
  private func check(_ text: String, _ expected: String, line: UInt = #line) {
    XCTAssertThrowsError(try FaultPlan(text), line: line) {
      XCTAssertEqual("\($0)", expected, line: line)
    }
  }

  private func response(_ text: String) -> String {
    "{\"version\":1,\"rules\":[{\"responses\":[\(text)]}]}"
  }

  func testPlan_whenAKeyIsUnknown_namesTheNearest() {
    check(
      #"{"version":1,"ruls":[]}"#,
      #"1:14: unknown key "ruls" in plan; did you mean "rules"?"#)
    check(
      #"{"version":1,"rules":[{"respones":[]}]}"#,
      #"1:24: unknown key "respones" in rule; did you mean "responses"?"#)
    check(response(#"{"zzz":1}"#), #"1:38: unknown key "zzz" in response"#)
    check(
      response(#"{"Status":1}"#), #"1:38: unknown key "Status" in response; did you mean "status"?"#
    )
  }

  func testPlan_whenATypeIsWrong_saysWhatWasExpected() {
    check("[]", "1:1: found an array, expected an object (plan)")
    check("{}", "1:1: missing key \"version\" in plan")
    check(#"{"version":2}"#, "1:12: 2 is out of range, expected an integer from 1 to 1")
    check(
      #"{"version":1,"rules":[{"when":{"from":20},"responses":[{}]}]}"#,
      "1:39: found a number, expected a duration like \"80ms\" or \"1h30m\"")
    check(
      #"{"version":1,"rules":[{"when":{"from":"20"},"responses":[{}]}]}"#,
      "1:39: \"20\" needs a unit: d, h, m, s, ms, us, ns")
    check(
      #"{"version":1,"rules":[{"when":{"until":"99999999d"},"responses":[{}]}]}"#,
      "1:40: \"99999999d\" is too large")
    check(
      response(#"{"status":99}"#),
      "1:47: 99 is out of range, expected an integer from 200 to 599")
    check(
      response(#"{"fault":"CONNECTION_RESET"}"#).replacingOccurrences(
        of: "RESET", with: "RESET_BY_PEERS"),
      "1:46: unknown word \"CONNECTION_RESET_BY_PEERS\", expected \"EMPTY_RESPONSE\", "
        + "\"MALFORMED_RESPONSE_CHUNK\", \"RANDOM_DATA_THEN_CLOSE\", \"CONNECTION_RESET_BY_PEER\", "
        + "\"HALF_CLOSE\" or \"STALL\"; did you mean \"CONNECTION_RESET_BY_PEER\"?")
    check(
      #"{"version":1,"rules":[{"responses":[]}]}"#,
      "1:36: an empty array; expected at least one")
    check(
      #"{"version":1,"rules":[{"request":{"urlPattern":"("},"responses":[{}]}]}"#,
      "1:48: \"(\" is not a regular expression")
    check(
      #"{"version":1,"contract":{"maxBodyBytes":9223372036854775807}}"#,
      "1:41: 9223372036854775807 is out of range, expected an integer from 0 to 1000000000")
    check(
      #"{"version":1,"contract":{"maxWireBytes":"1GiB"}}"#,
      "1:41: \"1GiB\" is out of range, expected a size like \"256KB\" up to 1000000000 bytes")
    check(#"{"version":1,"version":1}"#, "1:14: duplicate key \"version\"")
    check(
      "{\"version\":1,\n \"seed\":-1}",
      "2:9: -1 is out of range, expected an integer from 0 to 18446744073709551615")
    check("{\"version\":1,", "1:14: the text ends, expected a key")
  }

  func testPlan_whenACombinationIsImpossible_saysSo() {
    check(
      response(#"{"body":"a","jsonBody":1}"#),
      "1:49: \"body\" and \"jsonBody\" exclude each other")
    check(
      response(#"{"effects":[{"at":"accept","type":"bandwidth","rate":1}]}"#),
      "1:55: an effect \"bandwidth\" cannot lie at \"accept\"; it can at responseBody")
    check(
      response(#"{"effects":[{"at":"committed","type":"gate"}]}"#),
      "1:49: an effect \"gate\" needs \"name\"")
    check(
      response(#"{"effects":[{"at":"committed","type":"reset","rate":1}]}"#),
      "1:82: an effect \"reset\" at \"committed\" has no \"rate\"")
    check(
      response(#"{"delay":{"type":"uniform","lower":"2s","upper":"1s"}}"#),
      "1:85: \"upper\" is below \"lower\"")
    check(
      response(#"{"headers":{"Content-Length":"1"}}"#),
      "1:49: \"content-length\" is framing; use \"contentLength\", \"truncateAfter\", \"dribble\" "
        + "or an effect")
    check(
      response(#"{"headers":{"X":"a\nb"}}"#), "1:53: a header's value cannot hold such characters")
    check(
      response(#"{"retryAfter":{"raw":"1\r\nX-Split: yes"}}"#),
      "1:58: a header's value cannot hold such characters")
    check(
      response(#"{"body":"abc","truncateAfter":3}"#),
      "1:67: the body has only 3 bytes; nothing is cut off")
    check(
      response(#"{"body":"","effects":[{"at":"responseBody","type":"limitData","bytes":0}]}"#),
      "1:107: the body has only 0 bytes; nothing is cut off")
    check(
      response(
        #"{"effects":[{"at":"responseBody","type":"limitData","bytes":1,"afterBytes":1}]}"#),
      "1:99: an effect \"limitData\" at \"responseBody\" has no \"afterBytes\"")
    check(
      #"{"version":1,"toxics":[{"type":"bandwidth"}]}"#,
      "1:24: a toxic \"bandwidth\" needs \"rate\"")
    check(
      #"{"version":1,"rules":[{"when":{"from":"2s","until":"2s"},"responses":[{}]}]}"#,
      "1:52: \"until\" is not after \"from\"")
    check(
      #"{"version":1,"rules":[{"id":"a","responses":[{}]},{"id":"a","responses":[{}]}]}"#,
      "1:57: a second rule \"a\"")
    check(
      #"{"version":1,"rules":[{"request":{"attempt":2},"responses":[{"effects":[{"at":"requestHead","type":"reset"}]}]}]}"#,
      "1:34: an effect at \"requestHead\" comes before the body; only method, URL, headers and "
        + "connection can be matched")
  }

  func testError_whenRendered_showsLineAndCaret() throws {
    let text = "{\n  \"version\": 1,\n\t\"ruls\": []\n}"
    XCTAssertThrowsError(try FaultPlan(text)) { error in
      let rendered = (error as? FaultPlanError)?.rendered(
        file: "plan.json", source: Array(text.utf8))
      XCTAssertEqual(
        rendered,
        "plan.json:3:2: unknown key \"ruls\" in plan; did you mean \"rules\"?\n"
          + "   \"ruls\": []\n   ^")
    }
    let long = "{\"version\":1,\"x\":\"" + String(repeating: "é", count: 500) + "\"}"
    XCTAssertThrowsError(try FaultPlan(long)) { error in
      let rendered = (error as? FaultPlanError)?.rendered(file: "p", source: Array(long.utf8))
      let lines = (rendered ?? "").components(separatedBy: "\n").map(\.count)
      XCTAssertEqual(lines.count, 3)
      XCTAssertLessThan(lines[1], 130)
    }
  }

  func testError_whenPlanIsEmbedded_pointsIntoTheWholeDocument() throws {
    let error = FaultPlanError(
      "m", at: .init(line: 2, column: 3, offset: 9), pointer: "/server/rules/0")
    XCTAssertEqual(error.pointer, "/server/rules/0")
    XCTAssertEqual(error.description, "2:3: m")
  }
}
