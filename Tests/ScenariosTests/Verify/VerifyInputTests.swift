import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// Arguments, policies, dates and answers: what is read, and what is refused.
final class VerifyInputTests: XCTestCase {
  private func options(_ arguments: [String], files: [String: String] = [:]) throws -> VerifyOptions
  {
    try VerifyArguments.options(
      arguments, environment: ["T": "secret-token", "BAD": "a b", "EMPTY": ""]
    ) { path in
      guard let text = files[path] else { throw CocoaError(.fileReadNoSuchFile) }
      return Array(text.utf8)
    }
  }

  private let good = ["--url", "http://h:81/x?y=1", "--token-env", "T"]

  func testArguments_whenGood_areTaken() throws {
    let options = try options(
      good + [
        "--observe=lookup=http://l/{id}", "--rate", "7", "--budget", "1m30s", "--only", "a,b",
        "--only", "c", "--require-all",
      ])
    XCTAssertEqual(
      options.target, Target(secure: false, host: "h", port: 81, path: "/x?y=1"))
    XCTAssertEqual(options.observe, .lookup("http://l/{id}"))
    XCTAssertEqual(options.rate, 7)
    XCTAssertEqual(options.budgetNs, 90_000_000_000)
    XCTAssertEqual(options.only, ["a", "b", "c"])
    XCTAssert(options.requireAll)
    XCTAssertFalse(options.destructive)
  }

  func testArguments_whenWrong_areRefusedWithASentence() {
    let wrong: [([String], String)] = [
      ([], "--url is missing"),
      (["--url", "http://h"], "--token-env is missing"),
      (["--url", "h", "--token-env", "T"], "--url must start with http:// or https://"),
      (["--url", "http://u:p@h", "--token-env", "T"], "--url must not carry a user name"),
      (["--url", "http://h:0", "--token-env", "T"], "--url has the port \"0\""),
      (["--url", "http://", "--token-env", "T"], "--url names no host"),
      (["--url", "http://h", "--token-env", "NONE"], "the environment variable NONE is not set"),
      (["--url", "http://h", "--token-env", "EMPTY"], "EMPTY is not set"),
      (["--url", "http://h", "--token-env", "BAD"], "characters that no header may have"),
      (good + ["--rate", "0"], "--rate is \"0\""),
      (good + ["--rate", "99999999999999999999"], "--rate is"),
      (good + ["--budget", "90"], "--budget has no unit"),
      (good + ["--budget", "99999999d"], "--budget is too large"),
      (good + ["--budget", "0s"], "--budget is zero"),
      (good + ["--observe", "lookup=http://h/"], "needs {id}"),
      (good + ["--observe", "x"], "expected admin, admin=URL, lookup=URL or none"),
      (good + ["--policy", "none.json"], "--policy: none.json cannot be read"),
      (good + ["--ca", "none.pem"], "--ca: none.pem cannot be read"),
      (good + ["--url", "http://h"], "--url stands twice"),
      (good + ["--rate"], "--rate needs a value"),
      (good + ["--polcy", "f"], "unknown argument --polcy, did you mean --policy?"),
    ]
    for (arguments, sentence) in wrong {
      XCTAssertThrowsError(try options(arguments), sentence) { error in
        let text = (error as? VerifyArguments.Mistake)?.text ?? "\(error)"
        XCTAssert(text.contains(sentence), "\(text) lacks: \(sentence)")
      }
    }
  }

  func testCommand_whenACheckIsUnknown_exitsInvalidWithTheNearest() {
    var complaint = ""
    let exit = VerifyCommand.run(
      good + ["--only", "answer.sucess"], variables: ["T": "x"],
      environment: VerifyEnvironment(wallMs: { 0 }, random: { [UInt8](repeating: 1, count: $0) }),
      out: { _ in }, complain: { complaint += $0 })
    XCTAssertEqual(exit, 3)
    XCTAssert(complaint.contains("did you mean answer.success?"), complaint)
  }

  func testPolicy_whenEverySettingIsGiven_isTaken() throws {
    let text = """
      {"envelope":"array","envelopeKey":"list","answer":"any2xx","identityBody":"accept",
       "concatenatedMembers":"either","emptyBatch":"refuse","maxEvents":null,"maxBytes":"1MB",
       "sizeMeasured":"wire","invalidEvent":"listRejected","conflict":"refuse",
       "rejectedType":"bad","concurrency":3,"answerWithin":"2s","storedWithin":"0s",
       "maxRetryAfter":"1h"}
      """
    let policy = try ServerPolicy.parse(file: "p.json", bytes: Array(text.utf8))
    var wanted = ServerPolicy()
    wanted.envelope = .array
    wanted.envelopeKey = "list"
    wanted.answer = .any2xx
    wanted.identityBody = .accept
    wanted.concatenatedMembers = .either
    wanted.emptyBatch = .refuse
    wanted.maxEvents = nil
    wanted.maxBytes = 1_000_000
    wanted.sizeMeasured = .wire
    wanted.invalidEvent = .listRejected
    wanted.conflict = .refuse
    wanted.rejectedType = "bad"
    wanted.concurrency = 3
    wanted.answerWithinNs = 2_000_000_000
    wanted.storedWithinNs = 0
    wanted.maxRetryAfterNs = 3_600_000_000_000
    XCTAssertEqual(policy, wanted)
    XCTAssertEqual(try ServerPolicy.parse(file: "p", bytes: Array("{}".utf8)), ServerPolicy())
  }

