/// Durations and sizes as scripts write them: a number, then a unit. Pure and overflow-safe.
package enum Quantity {
  /// Why a text is no duration or size.
  package enum Fault: Error, Equatable, Sendable {
    case empty
    case missingNumber
    case missingUnit(known: [String])
    case unknownUnit(String, known: [String])
    case notAscending(String)
    case tooLarge(limit: String)
    case negative
    case notWhole
  }

  /// Ten years: longer scripts are mistakes, and everything below fits Int64 nanoseconds.
  package static let maxDurationNs: Int64 = 3_650 * 86_400 * 1_000_000_000
  /// One tebibyte.
  package static let maxSizeBytes: Int64 = 1 << 40

  private static let durationUnits: [(name: String, ns: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000), ("ms", 1_000_000),
  ]
  private static let sizeUnits: [(name: String, bytes: Int64)] = [
    ("B", 1), ("KB", 1_000), ("KiB", 1_024), ("MB", 1_000_000), ("MiB", 1_048_576),
    ("GB", 1_000_000_000), ("GiB", 1_073_741_824),
  ]

  /// Nanoseconds of `90s`, `1h30m`, `2.5s`, `250ms`; each unit at most once, large to small.
  package static func duration(_ text: String, signed: Bool = false) throws -> Int64 {
    var rest = Substring(text)
    var sign: Int64 = 1
    if rest.first == "-" || rest.first == "+" {
      sign = rest.first == "-" ? -1 : 1
      rest.removeFirst()
    }
    if sign < 0 && !signed { throw Fault.negative }
    guard !rest.isEmpty else { throw Fault.empty }
    var total: Int64 = 0
    var lastUnit = -1
    while !rest.isEmpty {
      let number = try takeNumber(&rest)
      let name = takeUnit(&rest)
      let known = durationUnits.map(\.name)
      guard !name.isEmpty else { throw Fault.missingUnit(known: known) }
      guard let unit = durationUnits.firstIndex(where: { $0.name == name }) else {
        throw Fault.unknownUnit(name, known: known)
      }
      guard unit > lastUnit else { throw Fault.notAscending(name) }
      lastUnit = unit
      let part = try multiply(number, by: durationUnits[unit].ns, limit: maxDurationNs, "3650d")
      let (sum, overflow) = total.addingReportingOverflow(part)
      guard !overflow, sum <= maxDurationNs else { throw Fault.tooLarge(limit: "3650d") }
      total = sum
    }
    return sign * total
  }

  /// Bytes of `256KB` (1,000), `64KiB` (1,024), `20MB`, `1.5MB`.
  package static func size(_ text: String) throws -> Int64 {
    var rest = Substring(text)
    if rest.first == "-" { throw Fault.negative }
    guard !rest.isEmpty else { throw Fault.empty }
    let number = try takeNumber(&rest)
    let name = takeUnit(&rest)
    let known = sizeUnits.map(\.name)
    guard !name.isEmpty else { throw Fault.missingUnit(known: known) }
    guard rest.isEmpty, let unit = sizeUnits.first(where: { $0.name == name }) else {
      throw Fault.unknownUnit(name + rest, known: known)
    }
    return try multiply(number, by: unit.bytes, limit: maxSizeBytes, "1024GiB")
  }

  /// A decimal number as an integer and a count of its fraction digits: exact, unlike Double.
  private struct Decimal {
    var digits: Int64
    var fractionDigits: Int
  }

  private static func takeNumber(_ rest: inout Substring) throws -> Decimal {
    var number = Decimal(digits: 0, fractionDigits: 0)
    var seen = 0
    var afterPoint = false
    while let character = rest.first {
      if character == ".", !afterPoint, seen > 0 {
        afterPoint = true
        rest.removeFirst()
        guard let next = rest.first, next.isASCII, next.isNumber else { throw Fault.missingNumber }
        continue
      }
      guard character.isASCII, let digit = character.wholeNumberValue else { break }
      let (product, productOverflow) = number.digits.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = product.addingReportingOverflow(Int64(digit))
      guard !productOverflow, !overflow, number.fractionDigits < 9 else {
        throw Fault.tooLarge(limit: "18 digits")
      }
      number.digits = sum
      if afterPoint { number.fractionDigits += 1 }
      seen += 1
      rest.removeFirst()
    }
    guard seen > 0 else { throw Fault.missingNumber }
    return number
  }

  private static func takeUnit(_ rest: inout Substring) -> String {
    let unit = rest.prefix { $0.isLetter || $0 == "%" || $0 == " " }
    rest.removeFirst(unit.count)
    return String(unit)
  }

  private static func multiply(
    _ number: Decimal, by unit: Int64, limit: Int64, _ limitText: String
  ) throws -> Int64 {
    let (product, overflow) = number.digits.multipliedReportingOverflow(by: unit)
    guard !overflow else { throw Fault.tooLarge(limit: limitText) }
    var divisor: Int64 = 1
    for _ in 0..<number.fractionDigits { divisor *= 10 }
    guard product % divisor == 0 else { throw Fault.notWhole }
    let value = product / divisor
    guard value <= limit else { throw Fault.tooLarge(limit: limitText) }
    return value
  }

  /// Writes nanoseconds the way `duration` reads them, e.g. `9h15m`, `2.5s`, `0s`.
  package static func text(durationNs: Int64) -> String {
    if durationNs == 0 { return "0s" }
    var rest = durationNs.magnitude
    var text = durationNs < 0 ? "-" : ""
    for unit in durationUnits where unit.name != "ms" && unit.name != "s" {
      let count = rest / UInt64(unit.ns)
      if count > 0 { text += "\(count)\(unit.name)" }
      rest %= UInt64(unit.ns)
    }
    let seconds = rest / 1_000_000_000
    var fraction = String(1_000_000_000 + rest % 1_000_000_000).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    if seconds > 0 || !fraction.isEmpty {
      text += "\(seconds)\(fraction.isEmpty ? "" : ".\(fraction)")s"
    }
    return text
  }
}

extension Quantity.Fault {
  /// What is wrong, for a message that names the field itself.
  var explanation: String {
    switch self {
    case .empty: return "is empty"
    case .missingNumber: return "has no number before the unit"
    case .missingUnit(let known): return "has no unit (one of \(known.joined(separator: ", ")))"
    case .unknownUnit(let unit, let known):
      return "has the unknown unit \"\(unit)\" (one of \(known.joined(separator: ", ")))"
    case .notAscending(let unit): return "has \"\(unit)\" out of order (large units come first)"
    case .tooLarge(let limit): return "is too large (at most \(limit))"
    case .negative: return "is negative"
    case .notWhole: return "is finer than the smallest unit"
    }
  }
}
