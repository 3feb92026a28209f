import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// The workbench's own server keeps the contract, through HTTP and processes alone.
final class ServeTests: VerifyTestCase {
  /// Starts, restarts and ends one `workbench serve`, as an operator would: by a shell.
  private struct Operator {
    var url: String
    var restart: String
    var pidFile: String
  }

  private func executable() throws -> String {
    let bundle = Bundle(for: ServeTests.self).bundleURL
    let started = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
    for base in [bundle, bundle.deletingLastPathComponent(), started.deletingLastPathComponent()] {
      let candidate = base.appendingPathComponent("workbench").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    throw XCTSkip("the workbench executable is not beside the tests")
  }

  private func shell(_ command: String) throws {
    let outcome = ShellCommand.run(command, by: Deadline.after(ns: 60_000_000_000))
    XCTAssert(outcome.succeeded, "\(command)\n\(outcome.text)")
  }

  /// The command that starts a server in the background and returns once it is ready.
  private func start(_ arguments: String, port: Int) throws -> String {
    let ready = folder.appendingPathComponent("ready.json").path
    return "rm -f '\(ready)'; '\(try executable())' serve --port \(port) --ready-file '\(ready)'"
      + " \(arguments) > /dev/null 2>&1 & i=0;"
      + " while [ ! -s '\(ready)' ]; do i=$((i+1)); [ $i -lt 600 ] || exit 9; sleep 0.05; done"
  }

  private func serve(_ arguments: String) throws -> Operator {
    guard let python = PythonServer.find("python3") else {
      throw XCTSkip("python3 is not installed")
    }
    try shell(try start(arguments, port: 0))
    let ready = folder.appendingPathComponent("ready.json")
    let facts = try JSONValue.parse([UInt8](Data(contentsOf: ready)))
    let url = try XCTUnwrap(facts["url"]?.stringValue)
    let port = try XCTUnwrap(facts["port"]?.intValue)
    let pid = folder.appendingPathComponent("pid").path
    let pidOf =
      "\(python) -c 'import json,sys; print(json.load(open(sys.argv[1]))[\"pid\"])'"
      + " '\(ready.path)' > '\(pid)'"
    try shell(pidOf)
    let send = "\(python) '\(PythonServer.fixtures.path)/send.py'"
    let restart =
      "kill -TERM $(cat '\(pid)') && \(send) closed \(url) && { \(try start(arguments, port: port)); }"
      + " && \(pidOf)"
    return Operator(url: url, restart: restart, pidFile: pid)
  }

  private func end(_ server: Operator) throws {
    try shell("kill -KILL $(cat '\(server.pidFile)')")
  }

  func testServe_whenEveryInputIsGiven_passesEveryCheck() throws {
    let contract = """
      "contract":{"tokens":[{"value":"\(VerifyTestCase.token)"},\
      {"value":"\(VerifyTestCase.expired)","expiresAt":"0s"}]}
      """
    let plan = try file("plan.json", "{\"version\":1,\(contract)}")
    let busy = try file(
      "busy.json",
      """
      {"version":1,\(contract),"rules":[{"id":"busy","when":{"times":1},
       "responses":[{"status":429,"retryAfter":{"in":"1s","form":"imf"}}]}]}
      """)
    let ledger = folder.appendingPathComponent("ledger.sqlite").path
    let server = try serve("--plan '\(plan)' --ledger '\(ledger)'")
    let provoke =
      "python3 '\(PythonServer.fixtures.path)/send.py' PUT \(server.url)/__admin/plan '\(busy)'"
    let run = try verify(
      server.url,
      [
        "--observe", "admin", "--expired-token-env", "EXPIRED", "--destructive", "--require-all",
        "--restart-command", server.restart, "--provoke-command", provoke,
      ])
    try end(server)
    XCTAssertEqual(run.ids("pass"), ContractCatalogue.all.map(\.id), run.out + run.complaint)
    XCTAssertEqual(run.exit, 0)
  }

  func testServe_whenStartedByDefault_failsNothingAndNamesWhatIsMissing() throws {
    let server = try serve("")
    let run = try verify(server.url)
    try end(server)
    XCTAssertEqual(run.ids("fail"), [], run.out)
    XCTAssertEqual(run.exit, 0)
    XCTAssertEqual(
      run.ids("skipped"),
      [
        "auth.wrong", "auth.expired", "encoding.bomb", "json.deep", "restart.resent",
        "restart.stored-once", "retry.after", "retry.accepted-later",
      ])
    XCTAssert(run.sentence("auth.wrong").contains("takes any token"))
    XCTAssertEqual(
      run.ids("not observable"),
      ContractCatalogue.all.filter { $0.needs.contains(.observer) }
        .map(\.id).filter { $0 != "restart.stored-once" })
  }
}
