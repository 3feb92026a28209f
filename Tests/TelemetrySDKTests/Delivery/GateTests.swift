import XCTest

@testable import TelemetrySDK

/// Small policies, as tables: tokens, batch sizes, refusals.
final class GateTests: XCTestCase {
  private let start = Moment(nanoseconds: 1_000_000_000)

  // MARK: Tokens

  func testToken_whenRefusedOnce_isAskedForOnceAndNotUsedAgain() {
    var gate = TokenGate()
    XCTAssertTrue(gate.wantsAsking)
    gate.asked(generation: 1, deadline: start)
    XCTAssertFalse(gate.wantsAsking, "single flight")
    let first = AccessToken(value: "T1")
    _ = gate.answered(first)
    XCTAssertEqual(gate.current, first)
    gate.unauthorized(first)
    XCTAssertNil(gate.current)
    XCTAssertTrue(gate.wantsAsking)
    gate.asked(generation: 2, deadline: start)
    _ = gate.answered(first)
    XCTAssertNil(gate.current, "the refused token is no token")
    XCTAssertTrue(gate.isHolding)
    XCTAssertFalse(gate.wantsAsking)
    gate.occasion()
    XCTAssertTrue(gate.wantsAsking)
    gate.asked(generation: 3, deadline: start)
    _ = gate.answered(AccessToken(value: "T2"))
    XCTAssertEqual(gate.current?.value, "T2")
  }

  func testToken_whenEveryFreshOneIsRefused_holds() {
    var gate = TokenGate()
    for number in 1...5 {
      gate.asked(generation: UInt64(number), deadline: start)
      let token = AccessToken(value: "T\(number)")
      _ = gate.answered(token)
      gate.unauthorized(token)
      XCTAssertEqual(gate.wantsAsking, number == 1, "\(number)")
      gate.occasion()
    }
  }

  func testToken_whenAbsent_waitsForAnOccasion() {
    var gate = TokenGate()
    gate.asked(generation: 1, deadline: start)
    _ = gate.answered(nil)
    XCTAssertTrue(gate.isHolding)
    gate.changed()
    XCTAssertTrue(gate.wantsAsking)
  }

  // MARK: Sizes

  func testSize_whenTooLarge_halvesTheRealBody() {
    var lesson = SizeLesson()
    lesson.tooLarge(jsonBytes: 200_001)
    XCTAssertEqual(lesson.limitBytes, 100_000)
    lesson.tooLarge(jsonBytes: 60_000)
    XCTAssertEqual(lesson.limitBytes, 30_000)
    lesson.tooLarge(jsonBytes: 250_000)
    XCTAssertEqual(lesson.limitBytes, 30_000, "never up by a refusal")
    for _ in 0..<40 { lesson.tooLarge(jsonBytes: 0) }
    XCTAssertEqual(lesson.limitBytes, 1)
  }

  func testSize_whenBodiesAreTaken_growsBackAndIsForgotten() {
    var lesson = SizeLesson()
    lesson.tooLarge(jsonBytes: 128_000)
    var limits: [Int?] = []
    for _ in 0..<(3 * SizeLesson.acceptedBeforeGrowth) {
      lesson.accept(fullBytes: 256_000)
      if limits.last != .some(lesson.limitBytes) { limits.append(lesson.limitBytes) }
    }
    XCTAssertEqual(limits, [64_000, 128_000, 256_000, nil])
  }

  // MARK: Refusals

  func testRefusals_whenInARow_pauseLongerAndLonger() {
    var pause = RefusalPause(
      limits: .init(bodies: 3, firstMs: 300_000, capMs: 21_600_000))
    var pauses: [Int64?] = []
    for _ in 0..<12 { pauses.append(pause.refused(now: start)) }
    XCTAssertEqual(
      pauses,
      [
        nil, nil, 300_000, 600_000, 1_200_000, 2_400_000, 4_800_000, 9_600_000, 19_200_000,
        21_600_000, 21_600_000, 21_600_000,
      ])
    XCTAssertTrue(pause.isProbing)
    pause.accepted()
    XCTAssertFalse(pause.isProbing)
    XCTAssertNil(pause.until)
    XCTAssertNil(pause.refused(now: start))
  }

  func testRefusals_whenA2xxComesBetween_neverPause() {
    var pause = RefusalPause(limits: .init(bodies: 3, firstMs: 1, capMs: 1))
    for _ in 0..<50 {
      XCTAssertNil(pause.refused(now: start))
      XCTAssertNil(pause.refused(now: start))
      pause.accepted()
    }
  }

  func testRefusals_whenEndless_neverOverflow() {
    var pause = RefusalPause(limits: .init(bodies: 1, firstMs: .max, capMs: .max))
    for _ in 0..<1_000 { XCTAssertEqual(pause.refused(now: Moment(nanoseconds: .max)), .max) }
  }
}
