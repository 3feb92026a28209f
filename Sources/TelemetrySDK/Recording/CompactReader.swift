import JSONText

/// Writes the JSON of an event in the compact form. The bytes may be damaged: what is not exactly
/// an event is none, and no byte beyond the end is ever read.
struct CompactReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var at = 1
  private var json: [UInt8] = []
  /// Members or elements that the arrays and objects around still lack.
  private var open: [Container] = []

  private struct Container {
    let isObject: Bool
    var missing: Int
  }

  /// Nil where the bytes are no event.
  static func json(
    of bytes: UnsafeBufferPointer<UInt8>, id: EventID, wallMs: Int64
  ) -> [UInt8]? {
    var reader = CompactReader(bytes: bytes)
    return reader.event(id, wallMs) ? reader.json : nil
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    json.reserveCapacity(bytes.count * 2 + EventEncoder.fixedHeadBytes + 64)
  }

  private mutating func event(_ id: EventID, _ wallMs: Int64) -> Bool {
    guard let form = bytes.first, CompactForm.isCompact(form) else { return false }
    EventEncoder.appendOpening(id: id, wallMs: wallMs, to: &json)
    guard string() else { return false }
    json.append(contentsOf: EventEncoder.beforePayload)
    guard payload() else { return false }
    json.append(contentsOf: EventEncoder.beforeSession)
    let hasUUID = form & CompactForm.uuidSession != 0
    guard hasUUID ? uuid() : length().map({ text($0) }) ?? false else { return false }
    json.append(0x7d)
    return at == bytes.count
  }

  // MARK: Values

  /// An object with all that is in it; with a stack instead of recursion, so that no content can
  /// exhaust the thread's.
  private mutating func payload() -> Bool {
    guard let first = byte(), let count = objectCount(first) else { return false }
    begin(isObject: true, count)
    while let container = open.last {
      if container.missing == 0 {
        json.append(container.isObject ? 0x7d : 0x5d)
        open.removeLast()
        isFresh = false
        continue
      }
      open[open.count - 1].missing -= 1
      if !isFresh { json.append(0x2c) }
      isFresh = false
      if container.isObject {
        guard string() else { return false }
        json.append(0x3a)
      }
      guard value() else { return false }
    }
    return true
  }
  /// True right after a bracket was opened.
  private var isFresh = false

  private mutating func begin(isObject: Bool, _ count: Int) {
    json.append(isObject ? 0x7b : 0x5b)
    open.append(Container(isObject: isObject, missing: count))
    isFresh = true
  }

  private mutating func value() -> Bool {
    guard let first = byte() else { return false }
    switch first {
    case ..<CompactForm.string: small(first)
    case ..<CompactForm.number: return text(Int(first - CompactForm.string))
    case ..<CompactForm.object: return number(Int(first - CompactForm.number))
    case CompactForm.null: json.append(contentsOf: "null".utf8)
    case CompactForm.false: json.append(contentsOf: "false".utf8)
    case CompactForm.true: json.append(contentsOf: "true".utf8)
    case CompactForm.longNumber: return length().map { number($0) } ?? false
    case CompactForm.longString, CompactForm.uuid, CompactForm.instant, CompactForm.upperUUID:
      return text(after: first)
    default:
      guard open.count < JSONLimits.deepestAllowed else { return false }
      if let count = objectCount(first) {
        begin(isObject: true, count)
      } else if let count = arrayCount(first) {
        begin(isObject: false, count)
      } else {
        return false
      }
    }
    return true
  }

  private mutating func objectCount(_ first: UInt8) -> Int? {
    if first == CompactForm.longObject { return length() }
    let count = Int(first) - Int(CompactForm.object)
    return (0..<CompactForm.shortObjects).contains(count) ? count : nil
  }

  private mutating func arrayCount(_ first: UInt8) -> Int? {
    if first == CompactForm.longArray { return length() }
    let count = Int(first) - Int(CompactForm.array)
    return (0..<CompactForm.shortArrays).contains(count) ? count : nil
  }

  // MARK: Strings and numbers

  private mutating func string() -> Bool {
    guard let first = byte(), first >= CompactForm.string else { return false }
    if first < CompactForm.number { return text(Int(first - CompactForm.string)) }
    return text(after: first)
  }

  private mutating func text(after first: UInt8) -> Bool {
    switch first {
    case CompactForm.longString: return length().map { text($0) } ?? false
    case CompactForm.uuid: return uuid()
    case CompactForm.upperUUID: return uuid(isUpper: true)
    case CompactForm.instant: return instant()
    default: return false
    }
  }

  private mutating func text(_ count: Int) -> Bool {
    guard let text = take(count) else { return false }
    return JSONWriter.appendString(utf8: text, to: &json)
  }

  private mutating func uuid(isUpper: Bool = false) -> Bool {
    guard let text = take(16) else { return false }
    let id = UnsafeRawBufferPointer(text).loadUnaligned(as: SIMD16<UInt8>.self)
    json.append(0x22)
    EventID(bytes: id).appendText(to: &json, isUpper: isUpper)
    json.append(0x22)
    return true
  }

  private mutating func instant() -> Bool {
    guard let text = take(CompactForm.instantBytes) else { return false }
    let wallMs = text.reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard Timestamp.range.contains(wallMs) else { return false }
    json.append(0x22)
    Timestamp.append(wallMs, to: &json)
    json.append(0x22)
    return true
  }

  private mutating func small(_ value: UInt8) {
    if value >= 100 { json.append(0x31) }
    if value >= 10 { json.append(0x30 + value / 10 % 10) }
    json.append(0x30 + value % 10)
  }

  /// A literal of one more character than the count says.
  private mutating func number(_ count: Int) -> Bool {
    guard let packed = take((count + 2) / 2) else { return false }
    let start = json.count
    for pair in packed {
      character(pair >> 4)
      character(pair & 15)
    }
    let isWhole = json.count - start == count + 1
    return isWhole
      && json.withUnsafeBufferPointer { json in
        JSONNumber.isLiteral(UnsafeBufferPointer(rebasing: json[start...]))
      }
  }

  private mutating func character(_ code: UInt8) {
    switch code {
    case 0...9: json.append(0x30 + code)
    case 10: json.append(0x2e)
    case 11: json.append(0x2d)
    case 12: json.append(0x2b)
    case 13: json.append(0x65)
    case 14: json.append(0x45)
    default: break  // The filler; one in another place is missed in the count.
    }
  }

  // MARK: Bytes

  private mutating func byte() -> UInt8? {
    guard at < bytes.count else { return nil }
    defer { at += 1 }
    return bytes[at]
  }

  /// A length or count; nil where it exceeds all that could follow.
  private mutating func length() -> Int? {
    var length = 0
    var shift = 0
    while shift <= 28, let next = byte() {
      length |= Int(next & 0x7f) << shift
      if next < 0x80 { return length <= bytes.count ? length : nil }
      shift += 7
    }
    return nil
  }

  private mutating func take(_ count: Int) -> UnsafeBufferPointer<UInt8>? {
    guard count <= bytes.count - at else { return nil }
    defer { at += count }
    return UnsafeBufferPointer(rebasing: bytes[at..<at + count])
  }
}
