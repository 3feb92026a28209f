import XCTest

@testable import Scenarios

final class LifeStoryTests: XCTestCase {
  func testStory_whenEventLivesAWholeLife_tellsItInOrder() {
    var maker = HistoryMaker()
    maker.record(["e1"], at: 60)
    maker.send(["e1"], at: 32_400, stored: ["e1"], status: nil)
    maker.send(["e1"], at: 32_402, duplicates: ["e1"], attempt: 2)
    maker.add(.acknowledged(ids: ["e1"]), at: 32_402)
    maker.add(.erased(ids: ["e1"]), at: 32_402)
    let story = LifeStories(maker.history).story(id: "e1")
    XCTAssertEqual(
      story?.line,
      "offered 1m00s → durable 1m00s → sent 1 (request 1) 9h00m → committed 9h00m"
        + " → sent 2 (request 2) 9h00m02s → duplicate 9h00m02s → acknowledged 9h00m02s → erased 9h00m02s"
    )
    XCTAssertEqual(story?.stored, 1)
    XCTAssertEqual(story?.arrivals, 2)
    XCTAssertEqual(story?.isDurable, true)
  }

  func testStory_whenReceiptWasNeverRead_staysWithoutId() {
    var maker = HistoryMaker()
    maker.add(.offered(serial: 9, label: "last", account: ""))
    maker.add(.died(incarnation: 1, how: "SIGKILL"))
    maker.send(["ghost"], at: 1, stored: ["ghost"])
    let stories = LifeStories(maker.history)
    XCTAssertEqual(stories.all.count, 2)
    XCTAssertNil(stories.all[0].id)
    XCTAssertNil(stories.story(id: "ghost")?.serial)
  }

  func testStory_whenEventIsSentBeforeItsReceiptIsRead_isOneStory() {
    var maker = HistoryMaker()
    maker.add(.offered(serial: 1, label: "x", account: ""))
    maker.send(["e"], at: 0, stored: ["e"])
    maker.add(.receipt(serial: 1, .durable(id: "e")))
    let stories = LifeStories(maker.history)
    XCTAssertEqual(stories.all.count, 1)
    XCTAssertEqual(stories.story(id: "e")?.stored, 1)
    XCTAssertEqual(stories.story(id: "e")?.label, "x")
  }

  func testStories_whenReadInParts_areTheSame() {
    var maker = HistoryMaker()
    maker.record(["a", "b", "a"])
    maker.add(.offered(serial: 8, label: "x", account: ""))
    maker.send(["b", "e", "a"], at: 1, stored: ["e", "a"], duplicates: ["b"])
    maker.add(.receipt(serial: 8, .durable(id: "e")))
    maker.record(["f", "g"])
    maker.send(["e", "f", "g"], at: 2, stored: ["f", "g"], duplicates: ["e"])
    maker.add(.erased(ids: ["a", "b", "e", "f", "g"]))
    let entries = maker.history.entries
    let whole = LifeStories(maker.history)
    XCTAssertEqual(whole.all.map(\.id), ["a", "b", "a", "e", "f", "g"])
    XCTAssertEqual(whole.all.map(\.arrivals), [0, 1, 1, 2, 1, 1], "the later twin stands for both")
    for cut in 0...entries.count {
      var stories = LifeStories(History(header: maker.history.header))
      stories.extend(by: entries[..<cut])
      stories.extend(by: entries[cut...])
      XCTAssertEqual(stories.all, whole.all, "cut at \(cut)")
    }
  }

  func testStory_whenLedgerWasRead_believesTheLedger() {
    var maker = HistoryMaker()
    maker.record(["e", "f"])
    maker.send(["e", "f"], at: 1, stored: ["e", "f"])
    maker.add(.held([Holding(id: "e", stored: 0, seen: 1), Holding(id: "f", stored: 2, seen: 2)]))
    let stories = LifeStories(maker.history)
    XCTAssertEqual(stories.story(id: "e")?.stored, 0)
    XCTAssertEqual(stories.story(id: "f")?.stored, 2)
  }

  func testStory_whenEventLeaves_saysWhy() {
    var maker = HistoryMaker()
    maker.record(["q", "d"])
    maker.add(.quarantined(count: 1, reason: "refused 400", ids: ["q"]))
    maker.add(.dropped(count: 1, reason: "queueFull", ids: ["d"]))
    let stories = LifeStories(maker.history)
    XCTAssertEqual(stories.story(id: "q")?.leftFor, "refused 400")
    XCTAssertEqual(stories.story(id: "q")?.isQuarantined, true)
    XCTAssertEqual(stories.story(id: "d")?.leftFor, "queueFull")
    XCTAssertEqual(stories.story(id: "d")?.isQuarantined, false)
  }
}
