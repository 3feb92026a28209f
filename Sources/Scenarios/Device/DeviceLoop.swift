import Foundation
import JSONText

/// What a device does with one request. Called on the loop's thread only.
protocol DeviceCommandHandler: AnyObject {
  func handle(_ command: String, _ arguments: JSONValue) -> JSONObject
  /// Scenario time of the next timer.
  var nextDueNs: Int64? { get }
  /// Names of the requests under way. Read before the executor is asked for work.
  var inFlight: [String] { get }
}

/// The device process: one thread carries out requests and the SDK's work in turn, a second one
/// reads, and the loop says when nothing is left to do.
///
/// The process ends at once when its runner is gone.
final class DeviceLoop: Sendable {
  private struct Inbox {
    var lines: [[UInt8]] = []
    var isWoken = false
  }
  private let inbox = Guarded(Inbox())
  private let executor: ScriptedExecutor

  init(executor: ScriptedExecutor) {
    self.executor = executor
    executor.onWork { [weak self] in self?.wake() }
  }

  /// Makes the loop look again: work may have come, or a request may be over.
  func wake() { inbox.withLock { $0.isWoken = true } }

  private static let mouth = Guarded(DeviceMessage.replyDescriptor)

  /// Writes one line, from any thread. The order of calls is the order of lines.
  static func say(_ object: JSONObject) {
    let line = DeviceMessage.line(object)
    do {
      try mouth.withLock { try SystemCalls.send($0, line) }
    } catch {
      // Nobody listens any more: the runner is gone, and so is the reason to live.
      SystemCalls.exitNow(0)
    }
  }

  func run(_ handler: any DeviceCommandHandler) -> Never {
    startReading()
    var last: DeviceIdle?
    var after: Int64 = 0
    while true {
      executor.runAll()
      if let line = inbox.withLock({ $0.lines.isEmpty ? nil : $0.lines.removeFirst() }) {
        after = carryOut(line, handler)
        continue
      }
      // In this order: a request leaves `inFlight` only after its outcome is queued as work.
      let inFlight = handler.inFlight
      guard executor.isEmpty else { continue }
      let idle = DeviceIdle(after: after, nextDueNs: handler.nextDueNs, inFlight: inFlight)
      if idle != last {
        DeviceLoop.say(idle.message)
        last = idle
      }
      _ = inbox.wait(seconds: nil) { inbox -> Bool? in
        guard inbox.isWoken || !inbox.lines.isEmpty else { return nil }
        inbox.isWoken = false
        return true
      }
    }
  }

  private func carryOut(_ line: [UInt8], _ handler: any DeviceCommandHandler) -> Int64 {
    let message: JSONValue
    do { message = try JSONValue.parse(line) } catch {
      DeviceLoop.say(["event": "protocolError", "text": .string("\(error)")])
      SystemCalls.exitNow(70)
    }
    let number = message["n"]?.int64Value ?? 0
    var reply = handler.handle(message["do"]?.stringValue ?? "", message)
    reply["n"] = .number(JSONNumber(number))
    DeviceLoop.say(reply)
    return number
  }

  private func startReading() {
    let thread = Thread { [inbox] in
      var splitter = LineSplitter()
      while true {
        let bytes = SystemCalls.read(DeviceMessage.requestDescriptor)
        // The runner closed its end or died: nothing of this device matters any more.
        if bytes.isEmpty || splitter.isOverlong { SystemCalls.exitNow(0) }
        let lines = splitter.take(bytes)
        inbox.withLock { $0.lines += lines }
      }
    }
    thread.start()
  }
}
