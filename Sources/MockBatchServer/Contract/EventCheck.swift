import JSONText

/// Why one event does not follow the format, with the pointer inside the event.
struct EventFault: Error {
  let detail: String
  let pointer: String
  let offset: Int
}

/// The format of one event: exactly `id`, `ts`, `type`, `payload`, `sessionId`.
enum EventCheck {
  private static let allMembers = 31

  /// What a good event boils down to.
  struct Good {
    var key: EventKey
    var content: UInt64
    var type: JSONCursor
  }

  static func check(_ event: JSONCursor) throws -> Good {
    guard event.kind == .object else {
      throw EventFault(
        detail: "found \(event.kind), expected an object", pointer: "", offset: event.offset)
    }
    var seen = 0
    var key = EventKey(high: 0, low: 0)
    var content: UInt64 = 0
    var type = event
    var item = event.firstChild
    while let name = item {
      let value = name.valueOfKey
      let bit: Int
      switch withText(name, member) {
      case 1:
        bit = 1
        key = try id(value)
      case 2:
        bit = 2
        try timestamp(value)
        content &+= ContentHash.string(value) &* 3
      case 4:
        bit = 4
        try text(value, "type")
        type = value
        content &+= ContentHash.string(value) &* 5
      case 8:
        bit = 8
        guard value.kind == .object else { throw wrongKind(value, "an object", "payload") }
        content &+= ContentHash.hash(value) &* 7
      case 16:
        bit = 16
        try text(value, "sessionId")
        content &+= ContentHash.string(value) &* 11
      default: throw unknown(name)
      }
      seen |= bit
      item = value.next(in: event)
    }
    guard seen == allMembers else { throw missing(seen, event) }
    return Good(key: key, content: KeyedDraw.mix(content), type: type)
  }

  /// Lends the text of a string; escapes say the same as the characters they stand for.
  @inline(__always)
  private static func withText<Result>(
    _ value: JSONCursor, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if let plain = value.plainBytes { return body(plain) }
    var text = value.string ?? ""
    return text.withUTF8(body)
  }

  /// The bit of a member's name; 0 for unknown ones.
  @inline(__always)
  private static func member(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    switch name.count {
    case 2:
      if name[0] == UInt8(ascii: "i"), name[1] == UInt8(ascii: "d") { return 1 }
      if name[0] == UInt8(ascii: "t"), name[1] == UInt8(ascii: "s") { return 2 }
      return 0
    case 4: return equals(name, "type") ? 4 : 0
    case 7: return equals(name, "payload") ? 8 : 0
    case 9: return equals(name, "sessionId") ? 16 : 0
    default: return 0
    }
  }

  @inline(__always)
  private static func equals(_ name: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    for at in 0..<name.count where name[at] != text.utf8Start[at] { return false }
    return true
  }

  private static func id(_ value: JSONCursor) throws -> EventKey {
    guard value.kind == .string else { throw wrongKind(value, "a string", "id") }
    guard let key = withText(value, { EventKey(ascii: $0) }) else {
      throw EventFault(detail: "not a UUID", pointer: "/id", offset: value.offset)
    }
    return key
  }

  private static func text(_ value: JSONCursor, _ name: String) throws {
    guard value.kind == .string else { throw wrongKind(value, "a string", name) }
    guard value.byteRange.count > 2 else {
      throw EventFault(detail: "an empty string", pointer: "/" + name, offset: value.offset)
    }
  }

  /// `2026-05-04T09:15:02.114Z` and no other form.
  private static func timestamp(_ value: JSONCursor) throws {
    guard value.kind == .string else { throw wrongKind(value, "a string", "ts") }
    guard withText(value, Timestamp.isWellFormed) else {
      throw EventFault(
        detail: "not a UTC time with milliseconds like 2026-05-04T09:15:02.114Z", pointer: "/ts",
        offset: value.offset)
    }
  }

  private static func wrongKind(_ value: JSONCursor, _ expected: String, _ name: String)
    -> EventFault
  {
    EventFault(
      detail: "found \(value.kind), expected \(expected)", pointer: "/" + name,
      offset: value.offset)
  }

  private static func unknown(_ name: JSONCursor) -> EventFault {
    let text = name.string ?? ""
    return EventFault(
      detail: "unknown member; an event has id, ts, type, payload and sessionId",
      pointer: "/" + PlanReader.escaped(text), offset: name.offset)
  }

  private static func missing(_ seen: Int, _ event: JSONCursor) -> EventFault {
    let names = ["id", "ts", "type", "payload", "sessionId"]
    let absent = names.indices.filter { seen & (1 << $0) == 0 }.map { names[$0] }
    return EventFault(
      detail: "missing " + absent.joined(separator: ", "), pointer: "", offset: event.offset)
  }
}

/// The form of an event's time.
enum Timestamp {
  /// Whether the text has the form and names a time that exists in the Gregorian calendar.
  static func isWellFormed(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count == 24 else { return false }
    let raw = UnsafeRawBufferPointer(text)
    // `dddd-dd-`, `ddTdd:dd` and `:dd.dddZ`, the digits as ff.
    let hasForm =
      Timestamp.hasForm(raw, 0, digits: 0xffff_ffff_00ff_ff00, rest: 0x0000_0000_2d00_002d)
      && Timestamp.hasForm(raw, 8, digits: 0xffff_00ff_ff00_ffff, rest: 0x0000_5400_003a_0000)
      && Timestamp.hasForm(raw, 16, digits: 0x00ff_ff00_ffff_ff00, rest: 0x3a00_002e_0000_005a)
    guard hasForm else { return false }
    let year = number(text, 0, 4)
    let month = number(text, 5, 2)
    let day = number(text, 8, 2)
    guard month >= 1, month <= 12, day >= 1, day <= days(of: month, in: year) else { return false }
    return number(text, 11, 2) < 24 && number(text, 14, 2) < 60 && number(text, 17, 2) < 60
  }

  /// Whether eight bytes are decimal digits where `digits` is ff, and `rest` elsewhere.
  @inline(__always)
  private static func hasForm(
    _ raw: UnsafeRawBufferPointer, _ at: Int, digits: UInt64, rest: UInt64
  ) -> Bool {
    let word = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    let upper = word & digits & 0xf0f0_f0f0_f0f0_f0f0
    let excess = ((word & 0x0f0f_0f0f_0f0f_0f0f) + 0x0606_0606_0606_0606) & digits
    return upper == digits & 0x3030_3030_3030_3030 && excess & 0x1010_1010_1010_1010 == 0
      && word & ~digits == rest
  }

  @inline(__always)
  private static func number(_ text: UnsafeBufferPointer<UInt8>, _ from: Int, _ count: Int) -> Int {
    var value = 0
    for at in from..<from + count { value = value * 10 + Int(text[at] &- 0x30) }
    return value
  }

  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }
}
