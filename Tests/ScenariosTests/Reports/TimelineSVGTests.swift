import Foundation
import XCTest

@testable import Scenarios

final class TimelineSVGTests: XCTestCase {
  private func svg(_ maker: HistoryMaker) -> String { TimelineSVG.text(SampleRun.judged(maker)) }

  private func pieces(_ svg: String, _ start: String) -> [String] {
    svg.components(separatedBy: start).dropFirst().map {
      $0.components(separatedBy: "</").first ?? ""
    }
  }

  private func attribute(_ name: String, _ piece: String) -> Double? {
    piece.components(separatedBy: "\(name)=\"").dropFirst().first
      .flatMap { $0.components(separatedBy: "\"").first }.flatMap(Double.init)
  }

  func testRequests_whenStatusesFallOnOneMoment_standAboveEachOtherFailuresOnTop() throws {
    var maker = HistoryMaker()
    for status in [413, 200, 413, 503] { maker.send(["e"], at: 1, stored: [], status: status) }
    maker.send(["e"], at: 1, status: nil)
    maker.add(.note("end"), at: 900)
    let circles = pieces(svg(maker), "<circle class=\"request ")
    XCTAssertEqual(
      circles.map { String($0.prefix { $0 != "\"" }) }, ["ok", "later", "refused", "lost"])
    let heights = try circles.map { try XCTUnwrap(attribute("cy", $0)) }
    XCTAssertTrue(
      zip(heights, heights.dropFirst()).allSatisfy { $0 - $1 >= 12 }, "none covers another")
    let drawing = svg(maker)
    for word in [">200<", ">413 ×2<", ">503<"] { XCTAssertTrue(drawing.contains(word), word) }
  }

  func testRequests_whenManyComeCloseTogether_noMarkCoversOneOfAnotherKind() throws {
    var maker = HistoryMaker()
    for index in 0..<600 {
      maker.send(["e"], at: Double(index * index), status: [200, 413, 503][index % 3])
    }
    let circles = try pieces(svg(maker), "<circle class=\"request ").map {
      (x: try XCTUnwrap(attribute("cx", $0)), y: try XCTUnwrap(attribute("cy", $0)))
    }
    XCTAssertGreaterThan(circles.count, 30)
    for (index, one) in circles.enumerated() {
      for other in circles[(index + 1)...] {
        XCTAssertGreaterThanOrEqual(max(abs(one.x - other.x), abs(one.y - other.y)), 12)
      }
    }
  }

  func testRequests_whenMoreStatusesThanCanBeStacked_areToldApartByKind() {
    var maker = HistoryMaker()
    for status in 400..<420 { maker.send(["e"], at: 1, status: status) }
    let circles = pieces(svg(maker), "<circle class=\"request ")
    XCTAssertEqual(circles.count, 1)
    XCTAssertTrue(circles[0].contains("and 12 more"))
  }

  func testDepth_whenAPixelSawAZeroBetweenTwoOnes_drawsTheZero() {
    var maker = HistoryMaker()
    maker.add(.note("end"), at: 100_000)
    let axis = TimeAxis(Timeline(maker.history), left: 0, width: 100)
    let points: [(atNs: Int64, count: Int)] = [(0, 1), (1, 0), (2, 1)]
    XCTAssertEqual(
      DepthPath.text(
        points, axis: axis, endNs: HistoryMaker.ns(100_000), bottom: 50, height: 40, most: 1),
      "M100 50H0H0V10H100", "the stroke from the ground covers the zero")
    let later = points.map { (atNs: $0.atNs + HistoryMaker.ns(50_000), count: $0.count) }
    XCTAssertEqual(
      DepthPath.text(
        [(0, 1)] + later, axis: axis, endNs: HistoryMaker.ns(100_000), bottom: 50, height: 40,
        most: 1),
      "M100 50H0H0V10H50V50V10H100")
    let little: [(atNs: Int64, count: Int)] = [(0, 1)]
    XCTAssertTrue(
      DepthPath.text(little, axis: axis, endNs: 1, bottom: 50, height: 40, most: 9_999)
        .contains("V48"), "one of ten thousand is not nothing")
  }

  func testDepth_whenAWeekOfEventsComesAndGoes_hasNoMoreStrokesThanPixels() {
    var points: [(atNs: Int64, count: Int)] = []
    for index in 0..<20_000 { points.append((HistoryMaker.ns(Double(index)), index % 2)) }
    var maker = HistoryMaker()
    maker.add(.note("end"), at: 20_000)
    let axis = TimeAxis(Timeline(maker.history), left: 0, width: 900)
    let path = DepthPath.text(
      points, axis: axis, endNs: HistoryMaker.ns(20_000), bottom: 50, height: 40, most: 1)
    XCTAssertLessThan(path.utf8.count, 14_000)
  }

