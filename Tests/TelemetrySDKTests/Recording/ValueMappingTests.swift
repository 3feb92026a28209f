import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

/// Golden bytes: the same on every platform, whatever its Foundation does.
final class ValueMappingTests: XCTestCase {
  private func text(_ value: some Encodable) throws -> String {
    let output = try ValueEncoder.encode(value, maxDepth: 64).get()
    return String(decoding: JSONWriter.bytes(output.value), as: UTF8.self)
  }

  func testMappings_whenEverySupportedTypeIsNestedTwoLevels_giveTheGoldenBytes() throws {
    XCTAssertEqual(try text(["outer": ["inner": Everything.sample]]), Everything.golden)
  }

  func testIntegers_whenAtTheEndsOfTheirRanges_keepEveryDigit() throws {
    struct Ends: Encodable {
      let a = Int8.min, b = Int16.max, c = Int32.min, d = Int64.min, e = Int64.max
      let f = UInt8.max, g = UInt16.max, h = UInt32.max, i = UInt64.max, j = Int.max, k = UInt.max
    }
    XCTAssertEqual(
      try text(Ends()),
      #"{"a":-128,"b":32767,"c":-2147483648,"d":-9223372036854775808,"e":9223372036854775807,"#
        + #""f":255,"g":65535,"h":4294967295,"i":18446744073709551615,"j":9223372036854775807,"#
        + #""k":18446744073709551615}"#)
    XCTAssertEqual(
      try text([UInt64.max, 9_007_199_254_740_993]), "[18446744073709551615,9007199254740993]")
  }

  func testFloatingPoint_whenWritten_isTheShortestThatReadsBack() throws {
    XCTAssertEqual(
      try text([0.1, 1, 1e300, .leastNonzeroMagnitude, -0.0, 1.0 / 3]).description,
      "[0.1,1.0,1e+300,5e-324,-0.0,0.3333333333333333]")
    XCTAssertEqual(
      try text([Float(0.1), 16_777_216, .leastNonzeroMagnitude]), "[0.1,16777216.0,1e-45]")
  }

  func testFloatingPoint_whenRandom_readsBackBitForBit() throws {
    var random = SplitMix(seed: SplitMix.seed("FLOAT_SEED"))
    for _ in 0..<20_000 {
      let double = Double(bitPattern: random.next())
      if double.isFinite { XCTAssertEqual(Double(try text(double)), double) }
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      if float.isFinite { XCTAssertEqual(Float(try text(float)), float) }
    }
  }

  func testDates_whenAtAndBeyondTheYears0And9999_areClamped() throws {
    let cases: [(Double, String)] = [
      (0, "1970-01-01T00:00:00.000Z"), (1_777_886_102.114, "2026-05-04T09:15:02.114Z"),
      (-0.001, "1969-12-31T23:59:59.999Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
      (-62_167_219_200, "0000-01-01T00:00:00.000Z"), (-1e15, "0000-01-01T00:00:00.000Z"),
      (253_402_300_799.999, "9999-12-31T23:59:59.999Z"), (1e300, "9999-12-31T23:59:59.999Z"),
      (.infinity, "9999-12-31T23:59:59.999Z"), (-.infinity, "0000-01-01T00:00:00.000Z"),
      // Rounded, not cut off: the binary value of .0005 s lies just above.
      (1_000_000_000.9996, "2001-09-09T01:46:41.000Z"),
    ]
    for (seconds, expected) in cases {
      XCTAssertEqual(
        try text(Date(timeIntervalSince1970: seconds)), "\"\(expected)\"", "\(seconds)")
    }
  }

  func testDecimals_whenLongerThanADouble_keepEveryDigit() throws {
    let digits = ["0.1", "-12345678901234567890.123456789", "1000000000000000000000", "0"]
    for literal in digits {
      let decimal = try XCTUnwrap(Decimal(string: literal, locale: nil))
      XCTAssertEqual(try text(decimal), literal)
    }
  }

  func testNonFinite_whenAnywhere_becomesNullAndIsNamed() throws {
    struct Inner: Encodable {
      let c = -Double.infinity
      let ok = 1
    }
    struct Outer: Encodable {
      let a = Double.nan
      let b = [[Double.infinity, 2]]
      let d = Float.nan
      let e = Inner()
      let f = Decimal.nan
      let g = Date(timeIntervalSince1970: .nan)
      let h: Double? = .nan
    }
    let output = try ValueEncoder.encode(Outer(), maxDepth: 64).get()
    XCTAssertEqual(
      output.value.description,
      #"{"a":null,"b":[[null,2.0]],"d":null,"e":{"c":null,"ok":1},"f":null,"g":null,"h":null}"#)
    XCTAssertEqual(output.replaced, ["a", "b[0][0]", "d", "e.c", "f", "g", "h"])
    XCTAssertEqual(output.replacedCount, 7)
    let many = try ValueEncoder.encode(Array(repeating: Double.nan, count: 50), maxDepth: 4).get()
    XCTAssertEqual(many.replaced.count, ValueEncoder.keptPaths)
    XCTAssertEqual(many.replacedCount, 50)
  }

  func testOptionals_whenNil_areNullOrLeftOut() throws {
    struct Holder: Encodable {
      let absent: Int? = nil
      let present: Int? = 1
      let list: [Int?] = [1, nil, 3]
      let nested: Int?? = .some(nil)
    }
    XCTAssertEqual(try text(Holder()), #"{"present":1,"list":[1,null,3],"nested":null}"#)
  }

  func testKeys_whenOfAnyKind_makeObjectsOrArrays() throws {
    enum Name: String, Encodable, CodingKeyRepresentable { case b, a }
    enum Plain: String, Encodable { case x }
    XCTAssertEqual(try text(["b": 1, "a": 2, "é": 3, "C": 4]), #"{"C":4,"a":2,"b":1,"é":3}"#)
    XCTAssertEqual(try text([10: true, 9: false]), #"{"10":true,"9":false}"#)
    XCTAssertEqual(try text([Name.b: 1, .a: 2]), #"{"a":2,"b":1}"#)
    XCTAssertEqual(try text([Plain.x: 1]), #"["x",1]"#)
  }

  func testEnums_whenTheyHaveValues_areObjectsOfOneKey() throws {
    enum Mode: Encodable {
      case idle
      case drive(km: Int, String)
    }
    XCTAssertEqual(
      try text([Mode.idle, .drive(km: 3, "x")]), #"[{"idle":{}},{"drive":{"km":3,"_1":"x"}}]"#)
  }

  func testJSONValues_whenInsideEncodables_keepTheirLiterals() throws {
    struct Holder: Encodable {
      let extra: JSONValue
      let more: JSONObject
    }
    let value = try JSONValue.parse(#"{"z":1.50,"a":[18446744073709551616,-0.0,null,true]}"#)
    XCTAssertEqual(
      try text(Holder(extra: value, more: ["k": 1])),
      #"{"extra":{"z":1.50,"a":[18446744073709551616,-0.0,null,true]},"more":{"k":1}}"#)
  }

  func testStrings_whenIllFormed_areRepaired() throws {
    let units: [UInt16] = [0x61, 0xd800, 0x62]
    let lone = NSString(characters: units, length: 3) as String
    let cut = String(decoding: [0x61, 0xf0, 0x9f, 0x62] as [UInt8], as: UTF8.self)
    let encoded = try text(["lone": lone, "cut": cut])
    XCTAssertEqual(encoded, "{\"cut\":\"a\u{fffd}b\",\"lone\":\"a\u{fffd}b\"}")
    XCTAssertNoThrow(try JSONValue.parse(encoded))
  }
}
