import XCTest

@testable import TelemetrySDK

/// Age is judged only at a time on which server and phone agree.
final class ConfirmedTimeTests: XCTestCase {
  private let phoneMs: Int64 = 1_777_886_102_114
  private let dayMs: Int64 = 86_400_000

  private func ages(serverAheadMs: Int64?) -> [DeliveryEffect] {
    var world = EngineWorld(seed: 1)
    world.open()
    world.record(1, account: "", bytes: 100)
    world.input(.foreground)
    world.answerToken("T")
    world.prepareNext()
    XCTAssertNotNil(world.sending)
    var facts = AnswerFacts(status: 200)
    facts.receivedMs = phoneMs
    facts.dateMs = serverAheadMs.map { phoneMs.addingReportingOverflow($0).partialValue }
    world.answer(.answered(facts))
    return (world.trace.last?.effects ?? []).filter {
      if case .enforceAge = $0 { return true }
      return false
    }
  }

  func testAge_whenServerAndPhoneAgree_isJudgedAtTheServersTime() {
    for aheadMs in [0, 1_000, -dayMs, dayMs] {
      XCTAssertEqual(
        ages(serverAheadMs: aheadMs), [.enforceAge(confirmedNowMs: phoneMs + aheadMs)])
    }
  }

  func testAge_whenOneOfThemMustBeWrong_isNotJudged() {
    for aheadMs in [dayMs + 1, -dayMs - 1, 31 * dayMs, -30_000 * dayMs, .min, .max] {
      XCTAssertEqual(ages(serverAheadMs: aheadMs), [], "\(aheadMs)")
    }
    XCTAssertEqual(ages(serverAheadMs: nil), [])
  }
}
