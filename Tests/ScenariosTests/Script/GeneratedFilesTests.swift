import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// What is generated from the language's definition lies in the repository as it is generated.
final class GeneratedFilesTests: XCTestCase {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func kept(_ path: String) throws -> String {
    try String(contentsOf: GeneratedFilesTests.root.appendingPathComponent(path), encoding: .utf8)
  }

  func testSchema_whenGenerated_isTheKeptOne() throws {
    XCTAssertEqual(
      ScenarioSchema.text, try kept("scenarios/scenario.schema.json"),
      "run: workbench reference schema > scenarios/scenario.schema.json")
    XCTAssertNoThrow(try JSONValue.parse(ScenarioSchema.text))
  }

  func testReference_whenGenerated_isTheKeptOne() throws {
    XCTAssertEqual(
      ScenarioReference.text, try kept("docs/reference/scenario.md"),
      "run: workbench reference scenario > docs/reference/scenario.md")
  }

  func testScenarios_whenValidated_areAllGood() throws {
    let loaded = try ScriptLoader.load([
      GeneratedFilesTests.root.appendingPathComponent("scenarios").path
    ])
    XCTAssertEqual(loaded.mistakes, [])
    XCTAssertGreaterThanOrEqual(loaded.files, 60)
  }
}
