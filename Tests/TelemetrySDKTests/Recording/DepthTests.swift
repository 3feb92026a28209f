import Foundation
import JSONText
import XCTest

@testable import TelemetrySDK

/// Nesting, on a thread with a small stack: up to the limit recorded, beyond it refused.
final class DepthTests: XCTestCase {
  /// As deep as asked, an object and an array by turns, or one kind only.
  private struct Nest: Encodable {
    enum Kind { case objects, arrays, mixed }
    let levels: Int
    let kind: Kind
    private enum Key: CodingKey { case n }

    func encode(to encoder: any Encoder) throws {
      let isArray = kind == .arrays || kind == .mixed && levels % 2 == 0
      if isArray {
        var container = encoder.unkeyedContainer()
        if levels > 1 { try container.encode(Nest(levels: levels - 1, kind: kind)) }
      } else {
        var container = encoder.container(keyedBy: Key.self)
        if levels > 1 { try container.encode(Nest(levels: levels - 1, kind: kind), forKey: .n) }
      }
    }
  }

  /// Encodes itself, for ever, without opening a container.
  private struct Ouroboros: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(self)
    }
  }

  /// Opens nested containers, which cannot throw, far beyond the limit.
  private struct Driller: Encodable {
    enum Key: CodingKey { case n }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for _ in 0..<10_000 {
        container = container.nestedContainer(keyedBy: Key.self, forKey: .n)
      }
      try? container.encode(1, forKey: .n)
    }
  }

  private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    let done = expectation(description: "thread")
    let thread = Thread {
      body()
      done.fulfill()
    }
    thread.stackSize = 512 * 1_024
    thread.start()
    wait(for: [done], timeout: 60)
  }

  private static func receipt(_ levels: Int, _ kind: Nest.Kind, limit: Int = 64) -> RecordReceipt {
    let fixture = RecordingFixture { $0.maxPayloadDepth = limit }
    return fixture.telemetry.record("deep", encoding: ["n": Nest(levels: levels - 1, kind: kind)])
  }

  func testEncodables_whenAsDeepAsTheLimitOnASmallStack_areRecorded() {
    onSmallStack {
      for kind in [Nest.Kind.objects, .arrays, .mixed] {
        for levels in [2, 10, 63, 64] {
          XCTAssertNotNil(Self.receipt(levels, kind).id, "\(kind) \(levels)")
        }
        for levels in [65, 100, 511, 512, 513, 10_000] {
          XCTAssertEqual(Self.receipt(levels, kind), .rejected(.tooDeep), "\(kind) \(levels)")
        }
      }
    }
  }

  func testEncodables_whenTheLimitIsAtItsHighestOnASmallStack_neverOverflowIt() {
    onSmallStack {
      for kind in [Nest.Kind.objects, .arrays, .mixed] {
        for levels in [100, 200, 300, 400, 500] {
          // What a frame costs depends on the build; where it is too much, it is refused.
          let receipt = Self.receipt(levels, kind, limit: 500)
          XCTAssert(receipt.id != nil || receipt == .rejected(.tooDeep), "\(kind) \(levels)")
          if levels == 100 { XCTAssertNotNil(receipt.id, "\(kind)") }
        }
        XCTAssertEqual(Self.receipt(501, kind, limit: 500), .rejected(.tooDeep), "\(kind)")
      }
    }
  }

  func testEncodables_whenWithoutEnd_areRefused() {
    onSmallStack {
      for limit in [64, 500] {
        let telemetry = RecordingFixture { $0.maxPayloadDepth = limit }.telemetry
        XCTAssertEqual(telemetry.record("x", encoding: Ouroboros()), .rejected(.tooDeep))
        XCTAssertEqual(telemetry.record("x", encoding: Driller()), .rejected(.tooDeep))
      }
    }
  }

  func testValues_whenDeeperThanTheLimitOnASmallStack_areRefused() {
    for wrap in [{ JSONValue.array([$0]) }, { JSONValue.object(["n": $0]) }] {
      for (levels, isTaken) in [(10, true), (64, true), (65, false), (511, false), (513, false)] {
        var value = JSONValue.object([:])
        for _ in 1..<(levels - 1) { value = wrap(value) }
        let payload = JSONValue.object(["n": value])
        onSmallStack {
          let receipt = RecordingFixture().telemetry.record("deep", payload)
          XCTAssertEqual(receipt.id != nil, isTaken, "\(levels): \(receipt)")
          if !isTaken { XCTAssertEqual(receipt, .rejected(.tooDeep)) }
        }
      }
    }
  }

  func testValues_when10000LevelsDeepOnASmallStack_areRefused() {
    final class Box: @unchecked Sendable {
      // Guard: the threads take turns.
      var value = JSONValue.object([:])
    }
    let box = Box()
    for level in 0..<10_000 {
      box.value = level % 2 == 0 ? .array([box.value]) : .object(["n": box.value])
    }
    onSmallStack {
      XCTAssertEqual(
        RecordingFixture().telemetry.record("deep", box.value), .rejected(.tooDeep))
    }
    // Let go level by level: Swift frees nested values by recursion.
    while let inner = box.value["n"] ?? box.value[0] { box.value = inner }
  }
}
