/// Why a duration or a size could not be read.
public struct QuantityError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, as a sentence without a full stop.
  public let description: String
}

/// Durations and sizes as text with units: `1h30m`, `80ms`, `256KB`, `1MiB`.
///
/// A duration is one or more numbers, each with a unit of `ns us ms s m h d`, largest first. A size
/// is one number with a unit of `B KB MB GB` (powers of 1,000) or `KiB MiB GiB` (of 1,024).
/// Fractions are allowed as far as the result is a whole number of nanoseconds or bytes. Nothing
/// that overflows is accepted.
public enum Quantity {
  private static let durationUnits: [(name: String, scale: Int64)] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1),
  ]
  private static let sizeUnits: [(name: String, scale: Int64)] = [
    ("B", 1), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
  ]

  /// Nanoseconds of a duration.
  ///
  /// - Throws: `QuantityError` when the text is no duration or is longer than 2⁶³ ns (292 years).
  public static func nanoseconds(_ text: String) throws -> Int64 {
    var rest = Array(text.utf8)[...]
    guard !rest.isEmpty else { throw QuantityError(description: "an empty duration") }
    var total: Int64 = 0
    var lastScale = Int64.max
    repeat {
      let (amount, scale, unit) = try part(&rest, units: durationUnits, of: text, "a duration")
      guard scale < lastScale else {
        throw QuantityError(
          description: "unit \"\(unit)\" of \"\(text)\" out of order; the largest comes first")
      }
      lastScale = scale
      let (sum, overflow) = total.addingReportingOverflow(amount)
      guard !overflow else { throw tooLarge(text) }
      total = sum
    } while !rest.isEmpty
    return total
  }

  /// Bytes of a size.
  ///
  /// - Throws: `QuantityError` when the text is no size or does not fit 63 bits.
  public static func bytes(_ text: String) throws -> Int64 {
    var rest = Array(text.utf8)[...]
    guard !rest.isEmpty else { throw QuantityError(description: "an empty size") }
    let (amount, _, _) = try part(&rest, units: sizeUnits, of: text, "a size")
    guard rest.isEmpty else {
      throw QuantityError(description: "a size is one number with one unit, not \"\(text)\"")
    }
    return amount
  }

  private static func tooLarge(_ text: String) -> QuantityError {
    QuantityError(description: "\"\(text)\" is too large")
  }

  /// Takes one number with its unit from the front.
  private static func part(
    _ rest: inout ArraySlice<UInt8>, units: [(name: String, scale: Int64)], of text: String,
    _ what: String
  ) throws -> (amount: Int64, scale: Int64, unit: String) {
    let whole = digits(&rest)
    var fraction: [UInt8] = []
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = digits(&rest)
      guard !fraction.isEmpty else { throw malformed(text, what) }
    }
    guard !whole.isEmpty else { throw malformed(text, what) }
    let letters = rest.prefix { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
    rest = rest.dropFirst(letters.count)
    let name = String(decoding: letters, as: UTF8.self)
    let names = units.map(\.name).joined(separator: ", ")
    guard !name.isEmpty else {
      throw QuantityError(description: "\"\(text)\" needs a unit: \(names)")
    }
    guard let unit = units.first(where: { $0.name == name }) else {
      throw QuantityError(description: "unknown unit \"\(name)\" in \"\(text)\"; known: \(names)")
    }
    return (try scaled(whole, fraction, by: unit.scale, text), unit.scale, name)
  }

  private static func malformed(_ text: String, _ what: String) -> QuantityError {
    QuantityError(description: "\"\(text)\" is not \(what)")
  }

  private static func digits(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    let found = rest.prefix { $0 &- 0x30 <= 9 }
    rest = rest.dropFirst(found.count)
    return Array(found)
  }

  private static func scaled(
    _ whole: [UInt8], _ fraction: [UInt8], by scale: Int64, _ text: String
  ) throws -> Int64 {
    var amount: Int64 = 0
    for digit in whole {
      let (tens, first) = amount.multipliedReportingOverflow(by: 10)
      let (sum, second) = tens.addingReportingOverflow(Int64(digit &- 0x30))
      guard !first, !second else { throw tooLarge(text) }
      amount = sum
    }
    let (product, overflow) = amount.multipliedReportingOverflow(by: scale)
    guard !overflow else { throw tooLarge(text) }
    guard let parts = exactFraction(fraction, of: scale) else {
      throw QuantityError(description: "\"\(text)\" is not a whole number of its smallest unit")
    }
    let (sum, sumOverflow) = product.addingReportingOverflow(parts)
    guard !sumOverflow else { throw tooLarge(text) }
    return sum
  }

  /// What `.5` is of a unit; nil when nothing whole comes out.
  private static func exactFraction(_ fraction: [UInt8], of scale: Int64) -> Int64? {
    var numerator: Int64 = 0
    var denominator: Int64 = 1
    let significant = fraction.reversed().drop { $0 == 0x30 }.reversed()
    for digit in significant {
      let (tens, first) = numerator.multipliedReportingOverflow(by: 10)
      let (power, second) = denominator.multipliedReportingOverflow(by: 10)
      guard !first, !second else { return nil }
      numerator = tens + Int64(digit &- 0x30)
      denominator = power
    }
    let (product, overflow) = numerator.multipliedReportingOverflow(by: scale)
    guard !overflow, product % denominator == 0 else { return nil }
    return product / denominator
  }
}
