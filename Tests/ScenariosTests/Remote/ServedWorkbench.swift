import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// One `workbench serve` in a process of its own, and `workbench` commands beside it.
final class ServedWorkbench {
  let folder: String
  private(set) var url = ""
  private var pid: Int32 = 0

  /// Starts the server and returns once it accepts; it ends with the test.
  init(_ arguments: String, in test: XCTestCase) throws {
    folder = try Fixture.folder(test)
    let ready = folder + "/ready.json"
    let start =
      "'\(Fixture.executable)' serve --port 0 --ready-file '\(ready)' \(arguments)"
      + " > /dev/null 2>&1 & i=0;"
      + " while [ ! -s '\(ready)' ]; do i=$((i+1)); [ $i -lt 1200 ] || exit 9; sleep 0.05; done"
    let outcome = ShellCommand.run(start, by: Deadline.after(ns: 60_000_000_000))
    guard outcome.succeeded else { throw RunnerFailure("serve did not start: \(outcome.text)") }
    let facts = try JSONValue.parse([UInt8](Data(contentsOf: URL(fileURLWithPath: ready))))
    url = facts["url"]?.stringValue ?? ""
    pid = Int32(facts["pid"]?.intValue ?? 0)
    test.addTeardownBlock { self.stop() }
  }

  func stop() {
    if pid > 1 { kill(pid, SIGKILL) }
    pid = 0
  }

  struct Run {
    var exit: Int
    /// Standard output and error together.
    var text: String
    var report: JSONValue
    var first: JSONValue? { report["cases"]?[0] }
    func verdict(_ checker: String) -> String? {
      first?["checks"]?.arrayValue?.first { $0["checker"]?.stringValue == checker }?["verdict"]?
        .stringValue
    }
  }

  /// Runs `workbench run` on a script in another process. `around` may wrap the command.
  static func run(
    _ script: String, _ arguments: String, in folder: String,
    around: (String) -> String = { $0 }
  ) throws -> Run {
    let file = folder + "/script.json"
    try script.write(toFile: file, atomically: true, encoding: .utf8)
    let json = folder + "/report.json"
    let text = folder + "/out.txt"
    let command =
      around("'\(Fixture.executable)' run '\(file)' --json '\(json)' \(arguments)")
      + " > '\(text)' 2>&1; echo $? > '\(folder)/exit'"
    _ = ShellCommand.run(command, by: Deadline.after(ns: 60_000_000_000))
    let exit = try String(contentsOfFile: folder + "/exit", encoding: .utf8)
    let report = FileManager.default.contents(atPath: json).map { [UInt8]($0) }
    return Run(
      exit: Int(exit.trimmed) ?? -1, text: try String(contentsOfFile: text, encoding: .utf8),
      report: try report.map { try JSONValue.parse($0) } ?? .null)
  }
}
