import Foundation
import XCTest

@testable import Scenarios

/// Whatever the command line names may be anything: larger than memory, a link, a pipe.
final class UserFileTests: XCTestCase {
  func testRead_whenTheFileIsHuge_readsOneByteMoreThanTheBound() throws {
    let file = try Fixture.folder(self) + "/huge.json"
    try Data("{".utf8).write(to: URL(fileURLWithPath: file))
    let handle = try XCTUnwrap(FileHandle(forWritingAtPath: file))
    // A hole: it takes no room on the disk.
    try handle.truncate(atOffset: 3 << 30)
    try handle.close()
    let contents = try UserFile.read(file, atMost: 4_000_000)
    XCTAssertEqual(contents.bytes.count, 4_000_001)
    XCTAssertEqual(contents.size, 3 << 30)
    let loaded = try ScriptLoader.load([file])
    XCTAssertEqual(
      loaded.mistakes,
      ["\(file):1:1: the script has 3221225472 bytes, at most 4000000 are read\n"])
    XCTAssertThrowsError(try UserFile.readWhole(file, atMost: 10)) {
      XCTAssertEqual("\($0)", "\(file): has 3221225472 bytes, at most 10 are read")
    }
  }

  func testRead_whenItIsNoFile_saysWhatItIs() throws {
    let folder = try Fixture.folder(self)
    XCTAssertThrowsError(try UserFile.read(folder, atMost: 1)) {
      XCTAssertEqual("\($0)", "\(folder): is a folder")
    }
    XCTAssertThrowsError(try UserFile.read(folder + "/none", atMost: 1)) {
      XCTAssertEqual("\($0)", "\(folder)/none: no such file")
    }
  }

  func testWrite_whenThePathIsALink_keepsTheLink() throws {
    let folder = try Fixture.folder(self)
    try Data("old".utf8).write(to: URL(fileURLWithPath: folder + "/file"))
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/link", withDestinationPath: folder + "/file")
    try UserFile.write(Array("new".utf8), to: folder + "/link")
    XCTAssertEqual(try String(contentsOfFile: folder + "/file", encoding: .utf8), "new")
    XCTAssertNoThrow(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link"))
  }

  func testReport_whenItsPathIsAPipe_goesThroughThePipe() throws {
    let folder = try Fixture.folder(self)
    try Data(
      """
      {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"a"}}],"expect":[{"lost":0}]}
      """.utf8
    ).write(to: URL(fileURLWithPath: folder + "/s.json"))
    let command = """
      cd '\(folder)' && mkfifo pipe && { cat pipe > read & } \
        && '\(Fixture.executable)' run s.json --lane virtual --junit pipe > out 2>&1; \
        echo $? > exit; wait; test -p pipe && echo pipe > kind
      """
    _ = ShellCommand.run(command, by: Deadline.after(ns: 60_000_000_000))
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }
    let out = try text("out")
    XCTAssertEqual(try text("exit"), "0\n", out)
    XCTAssertEqual(try text("kind"), "pipe\n", "the pipe was replaced by a file")
    let read = try text("read")
    XCTAssert(read.contains("<testsuites"), read)
  }

  func testOut_whenNothingCanBeKept_saysSo() throws {
    let script = """
      {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"a"}}],
       "expect":[{"stored":7}]}
      """
    let scenarios = try ScenarioParser.parse(file: "s.json", bytes: Array(script.utf8))
    var options = SuiteRunner.Options(executable: Fixture.executable)
    options.outFolder = "/proc/none"
    let cases = CaseList.cases(scenarios, CaseSelection(lanes: [.virtual]))
    let result = try XCTUnwrap(SuiteRunner(cases, options: options) { _, _, _ in }.run().first)
    XCTAssertEqual(result.exitCode, .broken)
    XCTAssertNil(result.kept)
    XCTAssertEqual(
      result.failure?.hasPrefix("what the case left cannot be kept: "), true,
      result.failure ?? "nothing")
  }
}
