import XCTest

@testable import Scenarios

final class QuantityTests: XCTestCase {
  func testDuration_whenWellFormed_isExact() throws {
    let cases: [(String, Int64)] = [
      ("0s", 0), ("250ms", 250_000_000), ("1.5s", 1_500_000_000), ("9h15m", 33_300_000_000_000),
      ("2d", 172_800_000_000_000), ("3650d", Quantity.maxDurationNs), ("0.000000001s", 1),
    ]
    for (text, expected) in cases { XCTAssertEqual(try Quantity.duration(text), expected, text) }
    XCTAssertEqual(try Quantity.duration("-26h", signed: true), -93_600_000_000_000)
  }

  func testDuration_whenIllFormed_saysWhy() {
    let cases: [(String, Quantity.Fault)] = [
      ("", .empty), ("s", .missingNumber), ("5", .missingUnit(known: ["d", "h", "m", "s", "ms"])),
      ("5m1h", .notAscending("h")), ("1h1h", .notAscending("h")),
      ("99999999d", .tooLarge(limit: "3650d")), ("3651d", .tooLarge(limit: "3650d")),
      ("9223372036854775807h", .tooLarge(limit: "3650d")),
      ("99999999999999999999s", .tooLarge(limit: "18 digits")), ("-1s", .negative),
      ("0.0000001ms", .notWhole), ("1.s", .missingNumber),
      ("3649d24h1s", .tooLarge(limit: "3650d")),
    ]
    for (text, fault) in cases {
      XCTAssertThrowsError(try Quantity.duration(text), text) {
        XCTAssertEqual($0 as? Quantity.Fault, fault, text)
      }
    }
  }

  func testSize_whenWellFormed_usesDecimalAndBinaryUnits() throws {
    let cases: [(String, Int64)] = [
      ("256KB", 256_000), ("64KiB", 65_536), ("20MB", 20_000_000), ("1.5MB", 1_500_000), ("7B", 7),
    ]
    for (text, expected) in cases { XCTAssertEqual(try Quantity.size(text), expected, text) }
    for text in ["20", "20mb", "MB", "-1KB", "1MB5KB", "9999999999GiB"] {
      XCTAssertThrowsError(try Quantity.size(text), text)
    }
  }

  func testText_whenReadBack_givesTheSameDuration() throws {
    for ns: Int64 in [0, 1_500_000_000, 250_000_000, 33_300_000_000_000, 86_399_999_000_000, 1] {
      XCTAssertEqual(try Quantity.duration(Quantity.text(durationNs: ns)), ns)
    }
    XCTAssertEqual(Quantity.text(durationNs: 33_300_000_000_000), "9h15m")
  }
}
