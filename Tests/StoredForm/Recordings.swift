import Foundation
import JSONText
import TelemetrySDK

/// One event as an app would record it.
struct Recording {
  var id: EventID
  var wallMs: Int64
  var type: String
  var payload: JSONObject
  var session: EventID

  /// As it goes over the wire.
  var json: [UInt8] {
    EventEncoder.json(
      id: id, wallMs: wallMs, type: type, payload: payload, session: session.description)
  }
}

/// Events of two days.
struct Recordings {
  var source: String
  /// Halves from different days: one to learn a dictionary from, one to measure.
  var learning: [Recording] = []
  var measured: [Recording] = []
  var count: Int { measured.count }

  /// A pause after which an app's events belong to another session.
  private static let sessionPauseMs: Int64 = 1_800_000

  static func load(_ folder: String?) -> Recordings {
    let days = (1...2).compactMap { day -> [JSONValue]? in
      guard let folder,
        let bytes = FileManager.default.contents(atPath: folder + "/phone-day-\(day).json")
      else { return nil }
      // try? because recordings that cannot be read are the same as none: events are made up.
      return (try? JSONValue.parse([UInt8](bytes)))?.arrayValue
    }
    guard days.count == 2 else { return madeUp() }
    return Recordings(
      source: "two days of a phone", learning: events(days[0]), measured: events(days[1]))
  }

  private static func madeUp() -> Recordings {
    let screens = ["Orders", "OrderDetails", "Customer", "Photo", "Signature", "Route", "Settings"]
    var state: UInt64 = 7
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var seconds = 1_777_886_102.0
    let all = (0..<2_000).map { _ -> JSONValue in
      seconds += next(50) == 0 ? 7_200 : Double(next(40_000)) / 1_000
      let data: JSONValue = [
        "screen": .string(screens[next(7)]), "previous": .string(screens[next(7)]),
        "durationMs": .number(next(20_000)), "itemCount": .number(next(40)),
        "orderId": .string("A-2026-\(100_000 + next(900_000))"), "offline": .bool(next(3) == 0),
        "battery": .number(JSONNumber(Double(next(100)) / 100) ?? JSONNumber(0)),
        "retry": .number(next(3)),
      ]
      let at = JSONNumber(seconds).map(JSONValue.number) ?? .null
      return ["data": data, "metadata": ["key": "navigation", "write_ts": at]]
    }
    return Recordings(
      source: "made up", learning: events(Array(all[..<1_000])),
      measured: events(Array(all[1_000...])))
  }

  /// Recorded when the entries were written, in sessions that a long pause ends.
  private static func events(_ entries: [JSONValue]) -> [Recording] {
    var session = randomID()
    var lastMs: Int64?
    return entries.map { entry in
      let wallMs = Int64((entry["metadata"]?["write_ts"]?.doubleValue ?? 0) * 1_000)
      if let lastMs, abs(wallMs - lastMs) > sessionPauseMs { session = randomID() }
      lastMs = wallMs
      return Recording(
        id: randomID(), wallMs: wallMs, type: entry["metadata"]?["key"]?.stringValue ?? "event",
        payload: entry["data"]?.objectValue ?? [:], session: session)
    }
  }

  static func randomID() -> EventID {
    EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 1))
  }
}
