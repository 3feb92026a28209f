import JSONText
import TelemetrySDK
import TelemetryTestSupport
import XCTest

/// Tokens, 401, and accounts that are never mixed.
final class TokenTests: XCTestCase {
  func testExpiredToken_whenTheProviderRepeatsIt_waitsForAnother() {
    let world = DeviceWorld()
    world.tokens.answer([
      AccessToken(value: "T1"), AccessToken(value: "T1"), AccessToken(value: "T2"),
    ])
    world.server.script { request in .answer(request.token == "T2" ? 200 : 401) }
    world.record(5)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.requests.map(\.token), ["T1"])
    XCTAssertEqual(world.telemetry.status().state, .waitingForToken)
    world.advance(ms: 300_000)
    XCTAssertEqual(world.server.requests.map(\.token), ["T1", "T2"])
    XCTAssertEqual(world.telemetry.status().queued, 0)
  }

  func testExpiredToken_whenTheProviderHasAnother_goesOnAtOnce() {
    let world = DeviceWorld()
    world.tokens.answer([AccessToken(value: "T1"), AccessToken(value: "T2")])
    world.server.script { request in .answer(request.token == "T2" ? 200 : 401) }
    world.record(5)
    world.advance(ms: 30_000)
    XCTAssertEqual(world.server.requests.map(\.token), ["T1", "T2"])
    XCTAssertEqual(world.tokens.asked, 2)
  }

  func testNoToken_whenNeverAny_sendsNothingAndKeepsTheRows() {
    let world = DeviceWorld()
    world.tokens.answer(nil)
    world.record(5)
    world.advance(ms: 3_600_000)
    XCTAssertEqual(world.server.requests.count, 0)
    XCTAssertEqual(world.telemetry.status().queued, 5)
    XCTAssertLessThanOrEqual(world.tokens.asked, 14)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0?.ending }, .waitingForToken)
  }

  func testFiveOccasions_whenHolding_eachAskOnce() {
    let occasions: [(String, (DeviceWorld) -> Void)] = [
      ("foreground", { $0.telemetry.enterForeground() }),
      (
        "path",
        {
          $0.telemetry.setNetwork(NetworkPath(satisfied: false))
          $0.telemetry.setNetwork(NetworkPath())
          $0.advance(ms: 5_000)
        }
      ),
      ("flush", { _ = $0.flush() }), ("changed", { $0.telemetry.tokenDidChange() }),
      ("probe", { $0.advance(ms: 300_000) }),
    ]
    for (name, occasion) in occasions {
      let world = DeviceWorld()
      world.tokens.answer(nil)
      world.record(1)
      world.advance(ms: 30_000)
      let asked = world.tokens.asked
      occasion(world)
      world.run()
      XCTAssertEqual(world.tokens.asked, asked + 1, name)
    }
  }

  func testFreshTokens_whenAllAreRefused_makeNoLoop() {
    let world = DeviceWorld()
    world.tokens.answer((0..<10_000).map { AccessToken(value: "T\($0)") })
    world.server.script { _ in .answer(401) }
    world.tokens.onAsk { [telemetry = world.telemetry] in telemetry.tokenDidChange() }
    world.record(5)
    world.advance(ms: 3_600_000)
    XCTAssertLessThan(world.server.requests.count, 200)
    XCTAssertLessThan(world.tokens.asked, 400)
    let tokens = world.server.requests.map(\.token)
    XCTAssertEqual(Set(tokens).count, tokens.count, "a refused token went twice")
    XCTAssertEqual(world.telemetry.status().queued, 5)
  }

  func testProvider_whenItHasNoneAndReportsAChangeAfterEachAnswer_isAskedLessAndLess() {
    let world = DeviceWorld()
    let provider = world.tokens
    provider.hold(true)
    world.record(1)
    world.advance(ms: 30_000)
    var asks: [Int] = []
    for minute in 1...60 {
      // Each answer is followed by a change, as of an app that reports every event of its sign-in.
      for _ in 0..<60 {
        provider.release(nil)
        world.telemetry.tokenDidChange()
        world.advance(ms: 1_000)
      }
      if minute % 20 == 0 { asks.append(provider.asked) }
    }
    XCTAssertLessThan(asks[0], 20, "in the first twenty minutes")
    XCTAssertLessThanOrEqual(asks[2] - asks[1], 10, "in the last twenty minutes")
  }

  func testChange_whenItComesRightAfterAnother_isAskedAboutASecondLater() {
    let world = DeviceWorld()
    world.tokens.answer(nil)
    world.telemetry.tokenDidChange()
    world.run()
    let asked = world.tokens.asked
    world.advance(ms: 500)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange()
    world.run()
    XCTAssertEqual(world.tokens.asked, asked)
    world.advance(ms: 500)
    XCTAssertEqual(world.tokens.asked, asked + 1)
    world.record(1)
    XCTAssertEqual(world.store.accounts(), ["bert"])
    world.advance(ms: 60_000)
    XCTAssertEqual(world.tokens.asked, asked + 1)
  }

  func testProvider_whenSilent_isGivenUpAfterItsTimeAndAskedOneAtATime() {
    let world = DeviceWorld()
    world.tokens.hold(true)
    world.record(5)
    for _ in 0..<5 { _ = world.flush(timeout: 20) }
    XCTAssertEqual(world.tokens.asked, 1)
    world.advance(ms: 29_000)
    XCTAssertEqual(world.tokens.asked, 1)
    world.advance(ms: 1_000)
    world.tokens.release(AccessToken(value: "late"))
    world.advance(ms: 60_000)
    XCTAssertEqual(world.server.requests.count, 0, "a late answer was used")
  }

  func testToken_whenItCannotStandInAHeader_isNone() {
    for value in ["", "a b", "a\r\nX: y", "ä"] {
      let world = DeviceWorld()
      world.tokens.answer(AccessToken(value: value))
      world.record(1)
      world.advance(ms: 60_000)
      XCTAssertEqual(world.server.requests.count, 0)
    }
  }

  private func ids(_ world: DeviceWorld, token: String) -> [String] {
    world.server.requests.filter { $0.token == token }.flatMap(\.ids)
  }

  func testAccounts_whenAUserLeaves_hisRowsWaitForHisToken() {
    let world = DeviceWorld()
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    let annas = world.record(3)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange()
    world.run()
    let berts = world.record(2)
    let report = world.flush()
    XCTAssertEqual(report.withLock { $0 }?.ending, .waitingForToken)
    XCTAssertEqual(report.withLock { $0 }?.remaining, 3)
    XCTAssertEqual(ids(world, token: "B"), berts)
    world.restart()
    XCTAssertEqual(ids(world, token: "B"), berts, "the next run mixed accounts")
    world.tokens.answer(AccessToken(value: "A2", account: "anna"))
    world.telemetry.tokenDidChange()
    world.advance(ms: 60_000)
    XCTAssertEqual(ids(world, token: "A2"), annas)
  }

  func testAccounts_whenPolicySaysPurge_deletesTheOthersRows() {
    let world = DeviceWorld { $0.foreignAccounts = .purge }
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    world.record(3)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange()
    world.run()
    XCTAssertEqual(world.telemetry.status().queued, 0)
    XCTAssertEqual(world.telemetry.status().ledger.dropped["purged"], 3)
  }

  func testAccounts_whenPolicySaysPurge_deletesTheOthersQuarantineToo() {
    let world = DeviceWorld { $0.foreignAccounts = .purge }
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.telemetry.tokenDidChange(account: "anna")
    world.server.script { _ in .answer(400) }
    world.record(2)
    _ = world.flush()
    XCTAssertEqual(world.telemetry.status().quarantined, 2)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.advance(ms: 2_000)
    world.telemetry.tokenDidChange()
    world.run()
    XCTAssertEqual(world.telemetry.status().quarantined, 0)
    XCTAssertEqual(world.telemetry.status().ledger.dropped["purged"], 2)
    XCTAssert(world.telemetry.status().ledger.balances)
  }

  func testAccounts_whenPolicySaysSend_goInBatchesOfTheirOwn() {
    let world = DeviceWorld { $0.foreignAccounts = .send }
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    let annas = world.record(3)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange(account: "bert")
    let berts = world.record(2)
    _ = world.flush()
    XCTAssertEqual(world.server.requests.dropFirst().map(\.ids), [annas, berts])
  }

  func testAccount_whenItsNameIsTooLong_isNotTakenAndSaid() throws {
    let world = DeviceWorld()
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    for bytes in [201, 65_536] {
      let name = String(repeating: "b", count: bytes)
      world.tokens.answer(AccessToken(value: "B", account: name))
      world.advance(ms: 600_000)
      world.telemetry.tokenDidChange(account: name)
      world.record(1)
      world.advance(ms: 60_000)
      XCTAssertEqual(ids(world, token: "B"), [], "\(bytes)")
      let said = world.diagnostics.withLock { $0.filter { $0 == .accountTooLong(bytes: bytes) } }
      XCTAssertGreaterThanOrEqual(said.count, 2, "by the app and by the provider: \(bytes)")
    }
    XCTAssertEqual(world.store.accounts(), ["anna"])
    let longest = String(repeating: "c", count: AccessToken.maxAccountBytes)
    world.tokens.answer(AccessToken(value: "C", account: longest))
    world.advance(ms: 600_000)
    world.telemetry.tokenDidChange(account: longest)
    let last = world.record(1)
    world.advance(ms: 60_000)
    XCTAssertEqual(ids(world, token: "C"), last)
  }

  func testAccount_whenKilled_isKnownBeforeTheProviderAnswers() {
    let world = DeviceWorld()
    world.tokens.answer(AccessToken(value: "A", account: "anna"))
    world.record(1)
    _ = world.flush()
    world.tokens.hold(true)
    world.restart()
    world.record(2)
    world.tokens.hold(false)
    world.tokens.release(nil)
    world.tokens.answer(AccessToken(value: "B", account: "bert"))
    world.telemetry.tokenDidChange()
    _ = world.flush()
    XCTAssertEqual(ids(world, token: "B"), [])
    XCTAssertEqual(world.telemetry.status().queued, 2)
  }
}
