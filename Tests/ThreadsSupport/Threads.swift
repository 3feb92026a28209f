import Dispatch
import Foundation

/// Runs the body on so many threads at a time, each with its number, and waits for all.
///
/// `concurrentPerform` takes no more threads than there are cores: on two cores sixteen callers
/// would stand in two lines, on one core in a single one.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      body(number)
      group.leave()
    }.start()
  }
  group.wait()
}
