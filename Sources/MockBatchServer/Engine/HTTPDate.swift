/// HTTP's dates (RFC 9110, section 5.6.7), written with own arithmetic: independent of locale,
/// time zone and calendar of the machine.
package enum HTTPDate {
  /// The preferred form and the two obsolete ones.
  package enum Form: String, Sendable, Hashable, CaseIterable {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    case imf
    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    case rfc850
    /// `Sun Nov  6 08:49:37 1994`
    case asctime
  }

  private static let days = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  /// The forms have four digits for the year.
  private static let latest: Int64 = 253_402_300_799

  /// The text of a time, seconds since 1970; brought into the years 1970 to 9999.
  package static func text(seconds: Int64, _ form: Form = .imf) -> String {
    let time = min(max(0, seconds), latest)
    let date = civil(daysSince1970: time / 86_400)
    let weekday = days[Int((time / 86_400 + 4) % 7)]
    let month = months[date.month - 1]
    let clock = [time % 86_400 / 3_600, time % 3_600 / 60, time % 60].map { two(Int($0)) }
      .joined(separator: ":")
    switch form {
    case .imf:
      return "\(weekday.prefix(3)), \(two(date.day)) \(month) \(four(date.year)) \(clock) GMT"
    case .rfc850:
      return "\(weekday), \(two(date.day))-\(month)-\(two(date.year % 100)) \(clock) GMT"
    case .asctime:
      let day = date.day < 10 ? " \(date.day)" : "\(date.day)"
      return "\(weekday.prefix(3)) \(month) \(day) \(clock) \(four(date.year))"
    }
  }

  /// Year, month and day of a day number, in the proleptic Gregorian calendar.
  package static func civil(daysSince1970: Int64) -> (year: Int, month: Int, day: Int) {
    let shifted = daysSince1970 + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5) + 1
    let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
    return (Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0), month, day)
  }

  private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
  private static func four(_ value: Int) -> String {
    String(repeating: "0", count: max(0, 4 - String(value).count)) + String(value)
  }
}
