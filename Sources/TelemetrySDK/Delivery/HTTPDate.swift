/// The three date forms of RFC 9110, section 5.6.7, read by hand: no locale reaches them.
package enum HTTPDate {
  /// Milliseconds since 1970; nil where the text is none of the three forms.
  ///
  /// - Parameter referenceMs: Resolves the two-digit year of the RFC 850 form: a date more than
  ///   50 years ahead of it belongs to the century before.
  package static func parse(_ text: String, referenceMs: Int64) -> Int64? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
    switch parts.count {
    case 6: return imfFixdate(parts)
    case 4: return rfc850(parts, referenceMs)
    case 5: return asctime(parts)
    default: return nil
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func imfFixdate(_ parts: [String]) -> Int64? {
    guard parts[0].hasSuffix(","), isDayName(parts[0].dropLast(), lengths: 3...3), isGMT(parts[5])
    else { return nil }
    return instant(
      day: digits(parts[1], 2), month: month(parts[2]), year: digits(parts[3], 4), time: parts[4])
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ parts: [String], _ referenceMs: Int64) -> Int64? {
    let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts[0].hasSuffix(","), isDayName(parts[0].dropLast(), lengths: 6...9), isGMT(parts[3]),
      date.count == 3, let shortYear = digits(date[2], 2)
    else { return nil }
    let reference = Timestamp.civil(fromDays: referenceMs / 86_400_000).year
    var year = reference - reference % 100 + shortYear
    if year > reference + 50 { year -= 100 }
    if year <= reference - 50 { year += 100 }
    return instant(
      day: digits(date[0], 2), month: month(date[1]), year: year, time: parts[2])
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctime(_ parts: [String]) -> Int64? {
    guard isDayName(parts[0][...], lengths: 3...3) else { return nil }
    let day = digits(parts[2], 2) ?? digits(parts[2], 1)
    return instant(day: day, month: month(parts[1]), year: digits(parts[4], 4), time: parts[3])
  }

  private static func instant(day: Int?, month: Int?, year: Int?, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map {
      digits(String($0), 2)
    }
    guard let day, let month, let year, clock.count == 3, let hour = clock[0],
      let minute = clock[1], let second = clock[2], hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = Timestamp.days(year: year, month: month, day: day)
    let back = Timestamp.civil(fromDays: days)
    // A day that the month does not have comes back as another date.
    guard back.month == month, back.day == day else { return nil }
    return days * 86_400_000 + Int64(hour * 3_600 + minute * 60 + second) * 1_000
  }

  private static func digits(_ text: String, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  private static func month(_ name: String) -> Int? {
    months.firstIndex(of: name.lowercased()).map { $0 + 1 }
  }

  private static func isDayName(_ name: Substring, lengths: ClosedRange<Int>) -> Bool {
    guard lengths.contains(name.count) else { return false }
    let lower = name.lowercased()
    return days.contains { lengths.upperBound == 3 ? $0.prefix(3) == lower : $0 == lower }
  }

  private static func isGMT(_ zone: String) -> Bool { zone.lowercased() == "gmt" }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  private static let days = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]
}
