import XCTest

import JSONText

final class JSONNumberTests: XCTestCase {
  func testInt64_whenLiteralIsAnIntegerInAnySpelling_isExact() {
    let cases: [(String, Int64?)] = [
      ("0", 0), ("-0", 0), ("-0.0", 0), ("0e999999999999999999999", 0), ("1.0", 1), ("1e3", 1000),
      ("1.5e1", 15), ("1200e-2", 12), ("120.0e-1", 12), ("-9223372036854775808", .min),
      ("-9223372036854775809", nil),
      ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("9.223372036854775807e18", .max), ("1.5", nil),
      ("1e-1", nil), ("1e19", nil), ("1e400", nil), ("1e-400", nil),
      ("1e99999999999999999999", nil),
      ("1e-99999999999999999999", nil), ("18446744073709551616", nil), ("10E+0", 10),
    ]
    for (literal, expected) in cases {
      XCTAssertEqual(JSONNumber(literal: literal)?.int64, expected, literal)
    }
  }

  func testUInt64_whenLiteralIsInRange_isExact() {
    let cases: [(String, UInt64?)] = [
      ("18446744073709551615", .max), ("18446744073709551616", nil), ("-1", nil), ("-0", 0),
      ("1.8446744073709551615e19", .max), ("1e19", 10_000_000_000_000_000_000), ("1e20", nil),
    ]
    for (literal, expected) in cases {
      XCTAssertEqual(JSONNumber(literal: literal)?.uint64, expected, literal)
    }
  }

  func testDouble_whenWrittenAndReadBack_isTheSameDouble() {
    let doubles: [Double] = [
      0, -0.0, 0.1, 1e-7, Double.leastNonzeroMagnitude, 1.7976931348623157e308, 1 / 3, -2.5, 1e16,
      123456789012345680,
    ]
    for double in doubles {
      let number = JSONNumber(double)
      XCTAssertEqual(number?.double.bitPattern, double.bitPattern, "\(double)")
      XCTAssertNotNil(number.flatMap { JSONNumber(literal: $0.literal) }, "\(double)")
    }
    XCTAssertEqual(JSONNumber(literal: "1e400")?.double, .infinity)
    XCTAssertEqual(JSONNumber(literal: "-1e400")?.double, -.infinity)
  }

  func testNumber_whenDoubleIsNotFinite_isNone() {
    XCTAssertNil(JSONNumber(Double.nan))
    XCTAssertNil(JSONNumber(Double.infinity))
    XCTAssertNil(JSONNumber(-Double.infinity))
  }

  func testNumber_whenLiteralIsNoJSON_isNone() {
    for literal in [
      "", "-", "+1", "01", "1.", ".1", "1e", "0x1", "1 ", " 1", "١", "1,0", "NaN", "1e+",
    ] {
      XCTAssertNil(JSONNumber(literal: literal), literal)
    }
  }

  func testIntegers_whenExtreme_areWrittenExactly() {
    XCTAssertEqual(JSONNumber(Int64.min).literal, "-9223372036854775808")
    XCTAssertEqual(JSONNumber(UInt64.max).literal, "18446744073709551615")
    XCTAssertEqual(JSONNumber(UInt64.max).uint64, .max)
    XCTAssertTrue(JSONNumber(Int64.min).isPlainInteger)
    XCTAssertFalse(JSONNumber(literal: "1.0")!.isPlainInteger)
  }
}