  func testPolicy_whenWrong_namesThePlace() {
    let wrong: [(String, String)] = [
      ("{\"maxEvent\": 5}", "p.json:1:2: unknown key \"maxEvent\" in a policy"),
      ("{\n  \"identityBody\": \"maybe\"}", "p.json:2:19: \"identityBody\" has the unknown value"),
      ("{\"maxEvents\": 0}", "p.json:1:15: \"maxEvents\" is out of range"),
      ("{\"maxBytes\": \"1B\"}", "p.json:1:14: \"maxBytes\" is out of range"),
      ("{\"maxBytes\": 256000}", "p.json:1:14:"),
      ("{\"answerWithin\": \"0s\"}", "\"answerWithin\" is zero"),
      ("{\"answerWithin\": \"5\"}", "has no unit"),
      ("{\"conflict\": \"refuse\", \"conflict\": \"either\"}", "stands here a second time"),
      ("[]", "the policy is a list, expected an object"),
      ("{", "p.json:1:2: not JSON"),
    ]
    for (text, message) in wrong {
      XCTAssertThrowsError(try ServerPolicy.parse(file: "p.json", bytes: Array(text.utf8)), text) {
        let rendered = ($0 as? ScriptErrors)?.rendered ?? "\($0)"
        XCTAssert(rendered.contains(message), "\(rendered) lacks: \(message)")
      }
    }
  }

  func testDates_whenInOneOfTheThreeForms_areRead() {
    let wanted: Int64 = 784_111_777
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ] {
      XCTAssertEqual(HTTPDate.seconds(text), wanted, text)
    }
    for text in ["", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 6 Nov 1994 08:49:37 GMT"] {
      XCTAssertNil(HTTPDate.imf(text), text)
    }
  }

  func testTimestamps_whenWritten_areGregorianUTC() {
    XCTAssertEqual(WireTime.text(ms: 1_709_210_096_007), "2024-02-29T12:34:56.007Z")
    XCTAssertEqual(WireTime.text(ms: -1), "1969-12-31T23:59:59.999Z")
    XCTAssertEqual(WireTime.text(ms: 4_102_444_800_000), "2100-01-01T00:00:00.000Z")
  }

  func testRedactor_whenATokenIsSpeltOtherwise_findsIt() {
    let redactor = Redactor(secrets: ["abc/def+ghi=", "T1"])
    for text in [
      "x abc/def+ghi= y", #""abc\/def+ghi=""#, "abc%2Fdef%2Bghi%3D",
      Data("abc/def+ghi=".utf8).base64EncodedString(), "Bearer T1",
    ] {
      XCTAssert(redactor.finds(in: text), text)
      XCTAssertFalse(redactor.clean(text).contains("abc"), text)
    }
    XCTAssertFalse(redactor.finds(in: "2026-01-01T10:00:00Z T12"))
  }

  func testObserver_whenAnswersDiffer_readsWhatTheyShow() throws {
    let target = Target(secure: false, host: "h", port: 80, path: "/x")
    let observer = try XCTUnwrap(Observer(.lookup("http://l/e?id={id}"), target: target))
    XCTAssertEqual(observer.request(for: "a-b").request.path, "/e?id=a-b")
    func read(_ status: Int, _ body: String) -> Sighting {
      observer.read(
        .answer(HTTPAnswer(status: status, reason: "", headers: [], body: Array(body.utf8))),
        id: "a")
    }
    XCTAssertEqual(read(404, ""), .absent)
    XCTAssertEqual(read(200, "[]"), .absent)
    XCTAssertEqual(read(200, #"{"timesStored":0}"#), .absent)
    XCTAssertEqual(read(200, #"{"timesStored":2}"#), .stored(copies: 2, event: Optional.none))
    XCTAssertEqual(read(200, #"[{"id":"a"},{"id":"a"}]"#), .stored(copies: 2, event: Optional.none))
    XCTAssertEqual(
      read(200, #"{"id":"a","payload":{}}"#),
      .stored(copies: nil, event: ["id": "a", "payload": [:]]))
    XCTAssertEqual(read(500, ""), .unclear("the observer answered 500"))
    XCTAssertEqual(read(200, "<p>"), .unclear("the observer's answer is no JSON"))
  }
}
