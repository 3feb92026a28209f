import Foundation
import JSONText
import XCTest

@testable import Scenarios

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Inputs, secrets, and what leaves the verifier.
final class VerifyMannersTests: VerifyTestCase {
  func testChecks_whenTheirInputIsMissing_areSkippedByName() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url,
      [
        "--only", "auth.expired,restart.resent,retry.after,encoding.bomb,answer.success",
        "--require-all",
      ])
    XCTAssertEqual(run.sentence("auth.expired"), "no --expired-token-env was given")
    XCTAssertEqual(run.sentence("restart.resent"), "no --restart-command was given")
    XCTAssertEqual(run.sentence("retry.after"), "no --provoke-command was given")
    XCTAssert(run.sentence("encoding.bomb").contains("--destructive"))
    XCTAssertEqual(run.ids("skipped").count, 4)
    XCTAssertEqual(run.exit, 2)
  }

  func testStorageChecks_whenThereIsNoObserver_areNotObservable() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(server.url, ["--filter", "stored"])
    XCTAssertEqual(run.ids("pass"), [])
    XCTAssertGreaterThan(run.ids("not observable").count, 5)
    XCTAssertEqual(run.exit, 0)
  }

  func testObserver_whenALookupURLIsGiven_isAskedPerEvent() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url,
      [
        "--observe", "lookup=\(server.url)/__admin/ledger/{id}", "--only",
        "storage.accepted,storage.numbers,auth.nothing-stored",
      ])
    XCTAssertEqual(run.ids("pass").count, 3, run.out)
  }

  func testCommand_whenItFails_skipsItsCheckWithTheReason() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url, ["--only", "restart.resent", "--restart-command", "echo no; exit 7"])
    XCTAssertEqual(run.sentence("restart.resent"), "the restart command failed: exit code 7: no")
  }

  func testTokens_whenAServerEchoesThem_appearNowhere() throws {
    let server = try PythonServer("batch_server.py", ["--break", "echoes-token"])
    let junit = folder.appendingPathComponent("junit.xml")
    let markdown = folder.appendingPathComponent("report.md")
    let run = try verify(
      server.url,
      ["--filter", "t", "--junit", junit.path, "--markdown", markdown.path]
        + everything(server.url))
    XCTAssertEqual(run.ids("fail"), ["secret.token"])
    let texts = [
      run.out, run.complaint, run.report.description,
      try String(contentsOf: junit, encoding: .utf8),
      try String(contentsOf: markdown, encoding: .utf8),
    ]
    for text in texts {
      XCTAssertFalse(text.contains(VerifyTestCase.token))
      XCTAssertFalse(text.contains(VerifyTestCase.expired))
    }
    XCTAssert(texts[2].contains(Redactor.mark), "the evidence shows where a token stood")
  }

  func testDryRun_whenNothingListens_listsWhatWouldBeSent() throws {
    let run = try verify(
      "http://127.0.0.1:1", ["--dry-run", "--destructive", "--restart-command", "reboot"])
    XCTAssertEqual(run.exit, 0, run.complaint)
    XCTAssert(run.out.contains("POST http://127.0.0.1:1/v1/telemetry/batch"))
    XCTAssert(run.out.contains("dedup.concurrent"))
    XCTAssert(run.out.contains("RUN the restart command"))
    XCTAssert(run.out.contains("no --provoke-command was given"))
    XCTAssert(run.out.contains("nothing was sent"))
  }

  func testEvents_whenMade_carryTheRunsPrefixAndAreValid() throws {
    var factory = EventFactory(random: [0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4], startMs: 0)
    let events = factory.events(300)
    let ids = events.map(\.eventID)
    XCTAssertEqual(Set(ids).count, 300)
    for id in ids {
      XCTAssertEqual(UUID(uuidString: id)?.uuidString.lowercased(), id)
      XCTAssert(id.hasPrefix("deadbeef-0102-4030-a040-"), id)
    }
    XCTAssertEqual(events[0]["sessionId"]?.stringValue?.hasPrefix("deadbeef"), true)
    XCTAssertEqual(events[0]["ts"], "1970-01-01T00:00:00.000Z")
  }

  func testReports_whenWritten_holdTheSameVerdicts() throws {
    let server = try PythonServer("batch_server.py", ["--break", "no-allow"])
    let junit = folder.appendingPathComponent("junit.xml")
    let markdown = folder.appendingPathComponent("report.md")
    let run = try verify(
      server.url, ["--filter", "method", "--junit", junit.path, "--markdown", markdown.path])
    XCTAssertEqual(run.ids("fail"), ["method.allow"])
    let counter = JUnitCounter()
    let parser = XMLParser(data: try Data(contentsOf: junit))
    parser.delegate = counter
    XCTAssert(parser.parse())
    XCTAssertEqual(counter.counts["testcase"], run.report["checks"]?.arrayValue?.count)
    XCTAssertEqual(counter.counts["failure"], 1)
    let text = try String(contentsOf: markdown, encoding: .utf8)
    XCTAssert(text.contains("### ❌ method.allow"))
    XCTAssert(text.contains("the 405 has no Allow"))
    XCTAssert(run.out.contains("FAIL     method.allow"))
  }

  func testReport_whenItCannotBeWritten_exitsRunnerFailed() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url, ["--only", "answer.success", "--markdown", folder.path])
    XCTAssertEqual(run.exit, 4)
    XCTAssert(run.complaint.contains("cannot be written"))
  }

  private final class JUnitCounter: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]
    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      counts[element, default: 0] += 1
    }
  }
}
