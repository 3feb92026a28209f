import JSONText
import XCTest

@testable import Scenarios

final class ScenarioParserTests: XCTestCase {
  private let good = """
    {"name":"airplane-shift","about":"Offline all day.","seed":7,
     "lanes":["urlprotocol","socket"],"matrix":{"cap":["20MB","4MB"]},
     "device":{"queueCap":"${cap}","batchLimit":"256KB"},
     "server":{"rules":[{"id":"hold","responses":[{"status":200,
       "effects":[{"at":"committed","type":"gate","name":"kill-here"}]}]}]},
     "timeline":[
      {"at":"0s","network":"offline"},
      {"at":"1m","record":{"as":"shift","count":960,"every":"30s","payload":{"screen":"Orders"}}},
      {"at":"3h","kill":"SIGKILL","restartAfter":"10s"},
      {"when":{"gate":"kill-here"},"kill":"SIGKILL","restartAfter":"5s"},
      {"when":{"request":2,"phase":"responseBody"},"network":"offline"},
      {"at":"9h","network":"online"},
      {"at":"9h15m","expect":[{"delivered":"shift"}]}],
     "drain":{"within":"20m"},
     "expect":[{"lost":0},{"duplicatesAfterDedup":0}]}
    """

  func testParse_whenAllIsWell_givesOneScenarioPerVariant() throws {
    let scenarios = try ScenarioParser.parse(file: "a.json", bytes: Array(good.utf8))
    XCTAssertEqual(scenarios.map(\.title), ["airplane-shift[cap=20MB]", "airplane-shift[cap=4MB]"])
    let first = scenarios[0]
    XCTAssertEqual(scenarios.map(\.device.queueCapBytes), [20_000_000, 4_000_000])
    XCTAssertEqual(first.seed, 7)
    XCTAssertEqual(first.lanes, [.urlprotocol, .socket])
    XCTAssertEqual(first.drainWithinNs, 1_200_000_000_000)
    XCTAssertEqual(first.timeline.count, 7)
    XCTAssertEqual(first.timeline[2].moment, .at(10_800_000_000_000))
    XCTAssertEqual(first.timeline[3].moment, .when(.gate("kill-here")))
    XCTAssertEqual(first.timeline[4].moment, .when(.request(2, phase: "responseBody")))
    guard case .record(let record) = first.timeline[1].action else { return XCTFail("no record") }
    XCTAssertEqual(record.count, 960)
    XCTAssertEqual(record.everyNs, 30_000_000_000)
    XCTAssertEqual(first.expect.map(\.key), ["lost", "duplicatesAfterDedup"])
    XCTAssertEqual(first.expect[0].value, 0)
  }

  func testParse_whenPlanIsInside_keepsThePlansPositions() throws {
    let scenario = try ScenarioParser.parse(file: "a.json", bytes: Array(good.utf8))[0]
    let plan = try XCTUnwrap(scenario.plan)
    let document = try JSONDocument(parsing: plan.bytes)
    let name = try XCTUnwrap(document.root["rules"]?[0]?["responses"]?[0]?["effects"]?[0]?["name"])
    let whole = try JSONDocument(parsing: Array(good.utf8))
    let original = try XCTUnwrap(
      whole.root["server"]?["rules"]?[0]?["responses"]?[0]?["effects"]?[0]?["name"])
    XCTAssertEqual(name.position.line, 5)
    XCTAssertEqual(name.position.line, original.position.line)
    XCTAssertEqual(name.position.column, original.position.column)
    XCTAssertEqual(document.root.position.line, 4)
  }

  func testParse_whenVariableIsInsideAText_putsItIn() throws {
    let text = """
      {"name":"n","about":"a","matrix":{"x":["one",2]},
       "timeline":[{"at":"0s","record":{"as":"r","type":"t-${x}-t"}}],"expect":[{"lost":0}]}
      """
    let scenarios = try ScenarioParser.parse(file: "a.json", bytes: Array(text.utf8))
    let types = scenarios.map { scenario -> String in
      guard case .record(let record) = scenario.timeline[0].action else { return "" }
      return record.type
    }
    XCTAssertEqual(types, ["t-one-t", "t-2-t"])
  }

  func testExamples_whenPutIntoAScript_areAllAccepted() throws {
    for action in ScenarioShape.actions {
      // A database is changed while the app is dead.
      let kill = action.key == "database" ? #"{"at":"1s","kill":"SIGKILL"},"# : ""
      let text = """
        {"name":"n","about":"a","timeline":[
        {"at":"0s","record":{"as":"shift-0"}},\(kill)
        \(action.example.replacingOccurrences(of: #"{"delivered":"shift"}"#, with: #"{"lost":0}"#))],
        "server":{"rules":[{"responses":[{"status":200,
          "effects":[{"at":"committed","type":"gate","name":"hold"}]}]}]},"expect":[{"lost":0}]}
        """
      XCTAssertNoThrow(
        try ScenarioParser.parse(file: "a.json", bytes: Array(text.utf8)), action.example)
    }
    for expectation in ScenarioShape.expectations {
      let text = """
        {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"shift"}}],
        "expect":[\(expectation.example)]}
        """
      XCTAssertNoThrow(
        try ScenarioParser.parse(file: "a.json", bytes: Array(text.utf8)), expectation.example)
    }
  }
}
