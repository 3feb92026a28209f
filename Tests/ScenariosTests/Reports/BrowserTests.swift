import Foundation
import XCTest

@testable import Scenarios

/// The HTML report of a real failure, in a real browser where there is one.
final class BrowserTests: XCTestCase {
  private func report(in folder: String) throws -> (file: String, text: String) {
    let script = PythonServer.fixtures.appendingPathComponent("failing-scenario.json").path
    let file = folder + "/report.html"
    let command =
      "'\(Fixture.executable)' run '\(script)' --lane virtual --html '\(file)' > /dev/null 2>&1;"
      + " test $? -eq 1"
    let outcome = ShellCommand.run(command, by: Deadline.after(ns: 60_000_000_000))
    XCTAssert(outcome.succeeded, "the fixture fails with exit code 1: \(outcome.text)")
    return (file, try String(contentsOfFile: file, encoding: .utf8))
  }

  func testReport_whenAScenarioFails_beginsWithItsCause() throws {
    let (_, text) = try report(in: try Fixture.folder(self))
    let table = try XCTUnwrap(text.range(of: "<h2>Scenarios</h2>")).lowerBound
    let first = String(text[..<table])
    for words in [
      "1 of 1 need a look", "backlog-behind-a-busy-server", "failing-scenario.json:14:",
      "delivered: 0 of 120 of &quot;morning&quot; delivered, 120 are missing", "sent 1 (request 1)",
      "replay: workbench replay", "<svg class=\"timeline\"",
    ] {
      XCTAssert(first.contains(words), "\(words) in \(first.prefix(3_000))")
    }
  }

  func testReport_whenOpenedInABrowser_hasNoErrorOnItsConsole() throws {
    guard let browser = PythonServer.find("chromium") else {
      throw XCTSkip("chromium is not installed")
    }
    let folder = try Fixture.folder(self)
    let (file, _) = try report(in: folder)
    let command =
      "'\(browser)' --headless --no-sandbox --disable-gpu --user-data-dir='\(folder)/profile'"
      + " --enable-logging=stderr --v=0 --virtual-time-budget=5000 --dump-dom 'file://\(file)#s1'"
      + " > '\(folder)/dom' 2> '\(folder)/log'"
    let outcome = ShellCommand.run(command, by: Deadline.after(ns: 60_000_000_000))
    guard outcome.succeeded else { throw XCTSkip("chromium does not run here: \(outcome.text)") }
    let log = try String(contentsOfFile: folder + "/log", encoding: .utf8)
    XCTAssertFalse(log.contains("CONSOLE"), log)
    let dom = try String(contentsOfFile: folder + "/dom", encoding: .utf8)
    // The page's own script has opened the scenario that the address names.
    XCTAssert(dom.contains("<details id=\"s1\"") && dom.contains("open=\"\""), "not opened")
  }
}
