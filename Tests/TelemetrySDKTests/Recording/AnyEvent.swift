import JSONText

@testable import TelemetrySDK

/// Makes events of every kind, the unlikely ones too.
struct AnyEvent {
  struct Event {
    var id: EventID
    var wallMs: Int64
    var type: String
    var payload: JSONObject
    var session: String

    /// The reference: what goes over the wire.
    var json: [UInt8] {
      EventEncoder.json(id: id, wallMs: wallMs, type: type, payload: payload, session: session)
    }

    /// What is stored.
    var content: EventContent? {
      EventContent(id: id, wallMs: wallMs, type: type, payload: payload, maxDepth: 64)?
        .finished(session: session)
    }
  }

  private var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  mutating func next() -> Event {
    Event(
      id: EventID(bytes: sixteen()),
      wallMs: below(40) == 0
        ? Int64(bitPattern: random.next()) : Int64(below(1 << 42)),
      type: text(), payload: object(levels: below(6)),
      session: below(3) == 0 ? text() : EventID(bytes: sixteen()).description)
  }

  private mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: random.next() >> 1) % bound
  }

  private mutating func sixteen() -> SIMD16<UInt8> {
    unsafeBitCast(SIMD2<UInt64>(random.next(), random.next()), to: SIMD16<UInt8>.self)
  }

  private mutating func object(levels: Int) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<count(levels) { object[text()] = value(levels: levels) }
    return object
  }

  /// Mostly a few, now and then, at the leaves, more than one token can say.
  private mutating func count(_ levels: Int) -> Int {
    switch below(levels == 0 ? 20 : 1_000) {
    case 0: 15 + below(4)
    case 1: 120 + below(20)
    default: below(4)
    }
  }

  private mutating func value(levels: Int) -> JSONValue {
    switch below(levels > 0 ? 8 : 6) {
    case 0: return .null
    case 1: return .bool(below(2) == 0)
    case 2, 3: return .number(number())
    case 4, 5: return .string(text())
    case 6: return .object(object(levels: levels - 1))
    default: return .array((0..<count(levels)).map { _ in value(levels: levels - 1) })
    }
  }

  private mutating func number() -> JSONNumber {
    switch below(5) {
    case 0: return JSONNumber(below(300) - 20)
    case 1: return JSONNumber(Int64(bitPattern: random.next()))
    case 2: return JSONNumber(Double(bitPattern: random.next())) ?? JSONNumber(0)
    case 3: return JSONNumber(Double(below(100_000)) / 100) ?? JSONNumber(0)
    default:
      let digits = String(repeating: "8", count: below(70))
      let texts = ["-0", "0.0", "1E+05", "1.50", "-7e-3", "100", "127", "128", "1\(digits)"]
      return JSONNumber(literal: texts[below(texts.count)]) ?? JSONNumber(0)
    }
  }

  private static let pieces = [
    "a", "screen", "Orders", "\"", "\\", "\u{0}", "\u{1f}", "\n", "\u{7f}", "é", "e\u{301}",
    "\u{2028}", "🍔", "👨‍👩‍👧‍👦", "🇩🇪", "\u{feff}", "\u{10ffff}", "שלום", "0", "/", " ",
  ]

  private mutating func text() -> String {
    switch below(12) {
    case 0: return ""
    case 1: return EventID(bytes: sixteen()).description
    case 2: return EventID(bytes: sixteen()).description.uppercased()
    case 3: return almost(EventID(bytes: sixteen()).description)
    case 4: return Timestamp.text(Int64(below(1 << 44)))
    case 5: return almost(Timestamp.text(Int64(below(1 << 44))))
    case 6:
      let long = below(100) == 0 ? 20_000 : 129
      return String(repeating: "x", count: [46, 47, 48, 127, 128, long][below(6)])
    default: return (0..<below(8)).map { _ in AnyEvent.pieces[below(21)] }.joined()
    }
  }

  /// The same with one character changed: as long, and often no longer what it looks like.
  private mutating func almost(_ text: String) -> String {
    var characters = Array(text.utf8)
    characters[below(characters.count)] = Array("09afAFZTg-:.x".utf8)[below(13)]
    return String(decoding: characters, as: UTF8.self)
  }
}
