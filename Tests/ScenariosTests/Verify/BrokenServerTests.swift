import Foundation
import XCTest

@testable import Scenarios

/// Servers that break one rule each: exactly the checks of that rule fail.
final class BrokenServerTests: VerifyTestCase {
  /// Rule broken → checks that have to fail, no others.
  static let broken: [(rule: String, checks: [String])] = [
    ("no-json", ["answer.json", "answer.counts"]),
    ("counts-as-text", ["answer.counts"]),
    ("no-date", ["answer.date"]),
    ("emoji-500", ["answer.unicode", "storage.unicode"]),
    ("big-integer-400", ["answer.numbers", "storage.numbers"]),
    ("old-timestamp-400", ["answer.skewed-time"]),
    ("empty-payload-400", ["answer.empty-payload"]),
    ("lossy-text", ["storage.unicode"]),
    ("lossy-numbers", ["storage.numbers"]),
    ("missing-token-ok", ["auth.missing", "auth.nothing-stored"]),
    ("wrong-token-ok", ["auth.wrong"]),
    ("empty-token-ok", ["auth.empty"]),
    ("any-scheme-ok", ["auth.scheme"]),
    (
      "unauthorised-403",
      ["auth.missing", "auth.wrong", "auth.empty", "auth.scheme", "auth.expired"]
    ),
    ("expired-ok", ["auth.expired"]),
    ("no-challenge", ["auth.challenge"]),
    ("scheme-case", ["auth.scheme-case"]),
    ("unauthorised-stored", ["auth.nothing-stored"]),
    ("identity-ok", ["encoding.identity"]),
    ("identity-400", ["encoding.identity"]),
    ("undeclared-ok", ["encoding.undeclared"]),
    ("not-gzip-ok", ["encoding.not-gzip"]),
    ("truncated-ok", ["encoding.truncated"]),
    ("checksum-ok", ["encoding.checksum", "encoding.nothing-stored"]),
    ("length-ok", ["encoding.length"]),
    ("trailing-ok", ["encoding.trailing"]),
    ("concatenated-ok", ["encoding.concatenated"]),
    ("unknown-encoding-400", ["encoding.unknown"]),
    ("bomb-ok", ["encoding.bomb"]),
    ("damaged-stored", ["encoding.nothing-stored"]),
    ("media-ok", ["media.wrong"]),
    ("media-missing-ok", ["media.missing"]),
    ("media-parameters-415", ["media.parameters"]),
    ("bytes-limit-early", ["size.at-limit"]),
    ("bytes-limit-400", ["size.over-limit"]),
    ("count-limit-early", ["count.at-limit"]),
    ("count-limit-400", ["count.over-limit"]),
    ("empty-500", ["count.empty"]),
    ("invalid-json-500", ["json.invalid"]),
    ("cut-json-ok", ["json.truncated"]),
    ("utf8-ok", ["json.utf8"]),
    ("envelope-ok", ["json.envelope"]),
    ("id-missing-ok", ["schema.id-missing"]),
    ("id-malformed-ok", ["schema.id-malformed"]),
    ("ts-missing-ok", ["schema.ts-missing"]),
    ("ts-malformed-ok", ["schema.ts-malformed"]),
    ("type-missing-ok", ["schema.type-missing"]),
    ("type-wrong-ok", ["schema.type-wrong"]),
    ("payload-missing-ok", ["schema.payload-missing"]),
    ("payload-wrong-ok", ["schema.payload-wrong", "partial.names-ids"]),
    ("session-missing-ok", ["schema.session-missing"]),
    ("session-wrong-ok", ["schema.session-wrong"]),
    ("uppercase-400", ["schema.id-uppercase"]),
    ("deep-500", ["json.deep"]),
    ("no-reason", ["schema.reason"]),
    ("partial-unnamed", ["partial.names-ids"]),
    ("no-dedup-within", ["dedup.within-batch", "dedup.within-batch-stored"]),
    (
      "forgets-race", ["dedup.concurrent", "dedup.concurrent-stored"]
    ),
    ("conflict-500", ["dedup.conflict"]),
    ("conflict-overwrites", ["dedup.first-kept"]),
    ("get-200", ["method.get"]),
    ("put-200", ["method.put"]),
    ("delete-200", ["method.delete"]),
    ("no-allow", ["method.allow"]),
    ("any-path", ["path.unknown"]),
    ("closes-silently", ["connection.reuse"]),
    ("slow-408", ["connection.slow-body"]),
    ("chunked-400", ["connection.chunked"]),
    ("ignores-expect-417", ["connection.expect"]),
    ("lengths-ok", ["connection.lengths"]),
    ("half-stored", ["connection.half-body"]),
    ("reset-doubles", ["reset.stored-once"]),
    ("reset-500", ["reset.resent", "reset.stored-once"]),
    ("restart-forgets", ["restart.resent", "restart.stored-once"]),
    ("no-retry-after", ["retry.after"]),
    ("garbage-retry-after", ["retry.after"]),
    ("echoes-token", ["secret.token"]),
  ]

