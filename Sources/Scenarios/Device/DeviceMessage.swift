import JSONText

/// The lines between runner and device: one JSON object each.
///
/// Requests carry a number `n` and what to `do`; the reply repeats the number. Everything else a
/// device says has an `event` instead: `requestStarted`, `idle`, `diagnostic`, `flushed`.
package enum DeviceMessage {
  /// The device reads requests here.
  static let requestDescriptor: Int32 = 3
  /// The device writes replies and events here.
  static let replyDescriptor: Int32 = 4
  /// Intercepted HTTP requests go through here in the `urlprotocol` lane.
  static let bridgeDescriptor: Int32 = 5
  /// Longest line either side takes; a longer one means that the stream is broken.
  static let maxLineBytes = 16_000_000
  /// Header that names a request: `<incarnation>.<number>`.
  package static let requestHeader = "X-Workbench-Request"

  static func line(_ object: JSONObject) -> [UInt8] {
    JSONWriter.bytes(.object(object)) + [0x0a]
  }
}

/// How a device names its requests: `3.7` is the seventh of the third incarnation.
enum RequestName {
  /// Zeroes where the name is another one.
  static func parts(_ name: String) -> (incarnation: Int, number: Int) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let incarnation = parts[0], let number = parts[1] else { return (0, 0) }
    return (incarnation, number)
  }
}

/// What a device says when it has no runnable work left.
package struct DeviceIdle: Sendable, Equatable {
  /// The last request it has carried out.
  package var after: Int64
  /// Scenario time of its next timer, nanoseconds; nil without one.
  package var nextDueNs: Int64?
  /// Names of the requests it waits for.
  package var inFlight: [String]

  package init(after: Int64, nextDueNs: Int64?, inFlight: [String]) {
    self.after = after
    self.nextDueNs = nextDueNs
    self.inFlight = inFlight
  }

  /// Reads the event; nil where it is another one.
  package init?(_ message: JSONValue) {
    guard case .string("idle")? = message["event"], let after = message["after"]?.int64Value else {
      return nil
    }
    self.init(
      after: after, nextDueNs: message["nextDue"]?.int64Value,
      inFlight: (message["inFlight"]?.arrayValue ?? []).compactMap(\.stringValue))
  }

  package var message: JSONObject {
    [
      "event": "idle", "after": .number(JSONNumber(after)),
      "nextDue": nextDueNs.map { .number(JSONNumber($0)) } ?? .null,
      "inFlight": .array(inFlight.map { .string($0) }),
    ]
  }
}

/// Cuts a byte stream into lines. A last line without its end is kept apart: it is torn.
struct LineSplitter {
  private var rest: [UInt8] = []

  /// Complete lines, without their ends.
  mutating func take(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: 0x0a) {
      lines.append(rest + bytes[start..<end])
      rest = []
      start = end + 1
    }
    rest += bytes[start...]
    return lines
  }

  /// Bytes after the last line's end.
  var tornBytes: Int { rest.count }
  var isOverlong: Bool { rest.count > DeviceMessage.maxLineBytes }
}
