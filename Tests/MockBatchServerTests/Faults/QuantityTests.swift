import XCTest

@testable import MockBatchServer

final class QuantityTests: XCTestCase {
  func testDuration_whenItHasUnits_isReadInNanoseconds() throws {
    let cases: [(String, Int64)] = [
      ("0s", 0), ("1ns", 1), ("80ms", 80_000_000), ("1h30m", 5_400_000_000_000),
      ("1.5s", 1_500_000_000), ("0.25m", 15_000_000_000), ("30d", 2_592_000_000_000_000),
      ("2us", 2_000), ("1d1h1m1s1ms1us1ns", 90_061_001_001_001), ("1.500s", 1_500_000_000),
      ("106751d", 9_223_286_400_000_000_000),
    ]
    for (text, value) in cases { XCTAssertEqual(try Quantity.nanoseconds(text), value, text) }
  }

  func testDuration_whenItIsNone_saysWhy() {
    let cases = [
      ("", "an empty duration"), ("20", "\"20\" needs a unit: d, h, m, s, ms, us, ns"),
      ("9hours", "unknown unit \"hours\" in \"9hours\"; known: d, h, m, s, ms, us, ns"),
      ("99999999d", "\"99999999d\" is too large"),
      ("99999999999999999999s", "\"99999999999999999999s\" is too large"),
      ("106751d24h", "\"106751d24h\" is too large"), ("-1s", "\"-1s\" is not a duration"),
      ("1.s", "\"1.s\" is not a duration"), (".5s", "\".5s\" is not a duration"),
      ("1s1h", "unit \"h\" of \"1s1h\" out of order; the largest comes first"),
      ("1s1s", "unit \"s\" of \"1s1s\" out of order; the largest comes first"),
      ("0.5ns", "\"0.5ns\" is not a whole number of its smallest unit"),
      ("1 s", "\"1 s\" needs a unit: d, h, m, s, ms, us, ns"),
      ("1s ", "\"1s \" is not a duration"),
    ]
    for (text, message) in cases {
      XCTAssertThrowsError(try Quantity.nanoseconds(text), text) {
        XCTAssertEqual(($0 as? QuantityError)?.description, message)
      }
    }
  }

  func testSize_whenItHasAUnit_isReadInBytes() throws {
    XCTAssertEqual(try Quantity.bytes("256KB"), 256_000)
    XCTAssertEqual(try Quantity.bytes("1KiB"), 1_024)
    XCTAssertEqual(try Quantity.bytes("0.5MiB"), 524_288)
    XCTAssertEqual(try Quantity.bytes("20MB"), 20_000_000)
    for text in ["1kb", "1", "1KB1B", "0.5B", "9999999999999GB", ""] {
      XCTAssertThrowsError(try Quantity.bytes(text), text)
    }
  }

  func testDuration_whenAnyTextIsGiven_neverTraps() {
    var random = SeededGenerator("testDuration_whenAnyTextIsGiven_neverTraps")
    let alphabet = Array("0123456789.dhmsnu -KB")
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...24, using: &random)
      let text = String((0..<length).map { _ in alphabet.randomElement(using: &random)! })
      if let value = try? Quantity.nanoseconds(text) { XCTAssertGreaterThanOrEqual(value, 0) }
      if let value = try? Quantity.bytes(text) { XCTAssertGreaterThanOrEqual(value, 0) }
    }
  }
}
