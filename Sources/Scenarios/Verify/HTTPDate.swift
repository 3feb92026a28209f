/// The three forms of dates in HTTP (RFC 9110, section 5.6.7).
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Seconds since 1970; nil where the text is none of the forms.
  static func seconds(_ text: String) -> Int64? {
    imf(text) ?? rfc850(text) ?? asctime(text)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  static func imf(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, parts[0].count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
      parts[1].count == 2, parts[3].count == 4
    else { return nil }
    return seconds(day: parts[1], month: parts[2], year: Int64(parts[3]), time: parts[4])
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`; years of two digits mean 1970 to 2069.
  private static func rfc850(_ text: String) -> Int64? {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 4, parts[0].hasSuffix(","), parts[3] == "GMT" else { return nil }
    let date = parts[1].split(separator: "-").map(String.init)
    guard date.count == 3, date[2].count == 2, let short = Int64(date[2]) else { return nil }
    return seconds(
      day: date[0], month: date[1], year: short < 70 ? 2000 + short : 1900 + short, time: parts[2])
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ text: String) -> Int64? {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 5, parts[4].count == 4 else { return nil }
    return seconds(day: parts[2], month: parts[1], year: Int64(parts[4]), time: parts[3])
  }

  private static func seconds(day: String, month: String, year: Int64?, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let year, let day = Int64(day), let index = months.firstIndex(of: month),
      clock.count == 3, clock.allSatisfy({ $0.count == 2 }),
      let hour = Int64(clock[0]), let minute = Int64(clock[1]), let second = Int64(clock[2]),
      (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
      (0...60).contains(second), (1900...9999).contains(year)
    else { return nil }
    return days(year: year, month: Int64(index) + 1, day: day) * 86_400 + hour * 3_600
      + minute * 60 + second
  }

  /// Days from 1970-01-01, counting years from March so that the leap day comes last.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
