import Foundation
import JSONText
import TelemetrySDK

/// Events as an app would record them.
struct Recordings {
  var source: String
  /// Halves from different days: one to learn a dictionary from, one to measure.
  var learning: [JSONValue] = []
  var measured: [JSONValue] = []
  var count: Int { measured.count }

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
      source: "two days of a phone", learning: days[0].enumerated().map(event),
      measured: days[1].enumerated().map(event))
  }

  private static func madeUp() -> Recordings {
    let screens = ["Orders", "OrderDetails", "Customer", "Photo", "Signature", "Route", "Settings"]
    var state: UInt64 = 7
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let all = (0..<2_000).map { number -> JSONValue in
      let data: JSONValue = [
        "screen": .string(screens[next(7)]), "previous": .string(screens[next(7)]),
        "durationMs": .number(next(20_000)), "itemCount": .number(next(40)),
        "orderId": .string("A-2026-\(100_000 + next(900_000))"), "offline": .bool(next(3) == 0),
        "battery": .number(JSONNumber(Double(next(100)) / 100) ?? JSONNumber(0)),
        "retry": .number(next(3)),
      ]
      return event(number, ["data": data, "metadata": ["key": "navigation"]])
    }
    return Recordings(
      source: "made up", learning: Array(all[..<1_000]), measured: Array(all[1_000...]))
  }

  /// The five members of every event, around one entry of a recording.
  private static func event(_ number: Int, _ entry: JSONValue) -> JSONValue {
    let id = EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 1))
    let text = String(1_000 + number % 9_000)
    return [
      "id": .string(id.description), "ts": .string("2026-05-04T09:15:02.\(text.suffix(3))Z"),
      "type": entry["metadata"]?["key"] ?? "event", "payload": entry["data"] ?? [:],
      "sessionId": "5e551011-0000-4000-8000-000000000000",
    ]
  }
}
