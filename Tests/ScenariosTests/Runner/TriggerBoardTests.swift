import XCTest

@testable import Scenarios

/// Each `when` fires at its own moment, once, and at no other.
final class TriggerBoardTests: XCTestCase {
  private func board(_ when: String) throws -> (TriggerBoard, Mailbox) {
    let mailbox = Mailbox()
    let scenario = try Fixture.scenario(
      """
      {"name":"t","about":"a","server":{"rules":[{"id":"held","responses":[{"status":200,
        "effects":[{"at":"committed","type":"gate","name":"g"},
         {"at":"committed","type":"gate","name":"h"}]}]}]},
       "timeline":[{"at":"0s","record":{"as":"r"}},{"when":\(when),"lowPower":true}],
       "expect":[{"lost":0}]}
      """)
    return (TriggerBoard(steps: scenario.timeline, mailbox: mailbox), mailbox)
  }

  private func fired(_ mailbox: Mailbox) -> [Int] {
    mailbox.takeAll().compactMap {
      if case .triggered(let step) = $0 { return step } else { return nil }
    }
  }

  func testPhase_whenAnotherOneOrAnotherRequest_doesNotFire() throws {
    let (board, mailbox) = try board(#"{"request":2,"phase":"committed"}"#)
    board.phase(.committed, ofRequest: 1)
    board.phase(.requestBody, ofRequest: 2)
    XCTAssertEqual(fired(mailbox), [])
    board.phase(.committed, ofRequest: 2)
    board.phase(.committed, ofRequest: 2)
    XCTAssertEqual(fired(mailbox), [1])
  }

  func testOrder_whenSomethingFiresInAPhase_holdsOrDropsTheRequest() throws {
    let (board, _) = try board(#"{"request":2,"phase":"committed"}"#)
    board.phase(.committed, ofRequest: 1)
    XCTAssertEqual(board.order(of: 1, in: .committed), .goOn)
    board.phase(.committed, ofRequest: 2)
    let gate = TriggerBoard.gate(2, "committed")
    XCTAssertEqual(board.order(of: 2, in: .committed), .hold(gate: gate))
    XCTAssert(TriggerBoard.owns(gate: gate))
    XCTAssertEqual(board.order(of: 2, in: .responseHead), .goOn)
  }

  func testBoard_whenDisarmed_firesNothingButDeaths() throws {
    let (board, mailbox) = try board(#"{"request":1,"phase":"committed"}"#)
    board.disarm()
    board.phase(.committed, ofRequest: 1)
    XCTAssertEqual(fired(mailbox), [])
  }

  func testGate_whenAnotherOneIsReached_doesNotFire() throws {
    let (board, mailbox) = try board(#"{"gate":"g"}"#)
    board.gateReached("h")
    XCTAssertEqual(fired(mailbox), [])
    board.gateReached("g")
    board.gateReached("g")
    XCTAssertEqual(fired(mailbox), [1])
  }

  func testRecorded_whenFewer_doesNotFire() throws {
    let (board, mailbox) = try board(#"{"recorded":7}"#)
    XCTAssertEqual(board.recordsUntilTrigger(from: 4), 3)
    board.recorded(6)
    XCTAssertEqual(fired(mailbox), [])
    board.recorded(8)
    board.recorded(9)
    XCTAssertEqual(fired(mailbox), [1])
    XCTAssertNil(board.recordsUntilTrigger(from: 9))
  }

  func testStorage_whenCountedByOperation_firesAtTheNth() throws {
    let (board, mailbox) = try board(#"{"storage":"write","nth":3}"#)
    for operation in ["write", "sync", "write", "delete"] { board.storage(operation) }
    XCTAssertEqual(fired(mailbox), [])
    XCTAssertEqual(board.storageWishes.map(\.remaining), [1])
    board.storage("write")
    board.storage("write")
    XCTAssertEqual(fired(mailbox), [1])
  }
}
