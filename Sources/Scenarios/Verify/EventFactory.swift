import JSONText

/// Makes events whose ids and sessions carry one run's prefix, so that they can be found and
/// deleted on the target, and never meet those of another run.
struct EventFactory {
  /// Eight hexadecimal digits, the first ones of every id of the run.
  let run: String
  private let middle: String
  private var counter: UInt64 = 0
  /// Milliseconds since 1970 of "now", read once.
  let startMs: Int64

  /// `random` gives the bytes that make the run unique.
  init(random: [UInt8], startMs: Int64) {
    let digits = (random + [UInt8](repeating: 0, count: 8)).prefix(8).map { byte -> String in
      let text = String(byte, radix: 16)
      return text.count < 2 ? "0" + text : text
    }
    run = digits[0] + digits[1] + digits[2] + digits[3]
    // Version 4, variant 10: what is random stays random, the rest says what it is (RFC 9562).
    middle =
      "\(digits[4])\(digits[5])-4\(digits[6])0-a\(digits[7])0"
    self.startMs = startMs
  }

  mutating func id() -> String {
    counter += 1
    let tail = String(counter, radix: 16)
    return "\(run)-\(middle)-\(String(repeating: "0", count: 12 - tail.count))\(tail)"
  }

  var session: String { "\(run)-\(middle)-5e5510000000" }

  mutating func event(
    type: String = "navigation", payload: JSONValue = ["screen": "Verify", "ms": 128],
    atMs: Int64? = nil
  ) -> JSONValue {
    let ts = WireTime.text(ms: atMs ?? startMs)
    return [
      "id": .string(id()), "ts": .string(ts), "type": .string(type), "payload": payload,
      "sessionId": .string(session),
    ]
  }

  mutating func events(_ count: Int) -> [JSONValue] { (0..<count).map { _ in event() } }
}

/// Timestamps as the wire has them: UTC, milliseconds, ASCII digits.
enum WireTime {
  static func text(ms: Int64) -> String {
    let day = Int(floorDivide(ms, 86_400_000))
    let rest = Int(ms - Int64(day) * 86_400_000)
    let (year, month, date) = civil(day)
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(date, 2))T"
      + "\(pad(rest / 3_600_000, 2)):\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1_000 % 60, 2))"
      + ".\(pad(rest % 1_000, 3))Z"
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
    value >= 0 ? value / by : -((-value + by - 1) / by)
  }

  private static func pad(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// Days since 1970-01-01 as a Gregorian date, by eras of 400 years.
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension JSONValue {
  /// An event's id, where it has one.
  var eventID: String { self["id"]?.stringValue ?? "" }
}
