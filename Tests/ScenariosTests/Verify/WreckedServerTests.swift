import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// Servers that lack more than one rule, and targets that are no batch servers at all.
final class WreckedServerTests: VerifyTestCase {
  func testServer_whenItStoresNothing_failsEveryCheckThatLooks() throws {
    let server = try PythonServer("batch_server.py", ["--break", "not-stored"])
    let run = try verify(server.url, everything(server.url) + ["--filter", "stor"])
    XCTAssertEqual(
      run.ids("fail"),
      [
        "storage.accepted", "storage.unicode", "storage.numbers", "dedup.resent-stored",
        "dedup.within-batch-stored", "dedup.concurrent-stored", "reset.stored-once",
        "restart.stored-once",
      ])
    // What shows nothing at all is no witness for the absence of anything.
    XCTAssertEqual(run.ids("not observable"), ["auth.nothing-stored", "encoding.nothing-stored"])
  }

  func testServer_whenItRecognisesNothing_failsTheChecksOfResending() throws {
    let server = try PythonServer("batch_server.py", ["--break", "no-dedup-across"])
    let run = try verify(
      server.url, everything(server.url) + ["--only", WreckedServerTests.resending])
    XCTAssertEqual(
      run.ids("fail").sorted(),
      WreckedServerTests.resending.split(separator: ",")
        .map(String.init).sorted())
  }
  private static let resending =
    "dedup.resent,dedup.overlap,dedup.concurrent,dedup.conflict,dedup.resent-stored,"
    + "dedup.concurrent-stored,reset.stored-once,restart.resent,restart.stored-once"

  func testServer_whenItAcceptsEverything_reportSaysWhatItLacks() throws {
    let server = try PythonServer("accepts_everything.py")
    let run = try verify(server.url, ["--filter", "."])
    XCTAssertEqual(run.exit, 1)
    let failed = run.ids("fail")
    for lacking in [
      "answer.counts", "auth.missing", "auth.wrong", "encoding.truncated", "encoding.checksum",
      "size.over-limit", "count.over-limit", "json.invalid", "schema.id-missing", "method.get",
      "path.unknown", "media.wrong",
    ] {
      XCTAssert(failed.contains(lacking), lacking)
    }
    for kept in ["answer.success", "answer.json", "connection.reuse", "auth.scheme-case"] {
      XCTAssert(run.ids("pass").contains(kept), kept)
    }
    XCTAssert(run.ids("not observable").contains("storage.accepted"))
    XCTAssert(run.ids("not observable").contains("dedup.resent"))
    XCTAssertEqual(
      run.sentence("auth.missing"), "no token was answered 200, expected 401")
  }

  func testServer_whenItAnswers200AndRejectsEverything_isNotTakenForAccepting() throws {
    let server = try PythonServer("batch_server.py", ["--break", "rejects-all"])
    let checks = [
      "answer.success", "answer.unicode", "answer.numbers", "answer.skewed-time",
      "answer.empty-payload", "auth.scheme-case", "connection.chunked", "connection.reuse",
      "count.at-limit", "media.parameters", "reset.resent", "schema.id-uppercase", "size.at-limit",
    ]
    let run = try verify(server.url, ["--only", checks.joined(separator: ",")])
    XCTAssertEqual(run.ids("fail").sorted(), checks.sorted(), run.out + run.complaint)
    XCTAssertEqual(
      run.sentence("answer.success"),
      "answered 200, but lists a good event under rejected (\"bad text\"): a client quarantines it")
  }

  func testServer_whenItRejectsAnEventThatNobodySent_failsTheChecksOfTheSchema() throws {
    let server = try PythonServer("batch_server.py", ["--break", "rejects-foreign"])
    let run = try verify(
      server.url, ["--only", "schema.ts-missing,schema.payload-wrong,schema.id-missing"])
    XCTAssertEqual(run.ids("fail"), ["schema.ts-missing", "schema.payload-wrong"], run.out)
    XCTAssertEqual(run.ids("pass"), ["schema.id-missing"], "it has no id to be named by")
  }

