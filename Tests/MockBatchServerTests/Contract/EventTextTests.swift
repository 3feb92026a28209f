import XCTest

@testable import MockBatchServer

/// Ids and times are read eight bytes at a time; here each byte is tried at each place.
final class EventTextTests: XCTestCase {
  func testID_whenAnyByteStandsAnywhere_isReadAsDigitByDigit() {
    let good = Array("b1946ac9-2492-4D23-8e3a-6C1f5a0f7e11".utf8)
    for at in good.indices {
      for byte in UInt8.min...UInt8.max {
        var text = good
        text[at] = byte
        let key = text.withUnsafeBufferPointer { EventKey(ascii: $0) }
        XCTAssertEqual(key, EventTextTests.slowKey(text), "\(byte) at \(at)")
      }
    }
  }

  func testID_whenDigitsVary_hasTheirText() {
    var random = SeededGenerator("ids")
    for _ in 0..<1_000 {
      let key = EventKey(
        high: UInt64.random(in: .min ... .max, using: &random),
        low: UInt64.random(in: .min ... .max, using: &random))
      XCTAssertEqual(EventKey(key.text), key)
      XCTAssertEqual(EventKey(key.text.uppercased()), key)
    }
  }

  func testTime_whenAnyByteStandsAnywhere_hasItsFormOrNot() {
    let form = Array("dddd-dd-ddTdd:dd:dd.dddZ".utf8)
    // Every digit of it may be 0, 1 or 2 without leaving the calendar.
    let good = Array("2012-02-12T12:12:12.112Z".utf8)
    XCTAssertTrue(good.withUnsafeBufferPointer(Timestamp.isWellFormed))
    for at in good.indices {
      for byte in UInt8.min...UInt8.max where byte != good[at] {
        var text = good
        text[at] = byte
        let isGood = text.withUnsafeBufferPointer(Timestamp.isWellFormed)
        let isDigit = form[at] == UInt8(ascii: "d") && (0x30...0x39).contains(byte)
        if isGood { XCTAssertTrue(isDigit, "\(byte) at \(at)") }
        // Years and milliseconds take every digit.
        if isDigit, at < 4 || (20..<23).contains(at) { XCTAssertTrue(isGood, "\(byte) at \(at)") }
      }
    }
  }

  func testHash_whenTheTextHasAnyLength_isThatOfItsBytesOneByOne() {
    for length in 0..<40 {
      let text = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
      let hash = text.withUnsafeBufferPointer { ContentHash.bytes($0, seed: 4) }
      var tail: UInt64 = 0
      for byte in text[(length / 8 * 8)...] { tail = tail << 8 | UInt64(byte) }
      XCTAssertEqual(hash, EventTextTests.hash(text, tail: tail), "\(length) bytes")
    }
  }

  /// The id, a digit at a time.
  private static func slowKey(_ text: [UInt8]) -> EventKey? {
    var digits: [UInt64] = []
    for (at, byte) in text.enumerated() {
      if [8, 13, 18, 23].contains(at) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = ASCII.hexValue(byte) else { return nil }
      digits.append(digit)
    }
    func value(_ digits: ArraySlice<UInt64>) -> UInt64 { digits.reduce(0) { $0 << 4 | $1 } }
    return EventKey(high: value(digits[..<16]), low: value(digits[16...]))
  }

  /// What ledger files hold since their first version.
  private static func hash(_ text: [UInt8], tail: UInt64) -> UInt64 {
    func fold(_ value: UInt64) -> UInt64 {
      let wide = (value ^ 0x8bb8_4b93_962e_acc9).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
      return wide.high ^ wide.low
    }
    var hash = 4 ^ (UInt64(text.count) &* 0x9e37_79b9_7f4a_7c15)
    for start in stride(from: 0, through: text.count - 8, by: 8) {
      let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(text[start + $1]) << UInt64(8 * $1) }
      hash = fold(hash ^ word)
    }
    return fold(hash ^ tail ^ 0x2d35_8dcc_aa6c_78a5)
  }
}
