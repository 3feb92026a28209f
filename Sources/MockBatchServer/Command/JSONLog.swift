import Dispatch
import Foundation
import JSONText

/// JSON log lines, written by a thread of their own, so that a slow reader never holds up the
/// server. Lines that do not fit the queue are dropped and counted in the next line.
final class JSONLog: Sendable {
  private struct State {
    var lines: [String] = []
    /// Of all lines together.
    var bytes = 0
    var dropped = 0
  }

  private static let maxQueuedLines = 10_000
  private static let maxQueuedBytes = 16_000_000
  private let state = Guarded(State())
  private let arrived = DispatchSemaphore(value: 0)
  private let descriptor: Int32

  init(descriptor: Int32) {
    self.descriptor = descriptor
    let thread = Thread { [self] in
      while true {
        arrived.wait()
        writeQueued()
      }
    }
    thread.name = "mock-batch-server.log"
    thread.start()
  }

  /// Queues a line for an event.
  func note(_ event: EngineEvent, wallMs: Int64) {
    let (name, details) = event.kind.described
    var object: JSONObject = [
      "time": .string(HTTPDate.text(seconds: wallMs / 1_000)), "ms": .number(JSONNumber(wallMs)),
      "sequence": .number(JSONNumber(event.sequence)), "event": .string(name),
    ]
    if event.request > 0 { object["request"] = .number(JSONNumber(event.request)) }
    for (key, value) in details { object[key] = value }
    let line = String(decoding: JSONWriter.bytes(.object(object)), as: UTF8.self) + "\n"
    let added = state.access { state -> Bool in
      guard state.lines.count < JSONLog.maxQueuedLines,
        state.bytes + line.utf8.count <= JSONLog.maxQueuedBytes
      else {
        state.dropped += 1
        return false
      }
      state.lines.append(line)
      state.bytes += line.utf8.count
      return true
    }
    if added { arrived.signal() }
  }

  /// Writes what is queued; the last call of a server that ends.
  func writeQueued() {
    let (lines, dropped) = state.access { state -> ([String], Int) in
      defer { state = State() }
      return (state.lines, state.dropped)
    }
    guard !lines.isEmpty || dropped > 0 else { return }
    var text = lines.joined()
    if dropped > 0 { text += "{\"event\":\"logLinesDropped\",\"count\":\(dropped)}\n" }
    StandardStreams.write(text, to: descriptor)
  }
}
