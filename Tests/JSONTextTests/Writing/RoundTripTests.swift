import Foundation
import XCTest

import JSONText

/// Random values and random bytes. The seed is printed; `JSON_SEED=n` repeats a run.
final class RoundTripTests: XCTestCase {
  private struct Random {
    var state: UInt64
    mutating func next() -> UInt64 {
      // SplitMix64.
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
      return word ^ (word >> 31)
    }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  }

  private func seeded() -> Random {
    let given = ProcessInfo.processInfo.environment["JSON_SEED"].flatMap(UInt64.init)
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("JSON_SEED=\(seed)")
    return Random(state: seed)
  }

  private static let scalars: [Unicode.Scalar] = [
    "\u{0}", "\u{1f}", "\"", "\\", "/", "a", "Z", "0", " ", "\u{7f}", "\u{80}", "é", "\u{301}",
    "\u{7ff}",
    "\u{800}", "€", "\u{d7ff}", "\u{e000}", "\u{feff}", "\u{ffff}", "\u{10000}", "😀", "\u{10ffff}",
    "\u{2028}",
  ]

  private func string(_ random: inout Random) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<random.below(30) { text.append(Self.scalars[random.below(Self.scalars.count)]) }
    return String(text)
  }

  private func number(_ random: inout Random) -> JSONNumber {
    switch random.below(4) {
    case 0: return JSONNumber(Int64(bitPattern: random.next()))
    case 1: return JSONNumber(random.next())
    case 2: return JSONNumber(Double(bitPattern: random.next())) ?? JSONNumber(0)
    default:
      let digits = (0..<1 + random.below(40)).map { _ in String(random.below(10)) }.joined()
      let literal = "-\(1 + random.below(9))\(digits).\(digits)E+\(digits)"
      return JSONNumber(literal: literal)!
    }
  }

  private func value(_ random: inout Random, depth: Int) -> JSONValue {
    switch random.below(depth > 0 ? 7 : 5) {
    case 0: return nil
    case 1: return .bool(random.below(2) == 0)
    case 2: return .number(number(&random))
    case 3, 4: return .string(string(&random))
    case 5: return .array((0..<random.below(6)).map { _ in value(&random, depth: depth - 1) })
    default:
      var members: [(String, JSONValue)] = []
      for _ in 0..<random.below(20) {
        members.append((string(&random), value(&random, depth: depth - 1)))
      }
      return .object(JSONObject(members))
    }
  }

  func testAnyValue_whenWrittenAndRead_isItself() throws {
    var random = seeded()
    for round in 0..<150 {
      let value = value(&random, depth: 5)
      for pretty in [false, true] {
        let bytes = JSONWriter.bytes(value, pretty: pretty)
        XCTAssertEqual(try JSONValue.parse(bytes), value, "round \(round)")
        XCTAssertEqual(JSONWriter.bytes(try JSONValue.parse(bytes), pretty: pretty), bytes)
      }
      let sorted = try JSONValue.parse(JSONWriter.bytes(value, sortedKeys: true))
      XCTAssertEqual(
        JSONWriter.bytes(sorted, sortedKeys: true), JSONWriter.bytes(value, sortedKeys: true))
    }
  }

  /// The node tree, the cursor's walk and the value say the same.
  func testAnyDocument_whenWalkedByNodes_givesTheSameValue() throws {
    func rebuilt(_ node: JSONNode) -> JSONValue {
      switch node.kind {
      case .null: return nil
      case .bool: return .bool(node.bool!)
      case .number: return .number(node.number!)
      case .string: return .string(node.string!)
      case .array: return .array(node.elements.map(rebuilt))
      case .object: return .object(JSONObject(node.members.map { ($0.key, rebuilt($0.value)) }))
      }
    }
    func walked(_ cursor: JSONCursor) -> JSONValue {
      switch cursor.kind {
      case .null: return nil
      case .bool: return .bool(cursor.isTrue)
      case .number: return .number(cursor.number!)
      case .string: return .string(cursor.string!)
      case .array:
        var values: [JSONValue] = []
        var at = cursor.firstChild
        while let child = at {
          values.append(walked(child))
          at = child.next(in: cursor)
        }
        return .array(values)
      case .object:
        var members: [(String, JSONValue)] = []
        var at = cursor.firstChild
        while let key = at {
          members.append((key.string!, walked(key.valueOfKey)))
          at = key.valueOfKey.next(in: cursor)
        }
        return .object(JSONObject(members))
      }
    }
    var random = seeded()
    for _ in 0..<80 {
      let value = value(&random, depth: 4)
      let document = try JSONDocument(parsing: JSONWriter.bytes(value))
      XCTAssertEqual(rebuilt(document.root), value)
      XCTAssertEqual(document.withCursor(walked), value)
      XCTAssertEqual(document.root.value, value)
    }
  }

  /// Damaged texts never crash, and what is accepted reads back as itself.
  func testAnyBytes_whenDamaged_areRefusedWithAPlaceOrMeanThemselves() throws {
    var random = seeded()
    for _ in 0..<1000 {
      var bytes = JSONWriter.bytes(value(&random, depth: 3))
      for _ in 0..<1 + random.below(3) where !bytes.isEmpty {
        let at = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: at)
        default: bytes.insert(Array("{}[],:\"\\0u".utf8)[random.below(10)], at: at)
        }
      }
      do {
        let document = try JSONDocument(parsing: bytes)
        let value = document.root.value
        XCTAssertEqual(try JSONValue.parse(JSONWriter.bytes(value)), value)
        XCTAssertTrue(document.root.byteRange.upperBound <= bytes.count)
      } catch let error as JSONError {
        XCTAssertLessThanOrEqual(error.position.offset, bytes.count)
        XCTAssertGreaterThanOrEqual(error.position.line, 1)
      }
    }
  }
}