  private func late(_ rule: String, _ check: String) throws -> Run {
    let server = try PythonServer("batch_server.py", ["--late", "--break", rule])
    return try verify(
      server.url,
      [
        "--observe", "admin", "--only", check, "--policy",
        try file("late.json", #"{"storedWithin":"20s"}"#),
      ])
  }

  func testServer_whenItStoresBehindItsAnswers_isStillSeenToStoreWrongly() throws {
    for (rule, check) in [
      ("unauthorised-stored", "auth.nothing-stored"), ("half-stored", "connection.half-body"),
      ("damaged-stored", "encoding.nothing-stored"), ("conflict-overwrites", "dedup.first-kept"),
      ("no-dedup-across", "dedup.resent-stored"),
    ] {
      let broken = try late(rule, check)
      XCTAssertEqual(broken.ids("fail"), [check], rule + broken.out + broken.complaint)
      let good = try late("", check)
      XCTAssertEqual(good.ids("pass"), [check], good.out + good.complaint)
    }
  }

  func testServer_whenBusyForEver_failsTheChecksOfThePause() throws {
    let server = try PythonServer("batch_server.py", ["--break", "busy-for-ever"])
    let run = try verify(
      server.url, everything(server.url) + ["--only", "retry.accepted-later"])
    XCTAssertEqual(run.ids("fail"), ["retry.accepted-later"])
    XCTAssert(run.sentence("retry.accepted-later").contains("still answered 429"))
  }

  func testServer_whenItRefusesTheToken_saysSoInEveryFailure() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url, ["--only", "answer.success,answer.date,method.get"], token: "another-token")
    XCTAssertEqual(run.ids("fail"), ["answer.success", "answer.date"])
    XCTAssertEqual(run.sentence("answer.success"), "answered 401 although the token is valid")
  }

  func testTarget_whenNothingListens_exitsUnavailableWithOneSentence() throws {
    let url: String
    do { url = try PythonServer("accepts_everything.py").url }
    try assertUnavailable(url, says: "the connection was refused")
  }

  func testTarget_whenTheNameIsUnknown_exitsUnavailable() throws {
    try assertUnavailable("http://no-such-host.invalid", says: "cannot be resolved")
  }

  func testTarget_whenItAnswers404_exitsUnavailable() throws {
    let server = try PythonServer("batch_server.py", ["--break", "not-found"])
    try assertUnavailable(server.url, says: "answered 404: is the path right?")
  }

  func testTarget_whenItAnswersHTML_exitsUnavailable() throws {
    let server = try PythonServer("batch_server.py", ["--break", "html"])
    try assertUnavailable(server.url, says: "an HTML page: a portal, proxy or login page")
  }

  func testTarget_whenItRedirects_exitsUnavailable() throws {
    let server = try PythonServer("batch_server.py", ["--break", "redirect"])
    try assertUnavailable(server.url, says: "redirected (302) to /login")
  }

  func testTarget_whenAChunkIsHuge_isNoReasonToCrash() throws {
    let server = try PythonServer("batch_server.py", ["--break", "huge-chunk"])
    let run = try verify(server.url, ["--only", "answer.success"])
    XCTAssertNotEqual(run.exit, 0, run.out)
    XCTAssert(
      (run.out + run.complaint).contains("a chunk's size is \"7fffffffffffffff\""),
      run.out + run.complaint)
  }

  func testTarget_whenItHangs_exitsUnavailableWithinTheAnswerTime() throws {
    let server = try PythonServer("batch_server.py", ["--break", "hangs"])
    try assertUnavailable(
      server.url, says: "nothing came within the time allowed",
      ["--policy", try file("policy.json", #"{"answerWithin":"300ms"}"#)])
  }

  func testTarget_whenTheBudgetIsSpent_skipsTheRestByName() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(
      server.url,
      ["--only", "answer.success,connection.slow-body,reset.resent", "--budget", "1500ms"])
    XCTAssertEqual(run.sentence("reset.resent"), "the time budget was spent")
    XCTAssertEqual(run.ids("skipped"), ["reset.resent"])
  }

  func testTarget_whenTLSIsNotTrusted_exitsUnavailableAndCAFileHelps() throws {
    guard let openssl = PythonServer.find("openssl") else {
      throw XCTSkip("openssl is not installed")
    }
    let key = folder.appendingPathComponent("key.pem").path
    let certificate = folder.appendingPathComponent("cert.pem").path
    let made = ShellCommand.run(
      "\(openssl) req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
        + " -addext subjectAltName=IP:127.0.0.1 -keyout '\(key)' -out '\(certificate)'",
      by: Deadline.after(ns: 60_000_000_000))
    XCTAssert(made.succeeded, made.text)
    let server = try PythonServer("batch_server.py", ["--tls", certificate, key])
    #if os(Linux)
      try assertUnavailable(server.url, says: "the certificate is not trusted")
      let run = try verify(
        server.url, ["--ca", certificate, "--only", "answer.success,reset.resent,dedup.concurrent"])
      XCTAssertEqual(run.ids("pass").count, 3, run.out + run.complaint)
    #else
      try assertUnavailable(server.url, says: "https targets are supported on Linux only")
    #endif
  }

  private func assertUnavailable(
    _ url: String, says sentence: String, _ arguments: [String] = [], line: UInt = #line
  ) throws {
    let run = try verify(url, arguments)
    XCTAssertEqual(run.exit, 5, run.out, line: line)
    XCTAssert(run.complaint.contains(sentence), run.complaint, line: line)
    XCTAssertEqual(run.complaint.split(separator: "\n").count, 1, run.complaint, line: line)
  }
}
