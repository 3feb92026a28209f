/// `Retry-After` and `Date` as RFC 9110 has them (sections 10.2.3 and 5.6.7): read here without
/// the SDK's own reader, whose witness this is.
enum RetryAfterText {
  /// Nanoseconds to wait from the answer on; nil where the header says nothing usable.
  ///
  /// - Parameter date: the answer's `Date`; without it a date form cannot be judged.
  static func delayNs(_ text: String, date: String?) -> Int64? {
    let trimmed = text.trimmingSpaces
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      let seconds = Int64(trimmed) ?? .max
      return seconds > 0 ? nanoseconds(seconds) : nil
    }
    guard let until = seconds(ofDate: trimmed), let date, let now = seconds(ofDate: date) else {
      return nil
    }
    return until > now ? nanoseconds(until - now) : nil
  }

  private static func nanoseconds(_ seconds: Int64) -> Int64 {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product
  }

  /// Seconds since 1970 of any of the three forms of an HTTP date.
  static func seconds(ofDate text: String) -> Int64? {
    let words = text.trimmingSpaces.split(whereSeparator: { " ,-".contains($0) }).map(String.init)
    if words.count == 6, words[5] == "GMT" {
      // Sun, 06 Nov 1994 08:49:37 GMT and Sunday, 06-Nov-94 08:49:37 GMT
      return combine(day: words[1], month: words[2], year: words[3], clock: words[4])
    }
    if words.count == 5 {
      // Sun Nov  6 08:49:37 1994
      return combine(day: words[2], month: words[1], year: words[4], clock: words[3])
    }
    return nil
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func combine(
    day: String, month: String, year: String, clock: String
  ) -> Int64? {
    guard let day = Int64(day), (1...31).contains(day), let month = months.firstIndex(of: month),
      var year = Int64(year), (0...9999).contains(year)
    else { return nil }
    if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return days(year, Int64(month) + 1, day) * 86_400 + hour * 3_600 + minute * 60 + second
  }

  /// Days from 1970-01-01 in the Gregorian calendar; the year counted from March.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension String {
  /// Without spaces and tabs at both ends.
  fileprivate var trimmingSpaces: String {
    var rest = self[...]
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return String(rest)
  }
}
