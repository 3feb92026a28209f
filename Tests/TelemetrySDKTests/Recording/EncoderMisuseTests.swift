import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

/// Types whose `encode(to:)` misbehaves are refused with a reason; the host never crashes.
final class EncoderMisuseTests: XCTestCase {
  private func fault(_ value: some Encodable, maxDepth: Int = 64) -> EncodingFault? {
    guard case .failure(let fault) = ValueEncoder.encode(value, maxDepth: maxDepth) else {
      return nil
    }
    return fault
  }

  /// Runs the closure as its `encode(to:)`.
  private struct Custom: Encodable {
    let body: (any Encoder) throws -> Void
    init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }
    func encode(to encoder: any Encoder) throws { try body(encoder) }
  }

  private enum Key: String, CodingKey { case a, b }
  private struct Oops: Error {}

  func testEncoding_whenItThrows_isRefusedWithTheErrorsType() {
    XCTAssertEqual(fault(Custom { _ in throw Oops() })?.why, "threw Oops")
    XCTAssertEqual(fault(["x": [Custom { _ in throw Oops() }]])?.reason, .notEncodable)
  }

  func testEncoding_whenItWritesNothing_isRefused() {
    XCTAssertEqual(fault(Custom { _ in })?.kind, .nothing)
    XCTAssertEqual(
      fault(Custom { _ = $0.singleValueContainer() })?.kind, .nothing)
  }

  func testEncoding_whenAMemberWritesNothing_isAnEmptyObject() throws {
    let value = try ValueEncoder.encode(["x": Custom { _ in }], maxDepth: 64).get().value
    XCTAssertEqual(value.description, #"{"x":{}}"#)
  }

  func testEncoding_whenOnePlaceGetsTwoValues_isRefused() {
    let twice: [Custom] = [
      Custom {
        var container = $0.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      },
      Custom {
        var container = $0.singleValueContainer()
        try container.encode("x")
        _ = $0.unkeyedContainer()
      },
      Custom {
        var keyed = $0.container(keyedBy: Key.self)
        try keyed.encode(1, forKey: .a)
        var list = $0.unkeyedContainer()
        try list.encode(1)
      },
      Custom {
        _ = $0.unkeyedContainer()
        var container = $0.singleValueContainer()
        try container.encodeNil()
      },
    ]
    for (index, custom) in twice.enumerated() {
      XCTAssertEqual(fault(custom)?.kind, .twice, "\(index)")
      XCTAssertEqual(fault(["m": custom]), EncodingFault(kind: .twice, path: "m"), "\(index)")
    }
  }

  func testEncoding_whenItCatchesTheFault_isStillRefused() {
    let custom = Custom {
      var container = $0.singleValueContainer()
      try container.encode(1)
      do { try container.encode(2) } catch { return }
    }
    XCTAssertEqual(fault(custom)?.kind, .twice)
  }

  func testEncoding_whenItCatchesAMembersError_goesOnWithoutIt() throws {
    let custom = Custom {
      var keyed = $0.container(keyedBy: Key.self)
      do { try keyed.encode(Custom { _ in throw Oops() }, forKey: .a) } catch {}
      try keyed.encode(2, forKey: .b)
    }
    XCTAssertEqual(
      try ValueEncoder.encode(custom, maxDepth: 64).get().value.description, #"{"b":2}"#)
  }

  func testContainers_whenNestedAndSuper_standWhereTheyWereAsked() throws {
    let custom = Custom {
      var keyed = $0.container(keyedBy: Key.self)
      var inner = keyed.nestedContainer(keyedBy: Key.self, forKey: .a)
      var list = keyed.nestedUnkeyedContainer(forKey: .b)
      try 7.encode(to: keyed.superEncoder())
      try list.encode("late")
      try inner.encode(1, forKey: .b)
      var deeper = list.nestedContainer(keyedBy: Key.self)
      try deeper.encode(true, forKey: .a)
      var flat = list.nestedUnkeyedContainer()
      try flat.encodeNil()
      try "s".encode(to: list.superEncoder())
      // The same container again: goes on, as with Foundation's encoder.
      var again = keyed.nestedContainer(keyedBy: Key.self, forKey: .a)
      try again.encode(2, forKey: .a)
      var whole = $0.container(keyedBy: Key.self)
      try whole.encode("first place, last value", forKey: .b)
      XCTAssertEqual(list.count, 4)
    }
    XCTAssertEqual(
      try ValueEncoder.encode(custom, maxDepth: 64).get().value.description,
      #"{"a":{"b":1,"a":2},"b":"first place, last value","super":7}"#)
  }

  func testInheritance_whenASuperclassUsesItsOwnContainer_isUnderSuper() throws {
    class Base: Encodable {
      let x = 1
    }
    final class Derived: Base {
      private enum Key: CodingKey { case y }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(2, forKey: .y)
        try super.encode(to: container.superEncoder())
      }
    }
    XCTAssertEqual(
      try ValueEncoder.encode(Derived(), maxDepth: 64).get().value.description,
      #"{"y":2,"super":{"x":1}}"#)
  }

  func testContainers_whenKeptBeyondTheCall_writeNowhere() throws {
    final class Keeper { var container: (any SingleValueEncodingContainer)? }
    let keeper = Keeper()
    let custom = Custom {
      keeper.container = $0.singleValueContainer()
      try keeper.container?.encode(1)
    }
    XCTAssertNil(fault(custom))
    XCTAssertThrowsError(try keeper.container?.encode(2))
  }

  func testPaths_whenLong_areCut() {
    let key = String(repeating: "ключ", count: 100)
    let path = fault([
      key: Custom {
        _ = $0.unkeyedContainer(); _ = $0.container(keyedBy: Key.self)
      }
    ])?
    .path
    XCTAssertEqual(path?.utf8.count, EncodingPath.maxBytes)
    XCTAssertEqual(path.map { key.hasPrefix($0) }, true)
  }
}
