/// `Retry-After` (RFC 9110, section 10.2.3): delta-seconds, or a date against the answer's `Date`.
package enum RetryAfter {
  /// The wait in milliseconds, 1 ... `capMs`; nil where no value is usable (≤ 0, past, garbage):
  /// the own backoff applies then. Of several values the largest counts.
  ///
  /// - Parameters:
  ///   - values: The header's values; one may hold several, joined by commas.
  ///   - answerDateMs: The answer's `Date`, or the own wall clock where it has none.
  package static func waitMs(_ values: [String], answerDateMs: Int64, capMs: Int64) -> Int64? {
    values.flatMap { candidates($0) }
      .compactMap { wait($0, answerDateMs) }
      .filter { $0 > 0 }
      .max()
      .map { min($0, capMs) }
  }

  /// The whole value, and its comma-separated parts: alone, and in pairs because dates hold a
  /// comma themselves.
  private static func candidates(_ value: String) -> [String] {
    let parts = value.split(separator: ",", omittingEmptySubsequences: false)
      .prefix(maxParts).map(String.init)
    guard parts.count > 1 else { return parts }
    return parts + zip(parts, parts.dropFirst()).map { "\($0),\($1)" }
  }

  private static func wait(_ text: String, _ answerDateMs: Int64) -> Int64? {
    let text = text.drop { $0 == " " || $0 == "\t" }
    let trimmed = String(text.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      // More digits than an integer holds mean a wait beyond any cap.
      guard let seconds = Int64(trimmed), seconds < Int64.max / 1_000 else { return .max }
      return seconds * 1_000
    }
    guard let date = HTTPDate.parse(trimmed, referenceMs: answerDateMs) else { return nil }
    // Dates have whole seconds: rounded up, never a moment too early.
    let wait = date - answerDateMs
    return wait > 0 ? (wait + 999) / 1_000 * 1_000 : nil
  }

  /// Values beyond this are not looked at.
  private static let maxParts = 16
}
