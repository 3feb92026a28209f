import Foundation
import XCTest

@testable import Scenarios

final class FleetTests: XCTestCase {
  func testFleet_whenTheServerComesBack_doesNotStampedeAndDelivers() {
    let report = FleetSimulation.run(engines: 1_000, outageSeconds: 1_200, seed: 1)
    XCTAssertEqual(report.undelivered, 0)
    XCTAssertLessThanOrEqual(report.lastDeliverySecond, 900)
    XCTAssertGreaterThan(report.peak, 0)
    XCTAssertLessThanOrEqual(report.peakShare, 0.03, "\(report.arrivals.prefix(60))")
    // Each device was acknowledged once, and tried in vain before.
    XCTAssertEqual(report.arrivals.reduce(0, +), 1_000)
    XCTAssertGreaterThan(report.requests, 10 * 1_000)
  }

  func testFleet_whenTheSeedIsTheSame_isTheSame() {
    let first = FleetSimulation.run(engines: 50, outageSeconds: 600, seed: 3)
    XCTAssertEqual(FleetSimulation.run(engines: 50, outageSeconds: 600, seed: 3), first)
    XCTAssertNotEqual(FleetSimulation.run(engines: 50, outageSeconds: 600, seed: 4), first)
  }

  func testChart_whenDrawn_isWellFormedAndHasABarForEachBusySecond() {
    let report = FleetSimulation.run(engines: 50, outageSeconds: 600, seed: 3)
    let svg = FleetChart.svg(report)
    let busy = (report.arrivalsBefore + report.arrivals).filter { $0 > 0 }.count
    XCTAssertEqual(svg.components(separatedBy: "<rect").count - 1, busy + 1)
    XCTAssertEqual(
      svg.components(separatedBy: "<text").count, svg.components(separatedBy: "</text>").count)
    XCTAssert(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
  }

  func testHeap_whenFilledAtRandom_sorts() {
    var draws = SeededDraws(seed: 5)
    let values = (0..<1_000).map { _ in draws.next() % 100 }
    var heap = Heap<UInt64>(<)
    for value in values { heap.push(value) }
    var sorted: [UInt64] = []
    while let value = heap.pop() { sorted.append(value) }
    XCTAssertEqual(sorted, values.sorted())
  }
}
