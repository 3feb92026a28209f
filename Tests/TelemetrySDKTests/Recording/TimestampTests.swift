import Foundation
import ThreadsSupport
import XCTest

@testable import TelemetrySDK

/// Timestamps are arithmetic: no setting of the device reaches them.
final class TimestampTests: XCTestCase {
  private static let pattern = #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"#

  func testDays_whenWalkedOneByOne_followTheCalendar() {
    var (year, month, day) = (1_895, 1, 1)
    var number = Timestamp.days(year: year, month: month, day: day)
    while year < 2_105 {
      let civil = Timestamp.civil(fromDays: number)
      guard civil == (year, month, day) else {
        return XCTFail("\(number) is \(civil), not \((year, month, day))")
      }
      XCTAssertEqual(Timestamp.days(year: year, month: month, day: day), number)
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      (month, day) = day < lengths[month - 1] ? (month, day + 1) : (month + 1, 1)
      if month == 13 { (year, month) = (year + 1, 1) }
      number += 1
    }
  }

  func testText_whenAtTheEdges_isClampedToFourDigitYears() {
    let cases: [(Int64, String)] = [
      (.min, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
      (-62_167_219_199_999, "0000-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (0, "1970-01-01T00:00:00.000Z"), (1_709_209_987_000, "2024-02-29T12:33:07.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
    ]
    for (wallMs, expected) in cases { XCTAssertEqual(Timestamp.text(wallMs), expected) }
  }

  func testText_whenRandom_readsBackExactly() throws {
    var random = SplitMix(seed: SplitMix.seed("TIMESTAMP_SEED"))
    for _ in 0..<50_000 {
      let wallMs = Int64.random(in: Timestamp.range, using: &random)
      XCTAssertEqual(try TimestampTests.milliseconds(Timestamp.text(wallMs)), wallMs)
    }
  }

  func testDates_whenEncodedOnSixteenThreads_readBackWithinAMillisecond() {
    struct Payload: Encodable { let at: Date }
    let fixture = RecordingFixture { $0.beforeSend = { $0.type == "x" ? $0 : nil } }
    let failures = Guarded(0)
    onThreads(16) { thread in
      var random = SplitMix(seed: UInt64(thread))
      for _ in 0..<10_000 {
        let seconds = Double.random(in: 0...4e9, using: &random)
        // The hook drops it: what is raced here is the mapping, not the store.
        fixture.telemetry.record(
          "dropped", encoding: Payload(at: Date(timeIntervalSince1970: seconds)))
        let output = try? ValueEncoder.encode(
          Payload(at: Date(timeIntervalSince1970: seconds)), maxDepth: 4
        ).get()
        let text = output?.value["at"]?.stringValue ?? ""
        let read = try? TimestampTests.milliseconds(text)
        if read.map({ abs(Double($0) - seconds * 1_000) <= 1 }) != true {
          failures.withLock { $0 += 1 }
        }
      }
    }
    XCTAssertEqual(failures.withLock { $0 }, 0)
  }

  #if os(Linux)
    /// Run in a child process under another locale; alone it checks its own.
    func testLocaleProbe_whenRun_writesWhatItWrites() throws {
      let fixture = RecordingFixture()
      fixture.clock.setWall(1_777_908_787_005)  // 15:33:07.005Z
      fixture.telemetry.record("t", encoding: Everything.sample)
      let stored = try XCTUnwrap(fixture.stored.first)
      XCTAssert(stored.contains(#""ts":"2026-05-04T15:33:07.005Z""#), stored)
      if let path = ProcessInfo.processInfo.environment["LOCALE_PROBE_FILE"] {
        try stored.write(toFile: path, atomically: true, encoding: .utf8)
      }
    }

    func testEvents_whenTheLocaleChanges_areTheSameBytes() throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("locale-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var texts: Set<String> = []
      for locale in ["C", "en_GB.UTF-8", "en_US.UTF-8", "hi_IN", "ar_EG.UTF-8", "fa_IR", "de_DE"] {
        let file = folder.appendingPathComponent(locale).path
        try ChildTest.run(
          "TelemetrySDKTests.TimestampTests/testLocaleProbe_whenRun_writesWhatItWrites",
          environment: [
            "LC_ALL": locale, "LANG": locale, "LANGUAGE": locale, "TZ": "Asia/Kolkata",
            "LOCALE_PROBE_FILE": file,
          ])
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let stamp = try XCTUnwrap(text.components(separatedBy: #""ts":""#).last?.prefix(24))
        XCTAssertNotNil(
          stamp.range(of: TimestampTests.pattern, options: .regularExpression), "\(locale)")
        texts.insert(text)
      }
      XCTAssertEqual(texts.count, 1, "\(texts)")
    }
  #endif

  /// Reads a timestamp by its digits and an own count of days.
  static func milliseconds(_ text: String) throws -> Int64 {
    let digits = text.utf8.compactMap { (0x30...0x39).contains($0) ? Int64($0 - 0x30) : nil }
    guard digits.count == 17, text.utf8.count == 24 else { throw Unreadable(text: text) }
    func number(_ range: Range<Int>) -> Int64 { digits[range].reduce(0) { $0 * 10 + $1 } }
    let (year, month, day) = (number(0..<4), number(4..<6), number(6..<8))
    // Days before the year, then before the month.
    let past = year - 1
    var days = past * 365 + floorDivide(past, 4) - floorDivide(past, 100) + floorDivide(past, 400)
    days -= 719_162
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    days += lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1
    let seconds = number(8..<10) * 3_600 + number(10..<12) * 60 + number(12..<14)
    return (days * 86_400 + seconds) * 1_000 + number(14..<17)
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
    value >= 0 ? value / by : -((-value + by - 1) / by)
  }

  private struct Unreadable: Error { let text: String }
}