  /// Checks that need real seconds run only where their rule is broken, and in the clean run.
  private static let slow: Set<String> = [
    "connection.slow-body", "connection.expect", "encoding.bomb", "json.deep",
    "retry.after", "retry.accepted-later",
  ]

  /// One rule of some families; the whole table takes minutes and runs with `VERIFY_BROKEN=all`
  /// (`make verify-broken`).
  private static let representatives: Set<String> = [
    "missing-token-ok", "checksum-ok", "id-malformed-ok", "conflict-overwrites", "reset-doubles",
  ]

  func testServers_whenOneRuleIsBroken_failExactlyItsChecks() throws {
    let isWholeTable = ProcessInfo.processInfo.environment["VERIFY_BROKEN"] == "all"
    let rules = BrokenServerTests.broken.filter {
      isWholeTable || BrokenServerTests.representatives.contains($0.rule)
    }
    XCTAssertEqual(
      rules.count,
      isWholeTable ? BrokenServerTests.broken.count : BrokenServerTests.representatives.count)
    for (rule, checks) in rules {
      let server = try PythonServer("batch_server.py", ["--break", rule])
      let needed = ContractCatalogue.all.map(\.id).filter {
        !BrokenServerTests.slow.contains($0) || checks.contains($0)
      }
      let run = try verify(
        server.url, everything(server.url) + ["--only", needed.joined(separator: ",")])
      XCTAssertEqual(run.ids("fail").sorted(), checks.sorted(), "\(rule)\n\(run.complaint)")
      XCTAssertEqual(run.exit, 1, rule)
    }
  }

  func testServer_whenItBreaksNoRule_passesEveryCheck() throws {
    let server = try PythonServer("batch_server.py")
    let run = try verify(server.url, everything(server.url) + ["--require-all"])
    XCTAssertEqual(run.ids("pass"), ContractCatalogue.all.map(\.id), run.out)
    XCTAssertEqual(run.exit, 0)
  }

  func testCatalogue_whenCounted_everyCheckHasAServerThatFailsIt() {
    let caught = Set(BrokenServerTests.broken.flatMap(\.checks))
    let uncaught = Set(ContractCatalogue.all.map(\.id)).subtracting(caught)
    XCTAssertEqual(
      uncaught.sorted(), BrokenServerTests.elsewhere.sorted(), "checks that no server fails")
    XCTAssertGreaterThanOrEqual(ContractCatalogue.all.count, 40)
  }

  /// Checks that fail only together with many others; `WreckedServerTests` holds their servers.
  static let elsewhere = [
    "answer.success", "storage.accepted", "dedup.resent", "dedup.overlap", "dedup.resent-stored",
    "retry.accepted-later",
  ]
}
