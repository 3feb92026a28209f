import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// The `remote` lane against a server in another process, in real time.
final class RemoteLaneTests: XCTestCase {
  /// Half a second of events, a real kill, an outage, and a fault where the server can have one.
  private func script(server: String = "", expect: String) -> String {
    """
    {"name":"short","about":"a",\(server)
     "timeline":[
      {"at":"0s","network":"offline"},
      {"at":"100ms","record":{"as":"a","count":20,"every":"20ms","type":"navigation",
       "payload":{"screen":"OrdersOverview"}}},
      {"at":"600ms","kill":"SIGKILL","restartAfter":"100ms"},
      {"at":"900ms","network":"wifi"},
      {"at":"9s","expect":[{"queued":0}]}],
     "expect":[{"lost":0},{"ledgerBalances":true},{"noPlaintext":true},{"delivered":"a"},
      {"order":"a"}\(expect)]}
    """
  }

  func testRemote_whenTheServerIsOurs_seesWhatItStoredAndGivesItsPlanBack() throws {
    let served = try ServedWorkbench("--token secret-1", in: self)
    let before = try plan(served.url)
    let run = try ServedWorkbench.run(
      script(
        server:
          #""server":{"rules":[{"id":"busy","when":{"times":1},"responses":[{"status":503,"#
          + #""headers":{"Retry-After":"1"}}]}]},"#,
        expect: #",{"stored":20},{"duplicatesAfterDedup":0},{"noImmediateResend":true}"#
          + #",{"requests":{"min":2}},{"allFaultsFired":true}"#),
      "--remote \(served.url) --token-env T --out '\(served.folder)/out'", in: served.folder,
      around: { "T=secret-1 " + $0 })
    XCTAssertEqual(run.exit, 0, run.text)
    XCTAssertEqual(run.first?["lane"]?.stringValue, "remote")
    XCTAssertEqual(run.first?["delivered"]?.intValue, 20)
    XCTAssertEqual(try plan(served.url), before)
    XCTAssertFalse(run.text.contains("secret-1"))
  }

  func testRemote_whenAnAnswerComesDuringTheDrain_waitsForIt() throws {
    let served = try ServedWorkbench("", in: self)
    let run = try ServedWorkbench.run(
      #"{"name":"n","about":"a","server":{"rules":[{"id":"slow","responses":[{"delay":"2s"}]}]},"#
        + #""timeline":[{"at":"0s","record":{"as":"a","count":3}},"#
        + #"{"at":"100ms","flush":{"timeout":"30s"}}],"#
        // Shorter than the time that a request has: its end is no moment of this drain.
        + #""drain":{"within":"25s"},"expect":[{"lost":0},{"stored":3}]}"#,
      "--remote \(served.url)", in: served.folder)
    XCTAssertEqual(run.exit, 0, run.text)
    XCTAssertEqual(run.verdict("drained"), "pass", run.text)
  }

  func testRemote_whenTheTokenIsWrong_findsNothingStored() throws {
    let served = try ServedWorkbench("--token secret-1", in: self)
    let run = try ServedWorkbench.run(
      #"{"name":"n","about":"a","accepts":"none","timeline":[{"at":"0s","record":{"as":"a","count":3}},"#
        + #"{"at":"1s","expect":[{"queued":3}]}],"drain":{"skip":true},"expect":[{"stored":0},{"lost":0}]}"#,
      "--remote \(served.url) --token-env T", in: served.folder, around: { "T=other " + $0 })
    XCTAssertEqual(run.exit, 0, run.text)
    XCTAssertEqual(run.verdict("acceptsNone"), "pass", run.text)
  }

  func testRemote_whenTheTargetShowsNothing_leavesStorageUnknown() throws {
    let server = try PythonServer("accepts_everything.py")
    let folder = try Fixture.folder(self)
    let run = try ServedWorkbench.run(script(expect: ""), "--remote \(server.url)", in: folder)
    XCTAssertEqual(run.exit, 2, run.text)
    for checker in ["lost", "delivered", "order"] {
      XCTAssertEqual(run.verdict(checker), "unknown", checker)
    }
    XCTAssert(run.text.contains("not observable: the target shows nothing"), run.text)
    for checker in ["ledgerBalances", "noPlaintext", "queued"] {
      XCTAssertEqual(run.verdict(checker), "pass", checker)
    }
  }

  func testRemote_whenNothingListens_ends5() throws {
    let folder = try Fixture.folder(self)
    let run = try ServedWorkbench.run(
      script(expect: ""), "--remote http://127.0.0.1:1", in: folder)
    XCTAssertEqual(run.exit, 5, run.text)
    XCTAssert(
      run.text.contains(
        "the target is not there: http://127.0.0.1:1: the connection was refused"), run.text)
    XCTAssertEqual(run.report, .null, "nothing ran")
  }

  func testRemote_whenTheTargetGoesAway_ends5() throws {
    let served = try ServedWorkbench("", in: self)
    let pid = try XCTUnwrap(
      JSONValue.parse(
        [UInt8](Data(contentsOf: URL(fileURLWithPath: served.folder + "/ready.json"))))[
          "pid"]?.intValue)
    // The server dies once the device lives: its store is the first that lies in this folder.
    let devices = served.folder + "/devices"
    try FileManager.default.createDirectory(atPath: devices, withIntermediateDirectories: true)
    let untilItLives = "until find '\(devices)' -name queue.sqlite | grep -q .; do sleep 0.1; done"
    let run = try ServedWorkbench.run(
      script(expect: ""), "--remote \(served.url) --max-real 10s", in: served.folder,
      around: {
        "(export TMPDIR='\(devices)'; " + $0 + " & \(untilItLives); kill -KILL \(pid); wait $!)"
      })
    XCTAssertEqual(run.exit, 5, run.text)
    XCTAssertEqual(run.first?["status"]?.stringValue, "unavailable", run.text)
  }

  #if os(Linux)
    /// `URLSession` on Linux trusts the system's bundle alone: the command runs in a mount namespace
    /// whose bundle has the server's authority appended.
    func testRemote_whenTheServerSpeaksTLS_deliversWhereItsAuthorityIsTrusted() throws {
      let bundle = "/etc/ssl/certs/ca-certificates.crt"
      let probe = "unshare -m sh -c 'mount --bind /dev/null \(bundle)'"
      let can = ShellCommand.run(probe, by: Deadline.after(ns: 60_000_000_000))
      guard can.succeeded else { throw XCTSkip("no mount namespace with a bundle: \(can.text)") }
      let folder = try Fixture.folder(self)
      let served = try ServedWorkbench("--tls --tls-ca-file '\(folder)/ca.pem'", in: self)
      let url = served.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
      XCTAssert(url.hasPrefix("https://"), url)
      let text = script(expect: #",{"stored":20}"#)
      let untrusted = try ServedWorkbench.run(text, "--remote \(url)", in: folder)
      XCTAssertEqual(untrusted.exit, 5, untrusted.text)
      XCTAssert(untrusted.text.contains("the certificate is not trusted"), untrusted.text)
      let trusting = folder + "/trusting.sh"
      try """
      cat \(bundle) '\(folder)/ca.pem' > '\(folder)/both.pem'
      mount --bind '\(folder)/both.pem' \(bundle) || exit 99
      exec "$@"
      """.write(toFile: trusting, atomically: true, encoding: .utf8)
      let run = try ServedWorkbench.run(
        text, "--remote \(url)", in: folder, around: { "unshare -m sh '\(trusting)' \($0)" })
      XCTAssertEqual(run.exit, 0, run.text)
      XCTAssertEqual(run.first?["delivered"]?.intValue, 20)
    }
  #endif

  // MARK: What is not even begun

  private func site(admin: Bool) throws -> RemoteSite {
    guard case .success(let target) = Target.parse("http://127.0.0.1:9/v1/telemetry/batch") else {
      throw RunnerFailure("no target")
    }
    return RemoteSite(
      target: target, token: nil, admin: admin ? RemoteAdmin(target: target, token: nil) : nil,
      maxRealNs: RemoteSite.defaultMaxRealNs)
  }

  private func skipped(
    _ step: String, server: String = "", lanes: String = "", admin: Bool = true
  ) throws -> String? {
    let text = """
      {"name":"n","about":"a",\(lanes)\(server)"timeline":[{"at":"0s","record":{"as":"r"}},
      \(step)],"expect":[{"lost":0}]}
      """
    let selection = CaseSelection(remote: try site(admin: admin))
    let cases = CaseList.cases([try Fixture.scenario(text)], selection)
    XCTAssertEqual(cases.map(\.lane), [.remote], step)
    return cases.first?.skipped
  }

  func testRemote_whenAFaultIsNothingForARealServer_isSkippedByName() throws {
    let rules = #""server":{"rules":[{"id":"b","responses":[{"status":503}]}]},"#
    let calm = #"{"at":"1s","lowPower":true}"#
    XCTAssertNil(try skipped(calm))
    XCTAssertNil(try skipped(calm, server: rules))
    XCTAssertEqual(
      try skipped(calm, server: rules, admin: false),
      "the target has no admin endpoints, so it cannot have the script's server plan")
    XCTAssertEqual(
      try skipped(#"{"at":"3m","lowPower":true}"#),
      "it takes 3m of real time, more than --max-real 2m")
    XCTAssertEqual(
      try skipped(#"{"at":"1m","kill":"SIGKILL","restartAfter":"2m"}"#),
      "it takes 3m of real time, more than --max-real 2m")
    XCTAssertEqual(
      try skipped(#"{"at":"1s","record":{"as":"x","count":100,"every":"2s"}}"#),
      "it takes 3m19s of real time, more than --max-real 2m")
    XCTAssertEqual(
      try skipped(#"{"at":"1s","server":"restart"}"#), "line 2: a remote server is not steered")
    XCTAssertEqual(
      try skipped(#"{"at":"1s","network":"captive"}"#),
      "line 2: a remote server is no captive portal")
    XCTAssertEqual(
      try skipped(#"{"when":{"request":1},"kill":"SIGKILL"}"#),
      "line 2: a remote server has no phases and gates to wait for")
    XCTAssertNil(try skipped(#"{"when":{"recorded":1},"kill":"SIGKILL"}"#))
    XCTAssertEqual(
      try skipped(#"{"at":"1s","deviceToken":{"value":"T2"}}"#),
      "line 2: the target does not know the script's tokens")
    XCTAssertEqual(
      try skipped(calm, lanes: #""lanes":["virtual"],"#), "the script is for other lanes: virtual")
  }

  func testRemote_whenNoTargetIsGiven_isSkippedByName() throws {
    let text = """
      {"name":"n","about":"a","lanes":["virtual","remote"],
       "timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}
      """
    let cases = CaseList.cases([try Fixture.scenario(text)], CaseSelection())
    XCTAssertEqual(cases.map(\.lane), [.virtual, .remote])
    XCTAssertEqual(cases[1].skipped, "no target was given (--remote URL)")
  }

  private func plan(_ url: String) throws -> JSONValue {
    guard case .success(let target) = Target.parse(url) else { throw RunnerFailure(url) }
    return try JSONValue.parse(try RemoteAdmin(target: target, token: nil).plan())
  }
}
