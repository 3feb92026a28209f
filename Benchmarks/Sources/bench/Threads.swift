import Dispatch
import Foundation

/// Runs the body on so many threads at a time, and waits for all. `concurrentPerform` takes no more
/// threads than there are cores: its "callers" would stand in a line.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
  let group = DispatchGroup()
  for _ in 0..<count {
    group.enter()
    Thread {
      body()
      group.leave()
    }.start()
  }
  group.wait()
}
