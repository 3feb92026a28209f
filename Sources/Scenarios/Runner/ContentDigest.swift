import JSONText

/// What an event says, in sixteen digits: its type, its time and its payload as they stand on the
/// wire, so that a history can tell a changed event without keeping any.
///
/// FNV-1a, 64 bits: it finds accidents, not forgeries. The session is left out: the SDK chooses it.
enum ContentDigest {
  static func text(type: String, time: String, payload: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    take(type.utf8, &hash)
    take(time.utf8, &hash)
    take(payload, &hash)
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Of an event as the script has it, recorded at that time of the device's wall clock.
  static func text(of event: JSONValue, time: String) -> String {
    text(
      type: event["type"]?.stringValue ?? "", time: time,
      payload: JSONWriter.bytes(event["payload"] ?? [:]))
  }

  /// Each part with its end, which no text has within.
  private static func take(_ part: some Sequence<UInt8>, _ hash: inout UInt64) {
    for byte in part { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ 0xff) &* 0x100_0000_01b3
  }
}
