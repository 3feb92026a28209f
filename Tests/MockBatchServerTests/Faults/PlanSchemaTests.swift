import Foundation
import JSONText
import XCTest

@testable import MockBatchServer

final class PlanSchemaTests: XCTestCase {
  private var root: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
  }

  /// `WRITE_SCHEMA=1 swift test --filter PlanSchemaTests` writes the file anew.
  func testSchemaFile_whenCompared_isWhatTheReaderChecks() throws {
    let file = root.appendingPathComponent("docs/reference/fault-plan.schema.json")
    let made = JSONWriter.bytes(PlanSchema.document(), pretty: true) + [0x0a]
    if ProcessInfo.processInfo.environment["WRITE_SCHEMA"] == "1" {
      try Data(made).write(to: file)
    }
    XCTAssertEqual(Array(try Data(contentsOf: file)), made)
  }

  func testReferencePage_whenRead_namesEveryKey() throws {
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/reference/fault-plan.md"), encoding: .utf8)
    let objects = [
      PlanObjects.plan, PlanObjects.contract, PlanObjects.token, PlanObjects.rule,
      PlanObjects.window, PlanObjects.toxic, PlanObjects.toxicAttributes,
      PlanObjects.timelineEntry, ResponseObjects.response, ResponseObjects.retryAfter,
      ResponseObjects.delay, ResponseObjects.dribble, ResponseObjects.effect,
      PatternObjects.request, PatternObjects.matcher, PatternObjects.body,
    ]
    for object in objects {
      for key in object.keys {
        XCTAssertTrue(page.contains("`\(key.name)`"), "\(object.name).\(key.name)")
      }
    }
    let words =
      Fault.allCases.map(\.rawValue) + EffectType.allCases.map(\.rawValue)
      + ToxicType.allCases.map(\.rawValue) + Phase.allCases.map(\.rawValue)
    for word in words { XCTAssertTrue(page.contains("`\(word)`"), word) }
  }
}
