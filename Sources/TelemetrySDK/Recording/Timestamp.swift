/// Instants as ISO 8601 text in UTC with milliseconds, by arithmetic alone: no formatter, so no
/// locale, calendar or 12-hour setting can reach it, and any thread may use it.
package enum Timestamp {
  /// Milliseconds of 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: outside, clamped.
  package static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// Appends the 24 bytes of e.g. `2026-05-04T09:15:02.114Z`.
  package static func append(_ wallMs: Int64, to bytes: inout [UInt8]) {
    let clamped = min(max(wallMs, range.lowerBound), range.upperBound)
    let days = Int64((Double(clamped) / 86_400_000).rounded(.down))
    let inDay = Int(clamped - days * 86_400_000)
    let date = civil(fromDays: days)
    pad(date.year, 4, &bytes)
    bytes.append(0x2d)
    pad(date.month, 2, &bytes)
    bytes.append(0x2d)
    pad(date.day, 2, &bytes)
    bytes.append(0x54)
    pad(inDay / 3_600_000, 2, &bytes)
    bytes.append(0x3a)
    pad(inDay / 60_000 % 60, 2, &bytes)
    bytes.append(0x3a)
    pad(inDay / 1_000 % 60, 2, &bytes)
    bytes.append(0x2e)
    pad(inDay % 1_000, 3, &bytes)
    bytes.append(0x5a)
  }

  /// The same as text.
  package static func text(_ wallMs: Int64) -> String {
    var bytes: [UInt8] = []
    append(wallMs, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The proleptic Gregorian date of a day number counted from 1970-01-01.
  package static func civil(fromDays days: Int64) -> (year: Int, month: Int, day: Int) {
    // Years are counted from March in cycles of 400 years, so that leap days come last.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
    return (Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0), month, day)
  }

  /// The day number, counted from 1970-01-01, of a proleptic Gregorian date.
  package static func days(year: Int, month: Int, day: Int) -> Int64 {
    let shiftedYear = Int64(month <= 2 ? year - 1 : year)
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func pad(_ value: Int, _ width: Int, _ bytes: inout [UInt8]) {
    var divisor = width == 4 ? 1_000 : width == 3 ? 100 : 10
    while divisor > 0 {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
      divisor /= 10
    }
  }
}