  func testPhone_whenSomethingIsNotAsUsual_hasABandInARowOfItsOwn() {
    var maker = HistoryMaker()
    for (at, name, value) in [
      (0.0, "app", "foreground"), (1, "disk", "full"), (2, "disk", "ok"), (3, "lowPower", "on"),
      (4, "key", "unavailable"), (5, "key", "rotate"), (6, "key", "available"),
      (7, "consent", "withdrawn"), (8, "token", "none a"), (9, "token", "T2 "),
      (10, "serverToken", "T1 expired"),
    ] { maker.add(.condition(name: name, value: value), at: at) }
    maker.add(.note("end"), at: 10)
    let timeline = Timeline(maker.history)
    let said = timeline.rows.map { row in
      "\(row.name): "
        + row.bands.map { "\($0.value) \($0.fromNs / 1_000_000_000)–\($0.toNs / 1_000_000_000)" }
        .joined(separator: " ")
    }
    XCTAssertEqual(
      said,
      [
        "disk: full 1–2", "key: unavailable 4–6", "low power: on 3–10",
        "consent: withdrawn 7–10", "token: none a 8–9",
      ])
    XCTAssertEqual(timeline.marks.map(\.label), ["key rotate", "token T2", "server: T1 expired"])
    XCTAssertTrue(svg(maker).contains(">full</text>"))
  }

  func testDepth_whenEventsWaitInMemory_countsThemApartUntilTheDeviceDies() {
    var maker = HistoryMaker()
    maker.add(.receipt(serial: 1, .buffered(id: "m1", reason: "diskFull")), at: 1)
    maker.add(.receipt(serial: 2, .buffered(id: "m2", reason: "diskFull")), at: 2)
    maker.add(.becameDurable(id: "m1"), at: 3)
    maker.add(.died(incarnation: 1, how: "SIGKILL"), at: 4)
    let timeline = Timeline(maker.history)
    XCTAssertEqual(timeline.buffered.map(\.count), [1, 2, 1, 0])
    XCTAssertEqual(timeline.depth.map(\.count), [1])
    XCTAssertTrue(svg(maker).contains(">buffered 2<"))
  }

  func testFailure_whenAnExpectationOnTheWayFailed_standsAtItsTimeInWords() throws {
    let early = ExpectedLine(key: "delivered", value: "\"shift\"", line: 3)
    var maker = HistoryMaker(expectations: [SampleRun.lostLine])
    maker.record(["e1"], at: 1)
    maker.add(.asked([early]), at: 60)
    maker.add(.faultApplied(rule: "busy", response: 0, what: "429", request: 1), at: 61)
    maker.send(["e1"], at: 61, stored: ["e1"])
    maker.add(.held([Holding(id: "e1", stored: 1, seen: 1)]), at: 100)
    let report = SampleRun.judged(maker)
    let failed = Timeline(report.history, results: report.results).marks.filter {
      $0.kind == .failed
    }
    XCTAssertEqual(failed.map(\.atNs), [HistoryMaker.ns(60)])
    XCTAssertTrue(TimelineSVG.text(report).contains(">delivered fails at 1m00s</text>"))
    XCTAssertTrue(TimelineSVG.text(report).contains(">busy</text>"), "the rule is named")
    let html = HTMLReport.text(RunReport(cases: [report]))
    let legend = try XCTUnwrap(html.range(of: "<p class=\"legend\">"))
    let first = try XCTUnwrap(html.range(of: "<svg class=\"timeline\""))
    XCTAssertLessThan(legend.lowerBound, first.lowerBound)
  }

  func testKill_whenAnotherMarkStandsBesideIt_isCutByItsOwnLine() throws {
    var maker = HistoryMaker()
    maker.add(.faultApplied(rule: "busy", response: 0, what: "429", request: 1), at: 500)
    maker.add(.died(incarnation: 1, how: "SIGKILL"), at: 501)
    maker.add(.note("end"), at: 100_000)
    for second in 0..<200 { maker.send(["e"], at: Double(second), status: 503) }
    let drawing = svg(maker)
    let place = try XCTUnwrap(pieces(drawing, "<g class=\"mark kill\"").first)
      .components(separatedBy: "translate(").last?.prefix { $0 != " " }
    let line = try XCTUnwrap(pieces(drawing, "<path class=\"line kill\" d=\"M").first)
    XCTAssertEqual(place, line.prefix { $0 != " " })
  }

  func testLabels_whenThereIsNoRoom_areLeftOutRatherThanWrittenOverEachOther() {
    var labels = MarkLabels(right: 1_000)
    let places = (0..<5).map { _ in labels.place("a rule", x: 990) }
    XCTAssertEqual(places.compactMap { $0?.line }, [0, 1, 2])
    XCTAssertLessThanOrEqual((places[0]?.x ?? 0) + MarkLabels.width("a rule"), 1_000)
  }

  func testMessage_whenALineHasACaret_marksTheWordInTheLine() {
    XCTAssertEqual(
      MessageText.html(["f:1:3", "  {\"lost\":0}", "   ^", "lost: <1>"]),
      "f:1:3\n  {<mark>&quot;lost&quot;</mark>:0}\nlost: &lt;1&gt;")
    XCTAssertEqual(MessageText.html(["ab", "^"]), "<mark>ab</mark>")
    XCTAssertEqual(MessageText.html(["^", "", "     ^"]), "^\n\n     ^")
  }
}
