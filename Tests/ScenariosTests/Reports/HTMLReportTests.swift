import Foundation
import XCTest

@testable import Scenarios

#if canImport(FoundationXML)
  import FoundationXML
#endif

final class HTMLReportTests: XCTestCase {
  private func drawings(_ html: String) -> [String] {
    html.components(separatedBy: "<svg").dropFirst().map { part in
      "<svg" + (part.components(separatedBy: "</svg>").first ?? "") + "</svg>"
    }
  }

  func testPage_whenEveryStatusOccurs_isOneFileWithFailuresFirst() throws {
    let html = HTMLReport.text(SampleRun.all())
    for foreign in ["http:", "https:", "src=", "@import", "url("] {
      XCTAssertFalse(html.contains(foreign), "\(foreign) would fetch something")
    }
    let failure = try XCTUnwrap(html.range(of: "lost: 1 of 2 durable events lost"))
    let table = try XCTUnwrap(html.range(of: "<table>"))
    XCTAssertLessThan(failure.lowerBound, table.lowerBound)
    XCTAssertTrue(html.contains("e2: offered 1m01s → durable 1m01s"))
    XCTAssertTrue(html.contains("replay: workbench run scenarios/made.json"))
    XCTAssertTrue(html.contains("skipped: a true RST cannot be expressed"))
    XCTAssertTrue(html.contains("the device did not answer within 60 s"))
    XCTAssertTrue(html.contains("prefers-color-scheme:dark"))
  }

  func testPage_whenLanesComplainAlike_showsOneCardForThem() {
    let alike = ["socket", "urlprotocol"].map { SampleRun.failing("same", lane: $0) }
    let html = HTMLReport.text(RunReport(cases: alike + [SampleRun.failing("other")]))
    XCTAssertEqual(html.components(separatedBy: "<section class=\"card fail\">").count, 3)
    XCTAssertTrue(html.contains(">socket, urlprotocol<"))
    XCTAssertTrue(html.contains("--lane urlprotocol --seed 7"), "each lane's replay is there")
  }

  func testDrawings_whenRead_areWellFormed() {
    let drawings = drawings(HTMLReport.text(SampleRun.all()))
    XCTAssertGreaterThanOrEqual(drawings.count, 4)
    for drawing in drawings {
      let parser = XMLParser(data: Data(drawing.utf8))
      XCTAssertTrue(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? ""): \(drawing)")
    }
  }

  func testPage_whenTextHasMarkup_escapesIt() {
    var report = SampleRun.failing("<script>alert(1)</script>", lane: "a\"b")
    report.history.header.about = "<img onerror=x>"
    report.history.append(.condition(name: "network", value: "<b>offline"), atNs: 1)
    report.runnerFailure = "</pre><h1>"
    let html = HTMLReport.text(RunReport(cases: [report]))
    XCTAssertEqual(html.components(separatedBy: "<script>").count, 2, "only the page's own")
    for markup in ["<img", "<b>offline", "</pre><h1>", "a\"b"] {
      XCTAssertFalse(html.contains(markup), markup)
    }
  }

  func testPage_whenTwoHundredScenariosRan_staysSmallAndLinksEachOnce() {
    let cases = (0..<200).flatMap { number in
      ["virtual", "urlprotocol", "socket"].map { SampleRun.passing("scenario \(number)", lane: $0) }
    }
    let html = HTMLReport.text(RunReport(cases: cases))
    XCTAssertLessThan(html.utf8.count, 4_000_000)
    XCTAssertEqual(html.components(separatedBy: "<details ").count, 201)
    XCTAssertEqual(html.components(separatedBy: "id=\"s200\"").count, 2)
    XCTAssertEqual(html.components(separatedBy: "href=\"#s200\"").count, 5, "name and three lanes")
  }

  func testTimeline_whenARunHasEverything_readsBandsMarksRequestsAndDepth() {
    var maker = HistoryMaker()
    maker.add(.condition(name: "network", value: "offline"), at: 0)
    maker.add(.started(incarnation: 1), at: 0)
    maker.record(["e1", "e2"], at: 10)
    maker.add(.died(incarnation: 1, how: "SIGKILL"), at: 20)
    maker.add(.condition(name: "network", value: "wifi"), at: 30)
    maker.send(["e1", "e2"], at: 40, status: 503, retryAfter: "5")
    maker.send(["e1", "e2"], at: 50, stored: ["e1", "e2"])
    let timeline = Timeline(maker.history)
    XCTAssertEqual(timeline.network.map(\.value), ["offline", "wifi"])
    XCTAssertEqual(timeline.network.map(\.fromNs), [0, HistoryMaker.ns(30)])
    XCTAssertEqual(timeline.marks.map(\.kind), [.start, .kill])
    XCTAssertEqual(timeline.requests.map(\.kind), [.later, .ok])
    XCTAssertEqual(
      timeline.requests[0].text, "request 1 at 40s: 503, 2 events, Retry-After 5")
    XCTAssertEqual(timeline.depth.map(\.count), [2, 0])
    XCTAssertEqual(timeline.depth.map(\.atNs), [HistoryMaker.ns(10), HistoryMaker.ns(50)])
    XCTAssertEqual(timeline.endNs, HistoryMaker.ns(50))
  }

  func testAxis_whenMuchHappensAtTheEnd_keepsOrderAndGivesItRoom() {
    var maker = HistoryMaker()
    for index in 0..<20 { maker.send(["e"], at: 32_400 + Double(index), status: 503) }
    let axis = TimeAxis(Timeline(maker.history), left: 100, width: 900)
    XCTAssertEqual(axis.x(0), 100, accuracy: 0.001)
    XCTAssertEqual(axis.x(HistoryMaker.ns(32_419)), 1000, accuracy: 0.001)
    let places = (0...64_838).map { axis.x(HistoryMaker.ns(Double($0) / 2)) }
    XCTAssertTrue(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }, "time never runs back")
    XCTAssertGreaterThan(
      axis.x(HistoryMaker.ns(32_419)) - axis.x(HistoryMaker.ns(32_400)), 300)
    XCTAssertEqual(axis.ticks(apart: 60).first, 0)
    XCTAssertEqual(axis.ticks(apart: 60).last, HistoryMaker.ns(32_419))
    let empty = TimeAxis(Timeline(HistoryMaker().history), left: 0, width: 10)
    XCTAssertEqual(empty.x(5), 10, accuracy: 0.001)
  }

  func testFlow_whenEventsEndDifferently_countsEveryDurableEventOnce() {
    var maker = HistoryMaker()
    maker.record(["s1", "s2", "q", "d1", "d2", "open1", "open2"])
    maker.send(["s1", "s2"], at: 1, stored: ["s1", "s2"])
    maker.add(.quarantined(count: 1, reason: "refused 400", ids: ["q"]))
    maker.add(.dropped(count: 2, reason: "queueFull", ids: ["d1", "d2"]))
    maker.books { $0.queued = 1 }
    let (durable, parts) = FlowSVG.parts(maker.history)
    XCTAssertEqual(durable, 7)
    XCTAssertEqual(parts.map(\.count).reduce(0, +), 7)
    XCTAssertEqual(
      parts.map { "\($0.count) \($0.name)" },
      [
        "2 stored on the server", "2 dropped: queueFull", "1 quarantined: refused 400", "1 queued",
        "1 nowhere",
      ])
    XCTAssertEqual(FlowSVG.text(HistoryMaker().history), "")
  }
}
