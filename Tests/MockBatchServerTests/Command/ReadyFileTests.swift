import XCTest

@testable import MockBatchServer

final class ReadyFileTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("ready-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  func testFile_whenStale_isDeletedBeforeAndWrittenWholeAfter() throws {
    let path = folder + "/ready"
    try "old".write(toFile: path, atomically: false, encoding: .utf8)
    let file = ReadyFile(path: path)
    try file.prepare()
    XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    try file.write("{}\n")
    XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), "{}\n")
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["ready"])
  }

  func testFile_whenItCannotBeWritten_saysWhyInOneLine() {
    for (path, part) in [(folder, "is a folder"), (folder + "/none/ready", "there is no folder")] {
      XCTAssertThrowsError(try ReadyFile(path: path).prepare()) {
        XCTAssertTrue("\($0)".contains(part), "\($0)")
        XCTAssertFalse("\($0)".contains("\n"))
      }
    }
  }

  func testLine_whenTheServerRuns_hasUnescapedSlashes() throws {
    let server = try BatchServer(configuration: .init(adminPort: 0)).start()
    defer { server.stop() }
    let line = ReadyFile.line(for: server)
    XCTAssertTrue(line.hasPrefix(#"{"version":1,"url":"http://127.0.0.1:"#), line)
    XCTAssertTrue(line.contains(#""port":\#(server.port),"#), line)
    XCTAssertTrue(line.hasSuffix("}\n"), line)
  }
}
