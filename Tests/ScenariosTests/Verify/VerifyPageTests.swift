import Foundation
import XCTest

@testable import Scenarios

/// The page for server engineers names what is there, in the words of the code.
final class VerifyPageTests: XCTestCase {
  private func page() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("docs/verify.md"), encoding: .utf8)
  }

  func testPage_whenACheckExists_hasItsRow() throws {
    let page = try page()
    for check in ContractCatalogue.all {
      let row = "| `\(check.id)` | \(check.rule) | \(check.why) |"
      XCTAssert(page.contains(row), "docs/verify.md lacks:\n\(row)")
    }
  }

  func testPage_whenAPolicyKeyExists_hasItsRow() throws {
    let page = try page()
    for field in ServerPolicy.shape.fields {
      let row =
        "| `\(field.key)` | \(VerifyPageTests.values(field.shape)) |"
        + " \(field.byDefault.map { "`\($0)`" } ?? "–") | \(field.about) |"
      XCTAssert(page.contains(row), "docs/verify.md lacks:\n\(row)")
    }
  }

  private static func values(_ shape: ValueShape) -> String {
    switch shape {
    case .choice(let choices): return choices.map { "`\($0)`" }.joined(separator: ", ")
    case .integer(let range): return "\(range.lowerBound) to \(range.upperBound)"
    case .duration: return "a duration, e.g. `\"5s\"`"
    case .size: return "a size, e.g. `\"256KB\"`"
    case .null: return "null"
    case .either(let shapes): return shapes.map(values).joined(separator: ", or ")
    default: return "a text"
    }
  }

  func testPage_whenAnOptionExists_namesIt() throws {
    let page = try page()
    for word in VerifyCommand.usage.split(whereSeparator: { " \n[]|,".contains($0) })
    where word.hasPrefix("--") {
      XCTAssert(page.contains(word), "docs/verify.md lacks \(word)")
    }
  }

  func testCatalogue_whenRead_hasUniqueIdsAndWholeSentences() {
    let ids = ContractCatalogue.all.map(\.id)
    XCTAssertEqual(Set(ids).count, ids.count)
    for check in ContractCatalogue.all {
      XCTAssert(check.rule.hasSuffix("."), check.id)
      XCTAssert(check.why.hasSuffix("."), check.id)
      XCTAssertGreaterThan(check.why.count, 20, check.id)
    }
  }
}
