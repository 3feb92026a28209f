import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

/// What is recorded comes back as exactly the JSON that the encoder writes, and nothing else does.
final class CompactFormTests: XCTestCase {
  private static let id =
    EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11") ?? EventID(bytes: SIMD16())
  private static let wallMs: Int64 = 1_777_886_102_114

  private struct Vector: Decodable {
    let name: String
    let content: String
    let json: String
  }

  private func vectors() throws -> [Vector] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Vectors/compact-events.json")
    return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  private func json(_ content: [UInt8]) -> [UInt8]? {
    EventContent.json(of: content[...], id: CompactFormTests.id, wallMs: CompactFormTests.wallMs)
  }

  // MARK: Golden bytes

  func testContent_whenReadFromTheVectors_isTheirJSON() throws {
    for vector in try vectors() {
      let json = try XCTUnwrap(json(bytes(vector.content)), vector.name)
      XCTAssertEqual(String(decoding: json, as: UTF8.self), vector.json, vector.name)
    }
  }

  func testContent_whenWrittenFromTheVectors_isTheirBytes() throws {
    let vectors = try vectors()
    XCTAssertEqual(vectors.count, 11)
    for vector in vectors {
      let event = try JSONValue.parse(vector.json)
      let content = try XCTUnwrap(
        EventContent(
          id: CompactFormTests.id, wallMs: CompactFormTests.wallMs,
          type: try XCTUnwrap(event["type"]?.stringValue),
          payload: try XCTUnwrap(event["payload"]?.objectValue), maxDepth: 64)
      ).finished(session: try XCTUnwrap(event["sessionId"]?.stringValue))
      XCTAssertEqual(content.bytes, bytes(vector.content), vector.name)
      XCTAssertEqual(content.jsonBytes, vector.json.utf8.count, vector.name)
    }
  }

  // MARK: Any event

  func testContent_whenTheEventIsAny_givesTheEncodersJSON() throws {
    var random = AnyEvent(seed: SplitMix.seed("COMPACT_SEED"))
    for number in 0..<4_000 {
      let event = random.next()
      let content = try XCTUnwrap(event.content, "event \(number)")
      let json = content.json(id: event.id, wallMs: event.wallMs)
      XCTAssertEqual(
        json.map { String(decoding: $0, as: UTF8.self) },
        String(decoding: event.json, as: UTF8.self), "event \(number)")
      XCTAssertEqual(json, event.json, "event \(number)")
      XCTAssertEqual(content.jsonBytes, event.json.count, "event \(number)")
      XCTAssertLessThanOrEqual(content.bytes.count, event.json.count, "event \(number)")
    }
  }

  func testContent_whenTheClockIsBeyondTheRecord_carriesItsTimeItself() throws {
    for wallMs in [-1, Int64.min, 1 << 48, Int64.max, 0, (1 << 48) - 1] as [Int64] {
      let content = try XCTUnwrap(
        EventContent(
          id: CompactFormTests.id, wallMs: wallMs, type: "t", payload: [:], maxDepth: 1)
      ).finished(session: "s")
      var head: [UInt8] = []
      EventRecord.encodeHead(
        time: RecordedTime(wallMs: wallMs, sinceBootMs: 0, boot: 0), account: "", callerID: nil,
        into: &head)
      let record = try XCTUnwrap(EventRecord(head + content.bytes))
      XCTAssertEqual(
        record.json(rowID: CompactFormTests.id),
        EventEncoder.json(
          id: CompactFormTests.id, wallMs: wallMs, type: "t", payload: [:], session: "s"))
    }
  }

  // MARK: Damage

  func testContent_whenCutAnywhereOrLengthened_isNoEvent() throws {
    for vector in try vectors() {
      let content = bytes(vector.content)
      for count in 0..<content.count {
        XCTAssertNil(json(Array(content[..<count])), "\(vector.name), \(count) bytes")
      }
      XCTAssertNil(json(content + [0]), vector.name)
    }
  }

