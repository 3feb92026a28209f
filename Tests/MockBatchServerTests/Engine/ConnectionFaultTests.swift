import XCTest

@testable import MockBatchServer

/// What a plan does to connections: toxics, and effects at `accept`.
final class ConnectionFaultTests: XCTestCase {
  private func rule(_ responses: String) -> String {
    "{\"version\":1,\"rules\":[{\"responses\":[\(responses)]}]}"
  }

  private func toxic(_ type: String, _ attributes: String, stream: String = "downstream") -> String
  {
    """
    {"version":1,"toxics":[{"type":"\(type)","stream":"\(stream)","attributes":{\(attributes)}}]}
    """
  }

  func testAcceptDelays_whenThereAreTwo_comeOneAfterTheOther() throws {
    let driver = try EngineDriver(
      rule(
        #"""
        {"status":503,"effects":[{"at":"accept","type":"delay","delay":"1s"},
         {"at":"accept","type":"delay","delay":"2s"}]}
        """#))
    XCTAssertEqual(driver.send().sent[0].atNs, 3_000_000_000)
  }

  func testAcceptGate_whenTheClientGoes_isLeft() throws {
    let driver = try EngineDriver(
      rule(#"{"effects":[{"at":"accept","type":"gate","name":"door","timeout":"5s"}]}"#))
    let running = driver.start(RequestBuilder.make())
    running.run()
    XCTAssertEqual(driver.engine.gates.all().map(\.waiting), [1])
    running.exchange.ended(bytesSent: 0, .clientWentAway)
    XCTAssertEqual(driver.engine.gates.all().map(\.waiting), [0])
    XCTAssertNil(driver.clock.nextDueNs)
  }

  func testAcceptRule_whenTheConnectionIsReused_isNotTaken() throws {
    let driver = try EngineDriver()
    driver.send()
    try driver.engine.use(FaultPlan(rule(#"{"effects":[{"at":"accept","type":"reset"}]}"#)))
    let reused = driver.start(RequestBuilder.make(), connection: 1, index: 1)
    reused.run()
    XCTAssertEqual(reused.status, 200)
    XCTAssertEqual(driver.send().acts, [.reset])
  }

  func testToxic_whenThePlanComesLater_reachesAnOpenConnection() throws {
    let driver = try EngineDriver()
    driver.send()
    func again(_ index: Int) -> Running {
      let running = driver.start(RequestBuilder.make(), connection: 1, index: index)
      running.run()
      return running
    }
    XCTAssertNil(again(1).limits)
    try driver.engine.use(FaultPlan(toxic("limit_data", "\"bytes\":9000", stream: "upstream")))
    XCTAssertEqual(again(2).limits, StreamLimits(closeAfterBytes: 9_000))
    XCTAssertNil(again(3).limits, "told twice")
    try driver.engine.use(FaultPlan())
    XCTAssertEqual(again(4).limits, StreamLimits())
    try driver.engine.use(FaultPlan(toxic("reset_peer", "\"timeout\":0")))
    XCTAssertEqual(again(5).acts, [.reset])
  }

  func testUpstreamToxics_whenPlanned_limitWhatIsRead() throws {
    let plan = try FaultPlan(
      #"""
      {"version":1,"toxics":[
        {"name":"slow","type":"bandwidth","stream":"upstream","attributes":{"rate":16}},
        {"name":"cut","type":"limit_data","stream":"upstream","attributes":{"bytes":500}},
        {"name":"down","type":"bandwidth","stream":"downstream","attributes":{"rate":1}}]}
      """#)
    XCTAssertEqual(
      StreamLimits(toxics: plan.toxics),
      StreamLimits(bytesPerSecond: 16_000, closeAfterBytes: 500))
  }

  func testToxics_whenDrawn_areTheSameForAConnectionAtEachRequest() throws {
    let plan = try FaultPlan(
      """
      {"version":1,"seed":3,"toxics":[
       {"type":"latency","toxicity":0.5,"attributes":{"latency":100}}]}
      """)
    let active = ActivePlan(plan: plan, activatedNs: 0)
    let drawn = (1...200).map { active.toxics(of: $0).count }
    XCTAssertEqual(drawn, (1...200).map { active.toxics(of: $0).count })
    XCTAssertEqual(Double(drawn.reduce(0, +)), 100, accuracy: 40)
  }
}
