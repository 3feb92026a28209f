/// When an event was recorded, by both clocks: the wall clock may be wrong and be set right
/// later, the boot clock tells how long ago it was while this boot lasts.
struct RecordedTime: Sendable, Equatable {
  var wallMs: Int64
  /// Milliseconds since the boot that `boot` names.
  var sinceBootMs: Int64
  var boot: UInt32

  /// Wall clocks that a record keeps exactly; others are brought into it.
  static let storable: ClosedRange<Int64> = 0...(1 << 48 - 1)

  /// A short name of a boot: FNV-1a, folded. Only equality matters.
  static func boot(_ name: String) -> UInt32 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
  }
}

/// What lies under an event's seal, and its layout:
/// `flags (1) ‖ wall ms (6) ‖ ms since boot (6) ‖ boot (4) ‖ account length (2) ‖ account ‖
/// caller's id (16, if flagged) ‖ content`, integers big-endian. The upper half of the flags is the
/// layout's version; the content's forms are those of `EventContent`. What a later version wrote,
/// with another layout, another flag or another form, is left as it is for that version.
struct EventRecord {
  private static let version: UInt8 = 1
  private static let fixedBytes = 19
  private static let callerFlag: UInt8 = 1

  var time: RecordedTime
  var account: String
  /// The id, where the caller chose it; else the row's own id is the event's.
  var callerID: SIMD16<UInt8>?
  private let plain: [UInt8]
  private let contentStart: Int

  /// Writes all but the content into `head`, reusing its space.
  static func encodeHead(
    time: RecordedTime, account: String, callerID: SIMD16<UInt8>?, into head: inout [UInt8]
  ) {
    head.removeAll(keepingCapacity: true)
    head.append(version << 4 | (callerID == nil ? 0 : callerFlag))
    append(UInt64(clamping: time.wallMs), bytes: 6, to: &head)
    append(UInt64(clamping: time.sinceBootMs), bytes: 6, to: &head)
    append(UInt64(time.boot), bytes: 4, to: &head)
    let account = account.utf8
    append(UInt64(account.count), bytes: 2, to: &head)
    head.append(contentsOf: account)
    if let callerID {
      for index in 0..<16 { head.append(callerID[index]) }
    }
  }

  /// True where this version cannot tell what the event is, and a later one can: only for bytes
  /// whose seal opened, for damage looks like anything.
  static func isOfLaterVersion(_ plain: [UInt8]) -> Bool {
    guard let flags = plain.first else { return false }
    if flags >> 4 > version || flags >> 4 == version && flags & unknownFlags != 0 { return true }
    return EventRecord(plain).map { EventContent.isOfLaterForm($0.content.first) } ?? false
  }
  private static let unknownFlags: UInt8 = 0x0f & ~callerFlag

  /// Nil where the bytes are of another layout.
  init?(_ plain: [UInt8]) {
    guard plain.count >= EventRecord.fixedBytes, plain[0] >> 4 == EventRecord.version,
      plain[0] & EventRecord.unknownFlags == 0
    else { return nil }
    time = RecordedTime(
      wallMs: Int64(EventRecord.integer(plain, 1, bytes: 6)),
      sinceBootMs: Int64(EventRecord.integer(plain, 7, bytes: 6)),
      boot: UInt32(truncatingIfNeeded: EventRecord.integer(plain, 13, bytes: 4)))
    let accountEnd =
      EventRecord.fixedBytes + Int(EventRecord.integer(plain, 17, bytes: 2))
    let hasCallerID = plain[0] & EventRecord.callerFlag != 0
    contentStart = accountEnd + (hasCallerID ? 16 : 0)
    guard contentStart <= plain.count else { return nil }
    self.plain = plain
    account = String(decoding: plain[EventRecord.fixedBytes..<accountEnd], as: UTF8.self)
    if hasCallerID {
      var id = SIMD16<UInt8>()
      for index in 0..<16 { id[index] = plain[accountEnd + index] }
      callerID = id
    }
  }

  var content: ArraySlice<UInt8> { plain[contentStart...] }

  /// The event's id, in a row with this id.
  func id(rowID: EventID) -> EventID { callerID.map(EventID.init(bytes:)) ?? rowID }

  /// The event as it goes over the wire; nil where the content is damaged.
  func json(rowID: EventID) -> [UInt8]? {
    EventContent.json(of: content, id: id(rowID: rowID), wallMs: time.wallMs)
  }

  private static func append(_ value: UInt64, bytes: Int, to head: inout [UInt8]) {
    for index in (0..<bytes).reversed() {
      head.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
    }
  }

  private static func integer(_ plain: [UInt8], _ start: Int, bytes: Int) -> UInt64 {
    plain[start..<start + bytes].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
