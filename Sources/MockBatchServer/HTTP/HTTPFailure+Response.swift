import JSONText

extension HTTPFailure {
  /// The answer: a problem document (RFC 9457). The performer adds length and connection.
  func response(wallMs: Int64) -> HTTPResponse {
    let problem: JSONValue = [
      "type": "about:blank",
      "title": .string("\(HTTPResponse.reason(status))"),
      "status": .number(JSONNumber(status)),
      "detail": .string(reason),
    ]
    return HTTPResponse(
      status: status,
      headers: [
        "content-type": "application/problem+json", "date": IMFDate.text(wallMs: wallMs),
      ],
      body: JSONWriter.bytes(problem))
  }
}

/// The date of HTTP headers (RFC 9110 section 5.6.7), by integer arithmetic.
enum IMFDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `Sun, 06 Nov 1994 08:49:37 GMT`; milliseconds are cut off.
  static func text(wallMs: Int64) -> String {
    let seconds = Int(wallMs >= 0 ? wallMs / 1_000 : (wallMs - 999) / 1_000)
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let time = seconds - day * 86_400
    let (year, month, date) = civil(day)
    let weekday = days[((day % 7) + 7) % 7]
    return "\(weekday), \(two(date)) \(months[month - 1]) \(four(year)) "
      + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  /// Year, month and day of a day count since 1970-01-01, Gregorian.
  private static func civil(_ day: Int) -> (Int, Int, Int) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let date = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, date)
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func four(_ number: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, 4 - text.count)) + text
  }
}
