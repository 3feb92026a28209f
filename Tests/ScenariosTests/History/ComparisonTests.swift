import XCTest

@testable import Scenarios

final class ComparisonTests: XCTestCase {
  private func run(
    _ lane: String, prefix: String = "", _ change: (inout HistoryMaker) -> Void = { _ in }
  ) -> History {
    var maker = HistoryMaker(lane: lane)
    let ids = ["e1", "e2", "e3"].map { prefix + $0 }
    maker.record(ids, at: lane == "socket" ? 0.25 : 0)
    change(&maker)
    maker.send(ids, at: 1, stored: ids)
    return maker.history
  }

  func testLanes_whenOnlyTimesIdsAndBatchesDiffer_areTheSame() {
    let socket = run("socket", prefix: "x") { $0.send(["xe1"], at: 0.5, stored: []) }
    XCTAssertEqual(Comparison([run("virtual"), socket]).differences, [])
    XCTAssertEqual(Comparison([run("virtual")]).differences, [])
    XCTAssertEqual(Comparison([]).differences, [])
  }

  func testLanes_whenAnEventEndsOtherwise_giveAFindingWithItsCount() {
    var other = HistoryMaker(lane: "socket")
    other.record(["a", "b", "c"])
    other.add(.dropped(count: 2, reason: "queueFull", ids: ["b", "c"]))
    other.send(["a"], at: 1, stored: ["a"])
    let comparison = Comparison([run("virtual"), other.history])
    XCTAssertEqual(comparison.findings.count, 1)
    XCTAssertEqual(comparison.findings[0].count, 2)
    XCTAssertEqual(
      comparison.findings[0].text,
      "event 2 of \"shift\": virtual durable, stored, socket durable, dropped (queueFull)")
  }

  func testLanes_whenOutcomesComeInAnotherOrder_giveAFinding() {
    let busy = run("socket") { $0.send(["e1"], at: 0.5, status: 503) }
    let comparison = Comparison([run("virtual"), busy])
    XCTAssertEqual(
      comparison.findings.map(\.text),
      ["outcomes differ from number 1 on: virtual 2xx, socket 5xx, 2xx"])
  }

  func testLanes_whenTheDeviceDiedInsideTheCall_explainTheDifference() {
    let open = run("socket") { $0.add(.offered(serial: 4, label: "shift", account: "a")) }
    let read = run("virtual") { maker in
      maker.add(.offered(serial: 4, label: "shift", account: "a"))
      maker.add(.receipt(serial: 4, .durable(id: "e4")))
    }
    let comparison = Comparison([read, open])
    XCTAssertEqual(comparison.differences.count, 1)
    XCTAssertEqual(comparison.findings, [])
  }

  func testLanes_whenOneOfferedMore_giveAFindingUnlessCrashPointsDiffer() {
    var more = run("socket") { $0.record(["late"], label: "late") }
    XCTAssertEqual(
      Comparison([run("virtual"), more]).findings.map(\.text),
      ["event 4 of \"late\" was offered in socket only"])
    XCTAssertEqual(Comparison([more, run("virtual")]).findings.count, 1)
    more.header.hasStorageTriggers = true
    XCTAssertEqual(Comparison([run("virtual"), more]).findings, [])
    XCTAssertEqual(Comparison([run("virtual"), more]).differences.count, 1)
  }

  func testLanes_whenTriggeredByStorage_compareFinalStatesOnly() {
    var busy = run("socket") { $0.send(["e1"], at: 0.5, status: 503) }
    busy.header.hasStorageTriggers = true
    XCTAssertEqual(Comparison([run("virtual"), busy]).differences, [])
    var lost = HistoryMaker(lane: "socket")
    lost.history.header.hasStorageTriggers = true
    lost.record(["e1", "e2", "e3"])
    lost.send(["e1", "e2"], at: 1, stored: ["e1", "e2"])
    XCTAssertEqual(Comparison([run("virtual"), lost.history]).findings.count, 1)
  }

  func testOutcomes_whenTheDeviceTellsThem_areTakenFromTheDevice() {
    let device = run("virtual") { maker in
      for outcome in ["connectionLost", "connectionLost", "503", "502", "429", "401", "302", "200"]
      {
        maker.add(.sent(incarnation: 1, number: 1, outcome: outcome))
      }
    }
    XCTAssertEqual(
      LogicalHistory(device).outcomes, ["connectionLost", "5xx", "429", "401", "3xx", "2xx"])
  }
}
