import Dispatch
import Foundation

/// Somebody who waits for a descriptor. Called on the loop's thread only.
protocol PollTarget: AnyObject {
  func ready(_ readiness: Readiness)
}

/// One thread that waits for all descriptors of a server and runs what is posted to it.
///
/// Guard: `jobs` lies in its box; everything else belongs to the loop's thread.
final class EventLoop: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  private struct Slot {
    var generation: UInt32
    var target: (any PollTarget)?
  }

  private let poller: Poller
  private let jobs = Guarded<(queue: [Job], isOver: Bool)>(([], false))
  private let over = DispatchSemaphore(value: 0)
  private let identity = ThreadIdentity()
  private var slots: [Slot] = []
  private var runs = true

  /// Where received bytes land before they are parsed; shared by all connections.
  let scratch: UnsafeMutableRawBufferPointer
  /// Where answers are put together before they are sent; shared by all connections.
  var output: [UInt8] = []

  private static let scratchBytes = 131_072
  private static let maxOutputBytes = 1_048_576

  init() throws {
    poller = try Poller()
    scratch = .allocate(byteCount: EventLoop.scratchBytes, alignment: 16)
    output.reserveCapacity(16_384)
  }

  deinit { scratch.deallocate() }

  /// Ends a loop whose thread was never started; later posts are refused.
  func abandon() { finish() }

  /// Starts the thread.
  func start() {
    let thread = Thread { [self] in
      identity.adopt()
      while runs {
        poller.wait { token, readiness in self.deliver(token, readiness) }
        runJobs()
      }
      finish()
    }
    thread.name = "mock-batch-server"
    thread.start()
  }

  /// Gives back what an unusually large answer took.
  func trimOutput() {
    if output.capacity > EventLoop.maxOutputBytes { output = [] }
  }

  /// Whether the caller is on the loop's thread.
  var isCurrent: Bool { identity.isCurrent }

  /// Runs `job` on the loop's thread, later. False when the loop is over: the job will not run.
  @discardableResult
  func post(_ job: @escaping Job) -> Bool {
    let state = jobs.access { jobs -> (wake: Bool, accepted: Bool) in
      guard !jobs.isOver else { return (false, false) }
      jobs.queue.append(job)
      return (jobs.queue.count == 1, true)
    }
    if state.wake { poller.wake() }
    return state.accepted
  }

  /// Runs `job` on the loop's thread and waits for it; at once when already there.
  func run(_ job: @escaping Job) {
    guard !isCurrent else { return job() }
    let done = DispatchSemaphore(value: 0)
    let accepted = post {
      job()
      done.signal()
    }
    if accepted { done.wait() }
  }

  /// Ends the thread behind the jobs posted so far, and waits for it unless called from it.
  func stop() {
    post { [self] in runs = false }
    guard !isCurrent else { return }
    over.wait()
    over.signal()
  }

  private func runJobs() {
    let due = jobs.access { jobs -> [Job] in
      defer { jobs.queue = [] }
      return jobs.queue
    }
    for job in due { job() }
  }

  private func finish() {
    let left = jobs.access { jobs -> [Job] in
      jobs.isOver = true
      defer { jobs.queue = [] }
      return jobs.queue
    }
    for job in left { job() }
    poller.close()
    identity.forget()
    over.signal()
  }

  // MARK: Descriptors (loop's thread)

  /// Watches a descriptor. The generation in the token keeps a readiness that was meant for a
  /// closed descriptor from reaching the one that got its number.
  func add(_ socket: Socket, _ target: any PollTarget, _ interest: Interest) -> Bool {
    let index = Int(socket.descriptor)
    guard index >= 0 else { return false }
    while slots.count <= index { slots.append(Slot(generation: 0, target: nil)) }
    slots[index].generation &+= 1
    slots[index].target = target
    return poller.add(socket.descriptor, token: token(index), interest)
  }

  func change(_ socket: Socket, _ interest: Interest) {
    let index = Int(socket.descriptor)
    guard index >= 0, index < slots.count else { return }
    _ = poller.change(socket.descriptor, token: token(index), interest)
  }

  /// Stops watching; must come before the descriptor is closed.
  func remove(_ socket: Socket) {
    let index = Int(socket.descriptor)
    guard index >= 0, index < slots.count else { return }
    poller.remove(socket.descriptor)
    slots[index].generation &+= 1
    slots[index].target = nil
  }

  private func token(_ index: Int) -> UInt64 {
    UInt64(slots[index].generation) << 32 | UInt64(index)
  }

  private func deliver(_ token: UInt64, _ readiness: Readiness) {
    let index = Int(token & 0xffff_ffff)
    guard index < slots.count, slots[index].generation == UInt32(token >> 32) else { return }
    slots[index].target?.ready(readiness)
  }
}

/// Which thread a loop runs on.
private final class ThreadIdentity: Sendable {
  private let thread = Guarded<Thread?>(nil)
  func adopt() {
    let current = Thread.current
    thread.access { $0 = current }
  }
  /// Lets the thread go, which holds the loop.
  func forget() { thread.access { $0 = nil } }
  var isCurrent: Bool {
    let current = Thread.current
    return thread.access { $0 === current }
  }
}
