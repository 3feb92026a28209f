import JSONText

/// Writes the compact form of an event and counts on the way what its JSON would have.
struct CompactWriter {
  private(set) var bytes: [UInt8] = []
  private(set) var jsonBytes = 0

  init() {
    bytes.reserveCapacity(CompactWriter.expectedBytes)
    bytes.append(CompactForm.form)
  }
  private static let expectedBytes = 384

  /// Appends the session to an event that was written without. Returns the bytes of its JSON.
  static func finish(_ bytes: inout [UInt8], session: String) -> Int {
    var session = session
    return session.withUTF8 { text in
      if let found = CompactWriter.uuid(text), !found.isUpper {
        bytes[0] |= CompactForm.uuidSession
        CompactWriter.append(found.id, to: &bytes)
      } else {
        CompactWriter.append(length: text.count, to: &bytes)
        bytes.append(contentsOf: text)
      }
      return JSONWriter.length(ofString: text)
    }
  }

  // MARK: Values

  /// False where arrays and objects are nested deeper than `levels`. Goes no deeper than that, so
  /// that any value is safe on a small stack.
  private mutating func append(_ value: JSONValue, levels: Int) -> Bool {
    switch value {
    case .null:
      bytes.append(CompactForm.null)
      jsonBytes += 4
    case .bool(let flag):
      bytes.append(flag ? CompactForm.true : CompactForm.false)
      jsonBytes += flag ? 4 : 5
    case .number(let number): append(number)
    case .string(let text): append(text)
    case .array(let elements): return append(elements, levels: levels)
    case .object(let members): return append(members, levels: levels)
    }
    return true
  }

  private mutating func append(_ elements: [JSONValue], levels: Int) -> Bool {
    guard levels > 0 else { return false }
    head(
      CompactForm.array, short: CompactForm.shortArrays, long: CompactForm.longArray,
      elements.count)
    jsonBytes += 2 + max(0, elements.count - 1)
    for element in elements {
      guard append(element, levels: levels - 1) else { return false }
    }
    return true
  }

  mutating func append(_ object: JSONObject, levels: Int) -> Bool {
    guard levels > 0 else { return false }
    head(
      CompactForm.object, short: CompactForm.shortObjects, long: CompactForm.longObject,
      object.count)
    // Brackets, a colon each, and commas between.
    jsonBytes += 2 + object.count + max(0, object.count - 1)
    for member in object.members {
      appendKey(member.key)
      guard append(member.value, levels: levels - 1) else { return false }
    }
    return true
  }

  // MARK: Strings and numbers

  /// A key, or the event's type: seldom anything but a word.
  mutating func appendKey(_ text: String) {
    var text = text
    text.withUTF8 { plain($0) }
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { text in
      switch text.count {
      case 36:
        if let (id, isUpper) = CompactWriter.uuid(text) {
          bytes.append(isUpper ? CompactForm.upperUUID : CompactForm.uuid)
          CompactWriter.append(id, to: &bytes)
          jsonBytes += 38
          return
        }
      case 24:
        if let wallMs = CompactWriter.instant(text) {
          bytes.append(CompactForm.instant)
          append(bigEndian: UInt64(wallMs), bytes: CompactForm.instantBytes)
          jsonBytes += 26
          return
        }
      default: break
      }
      plain(text)
    }
  }

  private mutating func plain(_ text: UnsafeBufferPointer<UInt8>) {
    head(
      CompactForm.string, short: CompactForm.shortStrings, long: CompactForm.longString,
      text.count)
    bytes.append(contentsOf: text)
    jsonBytes += JSONWriter.length(ofString: text)
  }

  private mutating func append(_ number: JSONNumber) {
    var literal = number.literal
    literal.withUTF8 { literal in
      jsonBytes += literal.count
      if let small = CompactWriter.small(literal) { return bytes.append(small) }
      // Counted from one: a number has at least one character.
      head(
        CompactForm.number, short: CompactForm.shortNumbers, long: CompactForm.longNumber,
        literal.count - 1)
      var index = 0
      while index < literal.count {
        let high = CompactWriter.code(literal[index])
        let low =
          index + 1 < literal.count ? CompactWriter.code(literal[index + 1]) : CompactForm.filler
        bytes.append(high << 4 | low)
        index += 2
      }
    }
  }

  /// The code of a character of a number's literal.
  private static func code(_ character: UInt8) -> UInt8 {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x2e: 10
    case 0x2d: 11
    case 0x2b: 12
    case 0x65: 13
    default: 14
    }
  }

  /// The number, where it is one of 0 to 127 without any ornament.
  private static func small(_ literal: UnsafeBufferPointer<UInt8>) -> UInt8? {
    guard literal.count <= 3 else { return nil }
    var value = 0
    for digit in literal {
      guard digit &- 0x30 <= 9 else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value <= 127 ? UInt8(value) : nil
  }

  /// The id, where the text is that of one, all letters of the same case.
  private static func uuid(
    _ text: UnsafeBufferPointer<UInt8>
  ) -> (id: SIMD16<UInt8>, isUpper: Bool)? {
    guard text.count == 36 else { return nil }
    var id = SIMD16<UInt8>()
    var at = 0
    var letters: UInt8 = 0
    for index in 0..<16 {
      if index == 4 || index == 6 || index == 8 || index == 10 {
        guard text[at] == 0x2d else { return nil }
        at += 1
      }
      guard let high = nibble(text[at], &letters), let low = nibble(text[at + 1], &letters) else {
        return nil
      }
      id[index] = high << 4 | low
      at += 2
    }
    return letters == mixedCase ? nil : (id, letters == upperCase)
  }
  private static let lowerCase: UInt8 = 1
  private static let upperCase: UInt8 = 2
  private static let mixedCase: UInt8 = 3

  private static func nibble(_ character: UInt8, _ letters: inout UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: return character - 0x30
    case 0x61...0x66:
      letters |= lowerCase
      return character - 0x61 + 10
    case 0x41...0x46:
      letters |= upperCase
      return character - 0x41 + 10
    default: return nil
    }
  }

  /// The instant, where the text is exactly what `Timestamp` writes for one since 1970.
  private static func instant(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard text[10] == 0x54, text[23] == 0x5a else { return nil }
    func digits(_ from: Int, _ count: Int) -> Int {
      // Other characters give a number that is written differently, and so none.
      text[from..<from + count].reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
    let month = digits(5, 2)
    let day = digits(8, 2)
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    let days = Timestamp.days(year: digits(0, 4), month: month, day: day)
    let seconds = (digits(11, 2) * 60 + digits(14, 2)) * 60 + digits(17, 2)
    let wallMs = days * 86_400_000 + Int64(seconds * 1_000 + digits(20, 3))
    guard wallMs >= 0, Timestamp.range.contains(wallMs) else { return nil }
    var written: [UInt8] = []
    written.reserveCapacity(24)
    Timestamp.append(wallMs, to: &written)
    return written.elementsEqual(text) ? wallMs : nil
  }

  // MARK: Bytes

  @inline(__always)
  private mutating func head(_ short: UInt8, short limit: Int, long: UInt8, _ count: Int) {
    if count < limit {
      bytes.append(short + UInt8(truncatingIfNeeded: count))
    } else {
      bytes.append(long)
      CompactWriter.append(length: count, to: &bytes)
    }
  }

  private static func append(length: Int, to bytes: inout [UInt8]) {
    var rest = length
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private static func append(_ id: SIMD16<UInt8>, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: id) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(bigEndian value: UInt64, bytes count: Int) {
    for index in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
    }
  }
}
