import XCTest

@testable import TelemetrySDK

final class AskPaceTests: XCTestCase {
  private func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

  func testPace_whenChangesComeHoursApartWithOccasionsBetween_staysAtASecond() {
    var pace = AskPace()
    for hour in 1...12 {
      let now = moment(Int64(hour) * 3_600)
      pace.occasion()
      pace.changed(now: now)
      XCTAssertTrue(pace.mayAsk(now: now))
      pace.asked(now: now)
      pace.changed(now: now)
      XCTAssertFalse(pace.mayAsk(now: now))
      XCTAssertTrue(pace.mayAsk(now: moment(Int64(hour) * 3_600 + 1)))
    }
  }

  func testPace_whenEachAskBringsAChange_doublesUpToFiveMinutes() {
    var pace = AskPace()
    var now = moment(0)
    var waits: [Int64] = []
    for _ in 0..<12 {
      pace.changed(now: now)
      let due = pace.due ?? now
      waits.append(due.milliseconds(since: now) / 1_000)
      now = due
      pace.asked(now: now)
    }
    XCTAssertEqual(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  }

  /// A flush that would be over before the provider may be asked again.
  func testFlush_whenTheNextAskComesBehindItsDeadline_endsWaitingForAToken() {
    var world = EngineWorld(seed: 1) { $0.batchMaxEvents = 1 }
    world.open()
    world.record(2, account: "", bytes: 100)
    world.input(.foreground)
    world.answerUntilSending()
    world.flush(timeoutMs: 500)
    // The second change makes the answer to the first stale; its own ask has to wait a second.
    world.input(.tokenChanged)
    world.input(.tokenChanged)
    world.answerToken("of the user before")
    world.answer(status: 200)
    world.settleNext()
    world.prepareNext()
    let endings = world.trace.flatMap(\.effects).compactMap { effect -> FlushReport.Ending? in
      if case .resumeWaiter(_, let ending) = effect { return ending } else { return nil }
    }
    XCTAssertEqual(endings, [.waitingForToken])
    XCTAssertEqual(world.laws.broken, [])
  }
}
