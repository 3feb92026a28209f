import Foundation
import XCTest

@testable import TelemetrySDK

final class CallbackTests: XCTestCase {
  /// 200,000 events recorded by a thread with the smallest stack a phone gives: a callback that
  /// gained a frame each time it was read would overflow it.
  func testCallback_whenReadOftenInItsLock_staysAsShallowAsAtFirst() {
    let calls = Guarded(0)
    let held = Guarded<Callback<Int>?>(Callback { step in calls.withLock { $0 += step } })
    let done = expectation(description: "called")
    let thread = Thread {
      for _ in 0..<200_000 { _ = held.withLock { $0 } }
      held.withLock { $0 }?.call(1)
      done.fulfill()
    }
    thread.stackSize = 512 * 1_024
    thread.start()
    wait(for: [done], timeout: 60)
    XCTAssertEqual(calls.withLock { $0 }, 1)
  }
}