  /// The first and last byte of every kind of token.
  private static let boundaries: [UInt8] = [
    0x00, 0x7f, 0x80, 0xaf, 0xb0, 0xcf, 0xd0, 0xdf, 0xe0, 0xe7, 0xe8, 0xeb, 0xec, 0xed, 0xee, 0xef,
    0xf0, 0xf1, 0xf2, 0xff,
  ]

  func testContent_whenAnyByteIsAnother_isNoEventOrOneOfValidJSON() throws {
    for vector in try vectors() {
      let content = bytes(vector.content)
      for index in content.indices {
        let flipped = (0..<8).map { content[index] ^ 1 << UInt8($0) }
        for value in flipped + CompactFormTests.boundaries where value != content[index] {
          var wrong = content
          wrong[index] = value
          guard let json = json(wrong) else { continue }
          XCTAssertNoThrow(
            try JSONDocument(parsing: json), "\(vector.name), \(value) at \(index)")
        }
      }
    }
  }

  func testContent_whenItClaimsMoreThanThereIs_isNoEvent() {
    let many: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0x7f]
    let wrong: [String: [UInt8]] = [
      "nothing": [], "the form alone": [0x81],
      "an unknown form": [0x82, 0x81, 0x74, 0xd0] + [UInt8](repeating: 0, count: 16),
      "a type that is a number": [0x80, 0x05, 0xd0, 0],
      "a payload that is an array": [0x80, 0x81, 0x74, 0xe0, 0],
      "a payload that is a number": [0x80, 0x81, 0x74, 0x07, 0],
      "a key that is a number": [0x80, 0x81, 0x74, 0xd1, 0x05, 0x05, 0],
      "endless members": [0x80, 0x81, 0x74, 0xed] + many + [0],
      "endless elements": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xee] + many + [0],
      "an endless string": [0x80, 0xeb] + many + [0x74, 0xd0, 0],
      "an endless number": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xec] + many + [0],
      "a length without an end": [0x80, 0xeb] + [UInt8](repeating: 0x80, count: 90),
      "a reserved token": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xf2, 0],
      "text that is no UTF-8": [0x80, 0x81, 0xff, 0xd0, 0],
      "a number of one minus": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xb0, 0xbf, 0],
      "a leading zero": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xb1, 0x01, 0],
      "a filler inside": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xb2, 0xf1, 0x2f, 0],
      "a filler for a digit": [0x80, 0x81, 0x74, 0xd1, 0x80, 0xb1, 0x1f, 0],
      "an instant after the year 9999":
        [0x80, 0x81, 0x74, 0xd1, 0x80, 0xf0] + [UInt8](repeating: 0xff, count: 6) + [0],
    ]
    for (name, content) in wrong { XCTAssertNil(json(content), name) }
  }

  func testContent_whenNestedBeyondAllLimits_isNoEventAndNoOverflow() {
    func nested(_ levels: Int) -> [UInt8] {
      [0x80, 0x81, 0x74, 0xd1, 0x80] + [UInt8](repeating: 0xe1, count: levels) + [0x07, 0]
    }
    XCTAssertNotNil(json(nested(JSONLimits.deepestAllowed - 1)))
    XCTAssertNil(json(nested(JSONLimits.deepestAllowed)))
    XCTAssertNil(json(nested(250_000)))
  }

  func testContent_whenDeeperThanTheLimit_isNotMade() {
    func nested(_ levels: Int) -> JSONValue {
      if levels == 0 { return 1 }
      return levels % 2 == 0 ? [nested(levels - 1)] : ["n": nested(levels - 1)]
    }
    for levels in 1...6 {
      for limit in 1...7 {
        let content = EventContent(
          id: CompactFormTests.id, wallMs: 0, type: "t", payload: ["p": nested(levels - 1)],
          maxDepth: limit)
        XCTAssertEqual(content != nil, levels <= limit, "\(levels) levels, limit \(limit)")
      }
    }
  }
}
