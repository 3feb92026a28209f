import Foundation
import JSONText
import XCTest

@testable import Scenarios

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads XML the way a JUnit reader does.
private final class Reader: NSObject, XMLParserDelegate {
  struct Element {
    var name: String
    var attributes: [String: String]
    var text = ""
  }
  var elements: [Element] = []
  private var open: [Int] = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    open.append(elements.count)
    elements.append(Element(name: name, attributes: attributes))
  }
  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if let last = open.last { elements[last].text += text }
  }
  func parser(
    _ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?
  ) { open.removeLast() }
}

final class MachineReportTests: XCTestCase {
  private func read(_ report: RunReport) throws -> [Reader.Element] {
    let parser = XMLParser(data: Data(JUnitReport.text(report).utf8))
    let reader = Reader()
    parser.delegate = reader
    XCTAssertTrue(parser.parse(), parser.parserError.map { "\($0)" } ?? "")
    return reader.elements
  }

  func testJUnit_whenEveryStatusOccurs_hasOneCasePerScenarioLaneAndChecker() throws {
    let elements = try read(SampleRun.all())
    let cases = elements.filter { $0.name == "testcase" }
    XCTAssertEqual(
      cases.map { "\($0.attributes["classname"] ?? "") \($0.attributes["name"] ?? "")" },
      [
        "calm.virtual lost", "airplane-shift.socket lost", "quiet.urlprotocol retryAfterObeyed",
        "resets.urlprotocol run", "stuck.socket run", "x.lanes same in every lane",
      ])
    XCTAssertEqual(elements[0].attributes["tests"], "6")
    XCTAssertEqual(elements[0].attributes["failures"], "2")
    XCTAssertEqual(elements[0].attributes["errors"], "2")
    XCTAssertEqual(elements[0].attributes["skipped"], "1")
    XCTAssertEqual(elements[0].attributes["time"], "2.000")
    let failure = try XCTUnwrap(elements.first { $0.name == "failure" })
    XCTAssertEqual(failure.attributes["message"], "1 of 2 durable events lost, expected 0")
    XCTAssertTrue(failure.text.contains("e2: offered 1m01s → durable 1m01s"), failure.text)
    XCTAssertTrue(failure.text.contains("replay: workbench run"), failure.text)
  }

  func testJUnit_whenTextHasEveryKindOfCharacter_staysReadable() throws {
    let evil = "<&>\"']]>\u{0}\u{1}\u{b}\u{1b}\u{7f}\u{85}\u{ffff}\r\n\té😀\u{2028}"
    var report = SampleRun.failing(evil)
    report.results[0].verdict.explanation = evil
    report.runnerFailure = evil
    let elements = try read(RunReport(cases: [report]))
    let failure = try XCTUnwrap(elements.first { $0.name == "failure" })
    XCTAssertEqual(
      failure.attributes["message"],
      "<&>\"']]>\\u{0}\\u{1}\\u{b}\\u{1b}\\u{7f}\\u{85}\\u{ffff}\r\n\té😀\u{2028}")
    XCTAssertEqual(elements.filter { $0.name == "testcase" }.count, 2)
  }

  func testJUnit_whenAnExpectationStandsTwice_givesTwoCases() throws {
    var maker = HistoryMaker(expectations: [SampleRun.lostLine, SampleRun.lostLine])
    maker.record(["e1"])
    let report = SampleRun.judged(maker)
    let names = try read(RunReport(cases: [report])).compactMap {
      $0.name == "testcase" ? $0.attributes["name"] : nil
    }
    XCTAssertEqual(names, ["lost", "lost 2"])
  }

  func testJSON_whenRead_holdsEveryCaseAndCheck() throws {
    let value = try JSONValue.parse(JSONReport.bytes(SampleRun.all()))
    XCTAssertEqual(value["exitCode"], 1)
    XCTAssertEqual(value["counts"]?["pass"], 1)
    XCTAssertEqual(value["counts"]?["runnerFailed"], 1)
    let cases = try XCTUnwrap(value["cases"]?.arrayValue)
    XCTAssertEqual(
      cases.map { $0["status"]?.stringValue },
      ["pass", "fail", "unknown", "skipped", "runnerFailed"])
    XCTAssertEqual(cases[1]["checks"]?[0]?["events"]?[0]?["event"], "e2")
    XCTAssertEqual(cases[0]["duplicates"], 1)
    XCTAssertEqual(cases[3]["skipped"], "a true RST cannot be expressed")
    XCTAssertEqual(value["differences"]?[0]?["lanes"], ["virtual", "socket"])
  }

  func testAnnotations_whenACaseFails_pointAtTheScriptsLine() {
    let lines = GitHubAnnotations.lines(SampleRun.all())
    XCTAssertEqual(
      lines.first,
      "::error file=scenarios/made.json,line=12,col=14,title=airplane-shift (socket)%3A lost::"
        + "1 of 2 durable events lost, expected 0%0Ae2: offered 1m01s → durable 1m01s%0A"
        + "replay: workbench run scenarios/made.json --lane socket --seed 7%0A"
        + "kept: out/airplane-shift.socket")
    XCTAssertEqual(lines.filter { $0.hasPrefix("::warning") }.count, 1)
    XCTAssertTrue(lines.allSatisfy { !$0.contains("\n") })
    let many = RunReport(cases: (0..<100).map { SampleRun.failing("s\($0)") })
    XCTAssertEqual(GitHubAnnotations.lines(many).count, GitHubAnnotations.limit)
  }

  func testAnnotations_whenTextHasSeparators_escapeThem() {
    var report = SampleRun.failing("a,b:c%\r\n")
    report.results[0].verdict.explanation = "50%\nof it"
    report.results[0].verdict.subjects = []
    let line = GitHubAnnotations.lines(RunReport(cases: [report]))[0]
    XCTAssertTrue(line.contains("title=a%2Cb%3Ac%25%0D%0A (socket)%3A lost::50%25%0Aof it"), line)
  }
}
