import Foundation
import XCTest

import JSONText

/// Deep and long texts, on the small stacks that secondary threads have on Apple's platforms.
final class DepthTests: XCTestCase {
  private final class Box<Value>: @unchecked Sendable {
    // Guarded by the expectation: written before it is fulfilled, read after.
    var value: Value?
  }

  private func onSmallStack<Value>(_ body: @escaping @Sendable () -> Value) -> Value? {
    let box = Box<Value>()
    let done = expectation(description: "small stack")
    let thread = Thread {
      box.value = body()
      done.fulfill()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    wait(for: [done], timeout: 60)
    return box.value
  }

  private static func nested(_ depth: Int, _ shape: Int) -> [UInt8] {
    let openings = ["[", "{\"a\":", "[{\"k\":"]
    let closings = ["]", "}", "}]"]
    let text =
      String(repeating: openings[shape], count: depth) + "1"
      + String(repeating: closings[shape], count: depth)
    return Array(text.utf8)
  }

  func testParser_whenTextIsDeepestAllowed_everythingWorksOnASmallStack() {
    let same = onSmallStack { () -> Bool in
      (0..<3).allSatisfy { shape in
        let levels = JSONLimits.deepestAllowed / (shape == 2 ? 2 : 1)
        let bytes = Self.nested(levels, shape)
        let limits = JSONLimits(maxDepth: 10_000)
        guard let value = try? JSONValue.parse(bytes, limits: limits),
          let again = try? JSONValue.parse(bytes, limits: limits)
        else { return false }
        return JSONWriter.bytes(value) == bytes && value == again
          && value.hashValue == again.hashValue
          && !JSONWriter.bytes(value, pretty: true).isEmpty
      }
    }
    XCTAssertEqual(same, true)
  }

  func testParser_whenNestingGrowsInChunks_refusesAtTheLimitAndNowhereElse() {
    let offsets = onSmallStack { () -> [Int?] in
      [100, 128, 129, 1_000, 10_000, 100_000, 1_000_000].map { depth in
        do {
          _ = try JSONDocument(parsing: Self.nested(depth, 0))
          return nil
        } catch { return (error as? JSONError)?.position.offset }
      }
    }
    XCTAssertEqual(offsets, [nil, nil, 128, 128, 128, 128, 128])
  }

  func testParser_whenOnlyOpenings_refusesAtTheLimit() {
    for (text, offset) in [("[", 128), ("{\"a\":", 640), ("[[],", 127 * 4 + 1)] {
      let bytes = Array(String(repeating: text, count: 300_000).utf8)
      XCTAssertThrowsError(try JSONDocument(parsing: bytes)) { error in
        let error = error as? JSONError
        XCTAssertEqual(error?.kind, .tooDeep(limit: 128))
        XCTAssertEqual(error?.position.offset, offset)
      }
    }
  }

  func testLimits_whenSet_boundDepthAndBytes() {
    let flat = JSONLimits(maxDepth: 0)
    XCTAssertNoThrow(try JSONValue.parse("1", limits: flat))
    XCTAssertThrowsError(try JSONValue.parse("[]", limits: flat))
    let short = JSONLimits(maxBytes: 4)
    XCTAssertNoThrow(try JSONValue.parse("[12]", limits: short))
    XCTAssertThrowsError(try JSONValue.parse("[123]", limits: short)) { error in
      XCTAssertEqual((error as? JSONError)?.kind, .tooLarge(limit: 4))
    }
    XCTAssertEqual(JSONLimits(maxDepth: -1, maxBytes: -1), JSONLimits(maxDepth: 0, maxBytes: 0))
    XCTAssertEqual(JSONLimits(maxDepth: .max).maxDepth, JSONLimits.deepestAllowed)
  }

  func testParser_whenArrayIsWide_readsAllOfIt() throws {
    let text = "[" + (0..<50_000).map(String.init).joined(separator: ", ") + "]"
    let root = try JSONDocument(parsing: Array(text.utf8)).root
    XCTAssertEqual(root.count, 50_000)
    XCTAssertEqual(root[49_999]?.number?.int64, 49_999)
    XCTAssertEqual(root.value.arrayValue?.count, 50_000)
  }
}
