import Dispatch
import XCTest

@testable import TelemetrySDK

/// What need not run at once is gathered, and still never comes after what was asked for later.
final class DispatchExecutorTests: XCTestCase {
  private let executor = DispatchExecutor(label: "test")
  private let order = Guarded<[String]>([])

  private func note(_ name: String) -> @Sendable () -> Void {
    { [order] in order.withLock { $0.append(name) } }
  }

  func testSoon_whenWorkFollowsAtOnce_comesBeforeIt() {
    let done = expectation(description: "ran")
    executor.soon(note("soon"))
    executor.soon(note("soon too"))
    executor.async(note("at once"))
    executor.async { done.fulfill() }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(order.withLock { $0 }, ["soon", "soon too", "at once"])
  }

  func testSoon_whenNothingFollows_comesByItself() {
    let done = expectation(description: "ran")
    executor.soon(note("soon"))
    executor.soon { done.fulfill() }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(order.withLock { $0 }, ["soon"])
  }

  func testSoon_whenAskedForByWorkThatRuns_isNotInline() {
    let done = expectation(description: "ran")
    let (soon, running) = (note("soon"), note("running"))
    executor.async { [executor] in
      executor.soon(soon)
      running()
      executor.async { done.fulfill() }
    }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(order.withLock { $0 }, ["running", "soon"])
  }
}
