#if os(macOS) || os(Linux)
  import JSONText

  /// What is stored is what was sent.
  enum FidelityChecks {
    static let all = [stored, unicodeStored, numbersStored]

    /// Text that lossy servers change: a lone accent, joined emoji, right to left, line
    /// separators, the highest plane, and an escaped U+0000.
    static let unicode: JSONValue = [
      "text": .string(
        "e\u{301} \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{5E9}\u{5DC}\u{5D5}\u{5DD} "
          + "\u{2028}\u{2029} \u{10FFFD} \u{0} \"\\/ \u{1F354}000")
    ]

    /// Numbers that do not survive a double.
    static let numbers: JSONValue = [
      "max": .number(JSONNumber(Int64.max)), "min": .number(JSONNumber(Int64.min)),
      "unsigned": .number(JSONNumber(UInt64.max)),
      "odd": .number(JSONNumber(Int64(9_007_199_254_740_993))), "small": 0.0000001,
    ]

    private static let stored = ContractCheck(
      "storage.accepted", "What was accepted is stored, once.",
      why: "A client deletes its rows on 2xx: there is no second copy.", needs: [.observer]
    ) { run in
      let events = run.events(3)
      try run.accept(run.batch(events))
      return try run.storedOnce(events.map(\.eventID))
    }

    private static let unicodeStored = ContractCheck(
      "storage.unicode", "Text is stored scalar by scalar as it was sent.",
      why: "Names and messages in other scripts are the reason why somebody reads an event.",
      needs: [.observer]
    ) { run in
      let event = run.event(payload: unicode)
      try run.accept(run.batch([event]))
      return try compare(run, event.eventID, payload: unicode)
    }

    private static let numbersStored = ContractCheck(
      "storage.numbers", "Integers of 64 bits are stored to the last digit.",
      why: "An identifier that went through a double names another record.", needs: [.observer]
    ) { run in
      let event = run.event(payload: numbers)
      try run.accept(run.batch([event]))
      return try compare(run, event.eventID, payload: numbers)
    }

    static func compare(_ run: CheckRun, _ id: String, payload: JSONValue) throws -> Finding {
      switch try run.lookForStored(id) {
      case .absent: return .fail("\(id) was acknowledged but is not stored")
      case .unclear(let why): return .notObservable(why)
      case .stored(_, nil): return .notObservable("the observer does not show the content")
      case .stored(_, let event?):
        let got = event["payload"] ?? .null
        guard isSame(got, payload) else {
          return .fail("sent \(payload), stored \(got)")
        }
        return .pass("the payload is as it was sent")
      }
    }

    /// Integers are compared to the last digit, whatever their spelling.
    private static func isSame(_ left: JSONNumber, _ right: JSONNumber) -> Bool {
      if left == right { return true }
      if let first = left.int64, let second = right.int64 { return first == second }
      if let first = left.uint64, let second = right.uint64 { return first == second }
      let isFraction = left.uint64 == nil && left.int64 == nil && right.uint64 == nil
      return isFraction && right.int64 == nil && left.double == right.double
    }

    /// Equal but for the order of members and the spelling of numbers, which JSON leaves open.
    static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
      switch (left, right) {
      case (.object(let first), .object(let second)):
        return first.count == second.count
          && first.allSatisfy { member in
            second[member.key].map { isSame(member.value, $0) } ?? false
          }
      case (.array(let first), .array(let second)):
        return first.count == second.count && zip(first, second).allSatisfy { isSame($0, $1) }
      case (.number(let first), .number(let second)): return isSame(first, second)
      default: return left == right
      }
    }
  }
#endif
