import Foundation
import XCTest

/// The docs name what is there, and nothing that is not.
final class ProseStyleTests: XCTestCase {
  func testArchitecture_whenAFolderExists_namesIt() throws {
    let page = try Checkout.read("docs/architecture.md")
    var folders = Set<String>()
    for file in try Checkout.files(below: "Sources") {
      folders.insert(file.path.split(separator: "/").dropLast().last.map(String.init) ?? "")
    }
    let missing = folders.filter { !page.contains($0) && !$0.hasSuffix(".docc") }
    XCTAssert(missing.isEmpty, "docs/architecture.md does not name: \(missing.sorted())")
  }

  func testReadme_whenItNamesCommands_theyExist() throws {
    let readme = try Checkout.read("README.md")
    let makefile = try Checkout.read("Makefile")
    var missing: [String] = []
    for part in readme.components(separatedBy: "make ").dropFirst() {
      let target = part.prefix { $0.isLowercase && $0.isASCII || $0 == "-" }
      guard !target.isEmpty,
        readme.contains("make \(target)`") || readme.contains("\nmake \(target)")
      else { continue }
      if !makefile.contains("\n\(target):") { missing.append(String(target)) }
    }
    XCTAssert(missing.isEmpty, "README names make targets that do not exist: \(missing)")
  }

  func testReadmeLinks_whenRelative_pointToFiles() throws {
    var missing: [String] = []
    for page in ["README.md", "CONTRIBUTING.md"]
      + (try Checkout.files(below: "docs", suffix: ".md").map(\.path))
    {
      let text = try Checkout.read(page)
      let folder = Checkout.root.appendingPathComponent(page).deletingLastPathComponent()
      for part in text.components(separatedBy: "](").dropFirst() {
        let target = part.prefix { $0 != ")" && $0 != "#" }
        guard !target.isEmpty, !target.contains(":"), !target.contains(" ") else { continue }
        let file = folder.appendingPathComponent(String(target))
        if !FileManager.default.fileExists(atPath: file.path) {
          missing.append("\(page) → \(target)")
        }
      }
    }
    XCTAssert(missing.isEmpty, "dead links:\n" + missing.joined(separator: "\n"))
  }
}

/// Code in the README is code that is built or run elsewhere, word for word.
final class ReadmeCodeTests: XCTestCase {
  private func blocks(of language: String) throws -> [String] {
    var found: [String] = []
    for part in try Checkout.read("README.md").components(separatedBy: "```\(language)\n")
      .dropFirst()
    {
      found.append(part.components(separatedBy: "\n```").first ?? "")
    }
    return found
  }

  /// Without indentation, so that a block may stand inside a function elsewhere.
  private func plain(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
      separator: "\n")
  }

  private func assertFound(_ blocks: [String], in files: [Checkout.SourceFile]) {
    XCTAssertFalse(blocks.isEmpty)
    for block in blocks {
      let wanted = plain(block)
      XCTAssert(
        files.contains { plain($0.text).contains(wanted) },
        "this README block stands nowhere that is built or run:\n\(block)")
    }
  }

  func testSwiftBlocks_whenShown_areBuiltSomewhere() throws {
    assertFound(
      try blocks(of: "swift"),
      in: try Checkout.files(below: "Tests") + Checkout.files(below: "Examples"))
  }

  func testScenarioBlocks_whenShown_areKeptScenarios() throws {
    assertFound(try blocks(of: "json"), in: try Checkout.files(below: "scenarios", suffix: ".json"))
  }
}
