import JSONText

/// What must not be readable in a device's files: the recorded texts, and numbers and times also
/// in the binary forms in which a database could hold them.
package struct SecrecyNeedles: Sendable {
  struct Needle: Sendable, Hashable {
    let bytes: [UInt8]
    /// For the report: what it is, and in which form.
    let what: String
  }

  /// Shorter patterns turn up in random bytes by chance: five bytes in 20 MB once in 50,000
  /// searches.
  static let shortest = 5
  /// More contents than any scenario's variety; later ones are only counted.
  package static let limit = 200_000

  private(set) var needles: [Needle] = []
  /// Contents beyond the limit.
  package private(set) var leftOut = 0
  private var seen: Set<[UInt8]> = []
  /// Short texts whose forms are all in `seen`.
  private var known: Set<String> = []
  /// The same for the literals of numbers.
  private var knownNumbers: Set<String> = []

  package init() {}

  /// How many patterns are looked for.
  package var count: Int { needles.count }

  /// Takes everything in one event as it goes over the wire: type, session, time, and every key,
  /// text and number of the payload. Its id is not secret.
  package mutating func add(event: JSONValue) {
    guard let members = event.objectValue else { return }
    for (key, value) in members where key != "id" {
      if key == "payload" {
        add(value)
      } else if let text = value.stringValue {
        add(text: text)
      }
    }
  }

  /// Takes a recorded value with everything in it.
  package mutating func add(_ value: JSONValue) {
    var pending = [value]
    while let value = pending.popLast() {
      switch value {
      case .null, .bool: break
      case .string(let text): add(text: text)
      case .number(let number): add(number: number)
      case .array(let values): pending += values
      case .object(let members):
        for (key, value) in members {
          add(text: key)
          pending.append(value)
        }
      }
    }
  }

  /// A longer text is looked for by its beginning: databases break it over pages, where no search
  /// for the whole would ever find it.
  private static let longest = 256

  /// Takes a text: in UTF-8, as it stands in JSON, in UTF-16, and a UUID as its sixteen bytes.
  package mutating func add(text whole: String) {
    // Field names and fixed values come with every event.
    if whole.utf8.count <= SecrecyNeedles.longest, !known.insert(whole).inserted { return }
    let isLong = whole.utf8.count > SecrecyNeedles.longest
    let text = isLong ? String(whole.prefix(SecrecyNeedles.longest / 4)) : whole
    let shown = "text \"\(text.count > 40 ? text.prefix(40) + "…" : text)\""
    let plain = Array(text.utf8)
    add(plain, shown)
    add(Array(JSONWriter.bytes(.string(text)).dropFirst().dropLast()), shown + " as in JSON")
    if plain.count >= SecrecyNeedles.shortest {
      add(
        text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }, shown + " in UTF-16"
      )
    }
    if let uuid = SecrecyNeedles.uuid(plain) { add(uuid, shown + " as sixteen bytes") }
  }

  /// Takes a moment, in milliseconds since 1970: as a number, in seconds as a double, and as the
  /// texts in which a column or a log could hold it, down to the minute.
  package mutating func add(timeMs: Int64) {
    let text = WireTime.text(ms: timeMs)
    let day = text.prefix(10)
    let minute = text.dropFirst(11).prefix(5)
    add(text: text)
    add(text: "\(day)T\(minute)")
    add(text: "\(day) \(minute)")
    add(text: String(timeMs))
    add(integer: timeMs, "time \(timeMs)")
    add(double: Double(timeMs), "time \(timeMs)")
    add(double: Double(timeMs) / 1000, "time \(timeMs) in seconds")
  }

  private mutating func add(number: JSONNumber) {
    guard knownNumbers.insert(number.literal).inserted else { return }
    add(Array(number.literal.utf8), "number \(number.literal)")
    if let integer = number.int64 { add(integer: integer, "number \(number.literal)") }
    add(double: number.double, "number \(number.literal)")
  }

  /// An integer in both byte orders, without the leading bytes that only carry the sign: databases
  /// store no more than they must.
  private mutating func add(integer: Int64, _ what: String) {
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: integer >> Int64(56 - $0 * 8)) }
    let filler: UInt8 = integer < 0 ? 0xff : 0
    while bytes.count > 1, bytes[0] == filler, bytes[1] >> 7 == filler >> 7 { bytes.removeFirst() }
    addNumeric(bytes, what + " as a big-endian integer")
    addNumeric(bytes.reversed(), what + " as a little-endian integer")
  }

  private mutating func add(double: Double, _ what: String) {
    guard double.isFinite else { return }
    let bits = double.bitPattern
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - $0 * 8)) }
    addNumeric(bytes, what + " as a big-endian double")
    addNumeric(bytes.reversed(), what + " as a little-endian double")
  }

  /// Numbers made of few different bytes stand in every file: a search for them says nothing.
  private mutating func addNumeric(_ bytes: [UInt8], _ what: String) {
    guard bytes.filter({ $0 != 0 && $0 != 0xff }).count >= SecrecyNeedles.shortest else { return }
    add(bytes, what)
  }

  private mutating func add(_ bytes: [UInt8], _ what: String) {
    guard bytes.count >= SecrecyNeedles.shortest, !seen.contains(bytes) else { return }
    guard needles.count < SecrecyNeedles.limit else {
      leftOut += 1
      return
    }
    seen.insert(bytes)
    needles.append(Needle(bytes: bytes, what: what))
  }

  /// The sixteen bytes of a UUID's text form.
  private static func uuid(_ text: [UInt8]) -> [UInt8]? {
    guard text.count == 36 else { return nil }
    var nibbles: [UInt8] = []
    for (index, byte) in text.enumerated() where ![8, 13, 18, 23].contains(index) {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      nibbles.append(UInt8(digit))
    }
    return stride(from: 0, to: 32, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
  }
}
