import Foundation
import JSONText

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a device's stream brings.
enum DeviceStreamEvent: Sendable {
  case message(JSONValue)
  /// The same as its message, from a device that needs no lines.
  case idle(DeviceIdle)
  /// The stream is at its end; so many bytes of a torn last line were ignored.
  case ended(tornBytes: Int)
  /// The device does not keep to the protocol.
  case broken(String)
}

/// One life of a device process, as the runner holds it: started, talked to, killed, reaped.
///
/// Thread safe: triggers kill from the server's threads.
final class DeviceProcess: Sendable {
  private enum Life { case alive, dead, reaped(ChildEnd) }

  let pid: pid_t
  /// The runner's end of the bridge for intercepted requests; -1 without one. Owned by the bridge.
  let bridge: Int32
  private let requests: Int32
  private let replies: Int32
  private let life = Guarded(Life.alive)
  private let isDrained = Guarded(false)

  /// Starts a device. `onEvent` is called on the reading thread, in the order of the stream.
  init(
    executable: String, logFile: String, withBridge: Bool,
    onEvent: @escaping @Sendable (DeviceStreamEvent) -> Void
  ) throws {
    let requestPair = try SystemCalls.socketPair()
    let replyPair = try SystemCalls.socketPair()
    var descriptors = [
      (source: requestPair.theirs, number: DeviceMessage.requestDescriptor),
      (source: replyPair.theirs, number: DeviceMessage.replyDescriptor),
    ]
    var bridge: Int32 = -1
    if withBridge {
      let pair = try SystemCalls.socketPair()
      bridge = pair.ours
      descriptors.append((source: pair.theirs, number: DeviceMessage.bridgeDescriptor))
    }
    defer { for descriptor in descriptors { SystemCalls.close(descriptor.source) } }
    let child = ChildProcess(
      executable: executable, arguments: ["device"] + (withBridge ? ["--bridge"] : []),
      descriptors: descriptors, logFile: logFile)
    do { pid = try child.spawn() } catch {
      for descriptor in [requestPair.ours, replyPair.ours, bridge] where descriptor >= 0 {
        SystemCalls.close(descriptor)
      }
      throw error
    }
    self.bridge = bridge
    requests = requestPair.ours
    replies = replyPair.ours
    startReading(onEvent)
  }

  private func startReading(_ onEvent: @escaping @Sendable (DeviceStreamEvent) -> Void) {
    let thread = Thread { [replies, isDrained] in
      var splitter = LineSplitter()
      while true {
        let bytes = SystemCalls.read(replies)
        guard !bytes.isEmpty else { break }
        for line in splitter.take(bytes) {
          do { onEvent(.message(try JSONValue.parse(line))) } catch {
            onEvent(.broken("no JSON line: \(error)"))
          }
        }
        if splitter.isOverlong {
          onEvent(.broken("a line of more than \(DeviceMessage.maxLineBytes) bytes"))
          break
        }
      }
      SystemCalls.close(replies)
      isDrained.withLock { $0 = true }
      onEvent(.ended(tornBytes: splitter.tornBytes))
    }
    thread.start()
  }

  /// Hands over one request. Throws where the device is gone.
  func send(_ request: JSONObject) throws {
    try SystemCalls.send(requests, DeviceMessage.line(request))
  }

  /// SIGKILL, and back when the process is dead. Any thread, any number of times.
  func kill() {
    life.withLock { life in
      guard case .alive = life else { return }
      SystemCalls.sigkill(pid)
      SystemCalls.awaitDeath(pid)
      life = .dead
    }
  }

  /// Waits for the end of the process and reaps it, once; closes the request channel.
  @discardableResult
  func reap() -> ChildEnd {
    let end = life.withLock { life -> ChildEnd in
      if case .reaped(let end) = life { return end }
      SystemCalls.close(requests)
      let end = SystemCalls.reap(pid)
      life = .reaped(end)
      return end
    }
    return end
  }

  /// Whether the reading thread has come to the end of the stream.
  func awaitDrained(seconds: Double) -> Bool {
    isDrained.wait(seconds: seconds) { $0 ? true : nil } ?? false
  }
}
