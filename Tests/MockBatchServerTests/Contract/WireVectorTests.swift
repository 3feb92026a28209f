import Foundation
import JSONText
import XCTest

@testable import MockBatchServer

/// The bodies that client and server agree on, kept as files for both.
final class WireVectorTests: XCTestCase {
  private func file(_ name: String) throws -> [UInt8] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return Array(try Data(contentsOf: tests.appendingPathComponent("Vectors/wire/" + name)))
  }

  func testBatches_whenSent_getTheirStatusProblemAndPointer() throws {
    let cases = try XCTUnwrap(JSONValue.parse(try file("batches.json")).arrayValue)
    XCTAssertGreaterThan(cases.count, 15)
    for item in cases {
      let members = try XCTUnwrap(item.objectValue)
      let name = members["name"]?.stringValue ?? ""
      let driver = try EngineDriver()
      let text = try XCTUnwrap(members["text"]?.stringValue)
      let running = driver.send(RequestBuilder.make(text))
      XCTAssertEqual(running.status, members["status"]?.intValue, name)
      XCTAssertEqual(running.problem, members["problem"]?.stringValue, name)
      XCTAssertEqual(
        running.json.objectValue?["pointer"]?.stringValue, members["pointer"]?.stringValue, name)
    }
  }

  func testGoldenBatch_whenSent_isStored() throws {
    let driver = try EngineDriver()
    let text = try file("golden-batch.json")
    let running = driver.send(RequestBuilder.make(body: GzipBuilder.make(text)))
    XCTAssertEqual(running.text, "{\"accepted\":2,\"duplicates\":0,\"rejected\":[]}")
    XCTAssertNotNil(driver.engine.ledger.entry("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"))
  }
}
