/// The compact form of an event, about half of its JSON and quicker to write:
/// `form (1) ‖ type ‖ payload ‖ session`.
///
/// The form is `0x80`, with the lowest bit set where the session is a UUID in lower-case text: then
/// its sixteen bytes end the event, else its length and UTF-8 do. The type is a string, the payload
/// an object, both made of tokens:
///
/// | first byte | what it is | what follows |
/// |---|---|---|
/// | 00–7f | the number 0 to 127 | |
/// | 80–af | a string of 0 to 47 bytes | UTF-8 |
/// | b0–cf | a number of 1 to 32 characters | its characters, two a byte |
/// | d0–df | an object of 0 to 15 members | key, value, key, value … |
/// | e0–e7 | an array of 0 to 7 elements | the elements |
/// | e8, e9, ea | null, false, true | |
/// | eb, ec, ed, ee | string, number, object, array | length or count, then as above |
/// | ef | a UUID in lower-case text | sixteen bytes |
/// | f0 | an instant as `Timestamp` writes it | milliseconds since 1970, six bytes, big-endian |
/// | f1 | a UUID in upper-case text, as Foundation writes it | sixteen bytes |
///
/// Lengths and counts have seven bits a byte, the lowest first, the high bit set on all but the last
/// byte. Numbers keep every character of their literal; an odd one is followed by a filler. Keys are
/// strings. Whatever else stands in a row's place is no event.
///
/// The form is the version of all this: whatever is to be read in another way, a new token too,
/// takes the next one, `0x82`, `0x84` and so on. A reader leaves rows of a form that it does not
/// know as they are.
enum CompactForm {
  static let form: UInt8 = 0x80
  static let uuidSession: UInt8 = 1

  static func isCompact(_ first: UInt8?) -> Bool { (first ?? 0) & ~uuidSession == form }

  static let string: UInt8 = 0x80
  static let shortStrings = 48
  static let number: UInt8 = 0xb0
  static let shortNumbers = 32
  static let object: UInt8 = 0xd0
  static let shortObjects = 16
  static let array: UInt8 = 0xe0
  static let shortArrays = 8
  static let null: UInt8 = 0xe8
  static let `false`: UInt8 = 0xe9
  static let `true`: UInt8 = 0xea
  static let longString: UInt8 = 0xeb
  static let longNumber: UInt8 = 0xec
  static let longObject: UInt8 = 0xed
  static let longArray: UInt8 = 0xee
  static let uuid: UInt8 = 0xef
  static let instant: UInt8 = 0xf0
  static let upperUUID: UInt8 = 0xf1

  /// Bytes of an instant.
  static let instantBytes = 6
  /// Stands after the last of an odd number of characters; 0 to 14 are `0` to `9` and `.-+eE`, of
  /// which numbers are made (RFC 8259, section 6).
  static let filler: UInt8 = 15
}
