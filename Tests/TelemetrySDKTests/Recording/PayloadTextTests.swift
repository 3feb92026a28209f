import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

/// The bytes that go into the queue, for payloads that broke comparable software.
final class PayloadTextTests: XCTestCase {
  func testEvent_whenRecorded_hasExactlyTheFixedMembers() throws {
    let fixture = RecordingFixture()
    let id = try XCTUnwrap(EventID("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
    fixture.telemetry.record("navigation", ["screen": "Orders", "ms": 128], id: id)
    XCTAssertEqual(
      fixture.stored,
      [
        #"{"id":"b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11","ts":"2026-05-04T09:15:02.114Z","#
          + #""type":"navigation","payload":{"screen":"Orders","ms":128},"#
          + #""sessionId":"5e551011-0000-4000-8000-000000000000"}"#
      ])
  }

  func testNonFinite_whenAmongGoodEvents_losesNothing() {
    struct D: Encodable {
      let a = Double.nan
      let b = [Inner.number(.infinity), .object(["c": -.infinity])]
      let d = Float.nan
      enum Inner: Encodable {
        case number(Double)
        case object([String: Double])
        func encode(to encoder: any Encoder) throws {
          switch self {
          case .number(let number): try number.encode(to: encoder)
          case .object(let object): try object.encode(to: encoder)
          }
        }
      }
    }
    let fixture = RecordingFixture()
    XCTAssertNotNil(fixture.telemetry.record("odd", encoding: D()).id)
    for index in 0..<5 { fixture.telemetry.record("good", ["n": .number(index)]) }
    XCTAssertEqual(fixture.payloads.count, 6)
    XCTAssertEqual(fixture.payloads.first, #"{"a":null,"b":[null,{"c":null}],"d":null}"#)
    for json in fixture.stored { XCTAssertNoThrow(try JSONValue.parse(json)) }
    let named = fixture.diagnostics.withLock { events in
      events.filter { if case .valueReplaced = $0 { return true } else { return false } }
    }
    XCTAssertEqual(
      named,
      [
        .valueReplaced(path: "a"), .valueReplaced(path: "b[0]"), .valueReplaced(path: "b[1].c"),
        .valueReplaced(path: "d"),
      ])
  }

  func testPoison_whenBetweenGoodEvents_removesOnlyItself() {
    struct Poison: Encodable {
      struct Refusal: Error {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    let fixture = RecordingFixture()
    for index in 0..<10 { fixture.telemetry.record("good", ["n": .number(index)]) }
    XCTAssertEqual(
      fixture.telemetry.record("bad", encoding: ["deep": [Poison()]]), .rejected(.notEncodable))
    for index in 10..<20 { fixture.telemetry.record("good", ["n": .number(index)]) }
    XCTAssertEqual(fixture.payloads, (0..<20).map { "{\"n\":\($0)}" })
    XCTAssertEqual(
      fixture.diagnostics.withLock { $0 },
      [.notEncodable(path: "", why: "threw Refusal"), .rejected(.notEncodable)])
  }

  func testText_whenBeyondASCII_arrivesScalarByScalar() throws {
    let texts = [
      "000\u{1F354}", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "e\u{301}", "\u{0}", "\u{2028}\u{2029}", "שלום مرحبا", "\u{feff}x",
      "\u{10FFFF}",
    ]
    let fixture = RecordingFixture()
    for text in texts {
      fixture.telemetry.record(text, ["t": .string(text)])
      fixture.telemetry.record("e", encoding: [text: text])
    }
    let stored = fixture.stored
    for (index, text) in texts.enumerated() {
      let direct = try JSONValue.parse(stored[index * 2])
      let scalars = Array(text.unicodeScalars)
      XCTAssertEqual(direct["type"]?.stringValue.map { Array($0.unicodeScalars) }, scalars)
      XCTAssertEqual(
        direct["payload"]?["t"]?.stringValue.map { Array($0.unicodeScalars) }, scalars)
      let encoded = try JSONValue.parse(stored[index * 2 + 1])["payload"]?.objectValue
      XCTAssertEqual(encoded?.keys.first.map { Array($0.unicodeScalars) }, scalars)
      XCTAssertEqual(encoded?[text]?.stringValue.map { Array($0.unicodeScalars) }, scalars)
    }
  }

  func testBooleans_whenNextToNumbers_stayBooleans() {
    struct Flags: Encodable {
      let t = true
      let f = false
      let one = 1
      let zero = 0
      let n: [Item] = [.flag(true), .int(1), .double(1)]
      enum Item: Encodable {
        case flag(Bool)
        case int(Int)
        case double(Double)
        func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          switch self {
          case .flag(let value): try container.encode(value)
          case .int(let value): try container.encode(value)
          case .double(let value): try container.encode(value)
          }
        }
      }
    }
    let expected = #"{"t":true,"f":false,"one":1,"zero":0,"n":[true,1,1.0]}"#
    let fixture = RecordingFixture()
    fixture.telemetry.record("flags", encoding: Flags())
    fixture.telemetry.record(
      "flags", ["t": true, "f": false, "one": 1, "zero": 0, "n": [true, 1, 1.0]])
    XCTAssertEqual(fixture.payloads, [expected, expected])
    // Read again, as often as an event is tried: still the same bytes.
    for _ in 0..<3 { XCTAssertEqual(fixture.payloads, [expected, expected]) }
  }

  func testPayload_whenItIsNoObject_isRefused() {
    let telemetry = RecordingFixture().telemetry
    XCTAssertEqual(telemetry.record("x", [1, 2]), .rejected(.payloadNotObject))
    XCTAssertEqual(telemetry.record("x", encoding: [1, 2]), .rejected(.payloadNotObject))
    XCTAssertEqual(telemetry.record("x", encoding: 5), .rejected(.payloadNotObject))
  }

  func testType_whenEmpty_isRefusedAlsoWhereTheHookEmptiedIt() {
    XCTAssertEqual(RecordingFixture().telemetry.record("", [:]), .rejected(.emptyType))
    let emptying = RecordingFixture {
      $0.beforeSend = { event in
        var event = event
        event.type = ""
        return event
      }
    }
    XCTAssertEqual(emptying.telemetry.record("x", [:]), .rejected(.emptyType))
    XCTAssertEqual(emptying.stored, [])
  }

  func testConsent_whenWithdrawn_keepsForeignCodeFromRunning() {
    final class Watched: Encodable, @unchecked Sendable {
      // Guard: one thread.
      var runs = 0
      func encode(to encoder: any Encoder) throws {
        runs += 1
        try [String: Int]().encode(to: encoder)
      }
    }
    let fixture = RecordingFixture()
    let watched = Watched()
    fixture.telemetry.setConsent(false)
    XCTAssertEqual(fixture.telemetry.record("x", encoding: watched), .rejected(.noConsent))
    XCTAssertEqual(watched.runs, 0)
    fixture.telemetry.setConsent(true)
    XCTAssertNotNil(fixture.telemetry.record("x", encoding: watched).id)
    XCTAssertEqual(watched.runs, 1)
  }
}
