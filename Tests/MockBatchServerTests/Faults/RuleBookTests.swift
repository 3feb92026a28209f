import XCTest

@testable import MockBatchServer

final class RuleBookTests: XCTestCase {
  private func book(_ plan: String) throws -> RuleBook {
    let plan = try FaultPlan(plan)
    return RuleBook(rules: plan.rules, seed: plan.seed)
  }

  /// Statuses of so many requests in a row; 0 where no rule applies.
  private func statuses(
    _ book: RuleBook, _ count: Int, at nanoseconds: Int64 = 0, identity: UInt64 = 1
  ) -> [Int] {
    (1...count).map { attempt in
      let key = RuleBook.Key(identity: identity, attempt: attempt)
      let step = book.take(
        at: .requestBody, sinceActivationNs: nanoseconds, key: key, matches: { _ in true })
      return step?.response.status ?? 0
    }
  }

  private func rule(_ when: String, _ tail: String = "") throws -> RuleBook {
    try book(
      """
      {"version":1,"rules":[{"when":\(when),
       "responses":[{"status":429},{"status":503}]\(tail)}]}
      """)
  }

  func testRule_whenResponsesEnd_givesWayOrGoesOn() throws {
    XCTAssertEqual(statuses(try rule("{}"), 4), [429, 503, 0, 0])
    XCTAssertEqual(
      statuses(try rule("{}", ",\"onExhausted\":\"last\""), 5), [429, 503, 503, 503, 503])
    XCTAssertEqual(
      statuses(try rule("{}", ",\"onExhausted\":\"repeat\""), 5), [429, 503, 429, 503, 429])
    XCTAssertEqual(
      statuses(try rule("{\"times\":3}", ",\"onExhausted\":\"last\""), 5), [429, 503, 503, 0, 0])
    XCTAssertEqual(
      statuses(try rule("{\"times\":3}", ",\"onExhausted\":\"repeat\""), 5), [429, 503, 429, 0, 0])
    XCTAssertEqual(
      statuses(try rule("{\"times\":3}", ",\"onExhausted\":\"nextRule\""), 5), [429, 503, 0, 0, 0])
    XCTAssertEqual(statuses(try rule("{\"times\":3}"), 5), [429, 503, 429, 0, 0])
    XCTAssertEqual(statuses(try rule("{\"times\":1}"), 3), [429, 0, 0])
    XCTAssertEqual(statuses(try rule("{\"times\":0}"), 2), [0, 0])
  }

  func testRule_whenItSkips_letsMatchingRequestsPassFirst() throws {
    XCTAssertEqual(statuses(try rule("{\"skip\":2}"), 5), [0, 0, 429, 503, 0])
  }

  func testRule_whenOutsideItsWindow_doesNotApplyNorSkip() throws {
    let book = try rule("{\"skip\":1,\"from\":\"1s\",\"until\":\"2s\"}")
    XCTAssertEqual(statuses(book, 2, at: 999_999_999), [0, 0])
    XCTAssertEqual(statuses(book, 2, at: 1_000_000_000), [0, 429])
    XCTAssertEqual(statuses(book, 1, at: 2_000_000_000), [0])
    XCTAssertEqual(statuses(book, 1, at: 1_999_999_999), [503])
  }

  func testRules_whenSeveralMatch_areTriedByPriorityThenOrder() throws {
    let book = try book(
      """
      {"version":1,"rules":[
       {"id":"c","responses":[{"status":503}]},
       {"id":"b","priority":1,"responses":[{"status":429}]},
       {"id":"d","responses":[{"status":500}]},
       {"id":"a","priority":-3,"responses":[{"status":502}]}]}
      """)
    XCTAssertEqual(statuses(book, 5), [502, 429, 503, 500, 0])
    XCTAssertEqual(book.applied().map(\.times), [1, 1, 1, 1])
    XCTAssertEqual(book.applied().map(\.rule), ["a", "b", "c", "d"])
  }

  func testProbability_whenDrawn_dependsOnTheBatchAndNotOnTheOrder() throws {
    let text = """
      {"version":1,"seed":42,"rules":[{"id":"p","when":{"probability":0.3},
       "onExhausted":"last","responses":[{"status":503}]}]}
      """
    func draws(_ order: [UInt64]) throws -> [UInt64: Int] {
      let book = try book(text)
      return Dictionary(
        uniqueKeysWithValues: order.map { ($0, statuses(book, 1, identity: $0)[0]) })
    }
    let forward = try draws((0..<2_000).map { UInt64($0) })
    XCTAssertEqual(forward, try draws((0..<2_000).reversed().map { UInt64($0) }))
    let applied = forward.values.filter { $0 == 503 }.count
    XCTAssertGreaterThan(applied, 500)
    XCTAssertLessThan(applied, 700)
    XCTAssertEqual(forward.values.filter { $0 == 0 }.count, 2_000 - applied)
  }

  func testProbability_whenARuleIsPassedOver_countsNothing() throws {
    let book = try rule("{\"probability\":0,\"times\":1}")
    XCTAssertEqual(statuses(book, 3), [0, 0, 0])
    XCTAssertEqual(book.applied().first?.times, 0)
  }

  func testPlan_whenItIsTheExampleOfTheReference_isRead() throws {
    let plan = try FaultPlan(
      """
      {"version":1,"seed":42,
       "contract":{"tokens":[{"value":"T1","account":"a","expiresAt":"9h"}],"maxBodyBytes":256000,
                   "maxEvents":1000,"identityBody":415,"dedupWindow":"30d","rejectTypes":[]},
       "rules":[{"id":"busy","priority":1,
        "request":{"method":"POST","urlPath":"/v1/telemetry/batch"},
        "when":{"skip":1,"times":3,"probability":1,"from":"0s","until":"9s"},
        "responses":[{"status":429,"retryAfter":{"in":"20s","form":"seconds"}},
                     {"status":503,"delay":{"type":"lognormal","median":"80ms","sigma":0.4}},
                     {"fault":"CONNECTION_RESET_BY_PEER","commit":"all",
                      "effects":[{"at":"committed","type":"gate","name":"kill-here"}]}],
        "onExhausted":"nextRule"}],
       "toxics":[{"name":"slow","type":"bandwidth","stream":"upstream","toxicity":1,
                  "attributes":{"rate":16}}],
       "timeline":[{"at":"3s","listener":"refuse"},{"at":"6s","listener":"accept"}]}
      """)
    XCTAssertEqual(plan.seed, 42)
    XCTAssertEqual(plan.rules[0].responses.count, 3)
    XCTAssertEqual(plan.rules[0].untilNs, 9_000_000_000)
    XCTAssertEqual(plan.contract.tokens[0].expiresAtNs, 32_400_000_000_000)
    XCTAssertEqual(plan.timeline.map(\.listener), [.refuse, .accept])
    XCTAssertNoThrow(try plan.check(for: .socketServer))
    XCTAssertThrowsError(try plan.check(for: .urlProtocol)) {
      XCTAssertEqual(
        "\($0)", "urlprotocol cannot express upstream bandwidth (toxic \"slow\")")
    }
  }
}
