import XCTest

@testable import MockBatchServer

final class AnswerShapeTests: XCTestCase {
  private func send(_ response: String, toxics: String = "[]") throws -> Running {
    let driver = try EngineDriver(
      """
      {"version":1,"seed":7,"toxics":\(toxics),"rules":[{"responses":[\(response)]}]}
      """)
    return driver.send()
  }

  private let body = #""status":200,"body":"\#(String(repeating: "abcdefghij", count: 100))""#
  private let second: Int64 = 1_000_000_000

  private func pieces(_ running: Running) -> [(atNs: Int64, bytes: Int)] {
    running.sent.compactMap { sent in
      if case .body(let bytes) = sent.act { return (sent.atNs, bytes.count) }
      return nil
    }
  }

  func testDribble_whenPlanned_spreadsTheBodyEvenly() throws {
    let running = try send(#"{\#(body),"dribble":{"chunks":5,"duration":"2s"}}"#)
    let pieces = pieces(running)
    XCTAssertEqual(pieces.map(\.bytes), [200, 200, 200, 200, 200])
    XCTAssertEqual(pieces.map(\.atNs), [0, second / 2, second, second * 3 / 2, second * 2])
    XCTAssertEqual(running.acts.last, .keepAlive)
    XCTAssertEqual(running.acts.first, .head(200, length: 1_000))
    let slow = try send(
      #"{\#(body),"dribble":{"chunks":2,"duration":"9223372036854775807ns"}}"#)
    XCTAssertEqual(slow.acts.last, .keepAlive)
    XCTAssertEqual(slow.sent.last?.atNs, .max)
    let tiny = try send(#"{"status":200,"body":"ab","dribble":{"chunks":9,"duration":"1s"}}"#)
    XCTAssertEqual(self.pieces(tiny).map(\.bytes), [1, 1])
  }

  func testBandwidth_whenLimited_takesBytesOverRate() throws {
    for (response, toxics) in [
      (#"{\#(body),"effects":[{"at":"responseBody","type":"bandwidth","rate":1}]}"#, "[]"),
      ("{\(body)}", #"[{"type":"bandwidth","attributes":{"rate":1}}]"#),
    ] {
      let running = try send(response, toxics: toxics)
      let pieces = pieces(running)
      XCTAssertEqual(pieces.map(\.bytes).reduce(0, +), 1_000)
      XCTAssertEqual(pieces.last?.atNs, second)
      XCTAssertGreaterThan(pieces.count, 10)
      for piece in pieces { XCTAssertLessThanOrEqual(piece.bytes, 100) }
    }
  }

  func testCuts_whenPlanned_closeShortOfTheLength() throws {
    let cases = [
      (#"{\#(body),"truncateAfter":10}"#, 10, 1_000),
      (#"{\#(body),"effects":[{"at":"responseBody","type":"limitData","bytes":999}]}"#, 999, 1_000),
      (#"{\#(body),"contentLength":2000}"#, 1_000, 2_000),
      (#"{\#(body),"contentLength":5}"#, 1_000, 5),
    ]
    for (response, bytes, length) in cases {
      let running = try send(response)
      XCTAssertEqual(running.acts.first, .head(200, length: length), response)
      XCTAssertEqual(running.response.body.count, bytes, response)
      XCTAssertEqual(running.acts.last, .close, response)
    }
  }

  func testCut_whenItLiesBehindTheBody_isNoFaultAndTheJournalSaysSo() throws {
    for (cut, name) in [
      (#""truncateAfter":43"#, "truncateAfter"),
      (#""effects":[{"at":"responseBody","type":"limitData","bytes":99}]"#, "limitData"),
    ] {
      let driver = try EngineDriver("{\"version\":1,\"rules\":[{\"responses\":[{\(cut)}]}]}")
      XCTAssertEqual(driver.send().acts.last, .keepAlive, cut)
      XCTAssertEqual(
        driver.engine.journal.entries[0].effects,
        ["\(name): nothing to cut off, the body has 43 bytes"])
      XCTAssertFalse(
        driver.kinds.contains {
          if case .faultApplied = $0 { return true }
          return false
        })
    }
  }

  func testEffectInTheBody_whenAfterBytes_comesThere() throws {
    let running = try send(
      #"{\#(body),"effects":[{"at":"responseBody","type":"delay","delay":"3s","afterBytes":250},"#
        + #"{"at":"responseBody","type":"reset","afterBytes":600}]}"#)
    XCTAssertEqual(pieces(running).map(\.bytes), [250, 350])
    XCTAssertEqual(pieces(running).map(\.atNs), [0, 3 * second])
    XCTAssertEqual(running.acts.last, .reset)
  }

  func testHalfClose_whenPlanned_sendsHalfAndReadsOn() throws {
    let running = try send(#"{\#(body),"fault":"HALF_CLOSE"}"#)
    XCTAssertEqual(pieces(running).map(\.bytes), [500])
    XCTAssertEqual(running.acts.last, .halfClose)
  }

  func testToxics_whenOnTheConnection_shapeEveryAnswer() throws {
    let late = try send(
      "{\(body)}", toxics: #"[{"type":"latency","attributes":{"latency":300}}]"#)
    XCTAssertEqual(late.sent.first?.atNs, 300_000_000)
    let up = try send(
      "{\(body)}",
      toxics: #"[{"type":"latency","stream":"upstream","attributes":{"latency":300,"jitter":100}}]"#
    )
    let atNs = try XCTUnwrap(up.sent.first?.atNs)
    XCTAssertTrue((200_000_000...400_000_000).contains(atNs))
    let sliced = try send(
      "{\(body)}", toxics: #"[{"type":"slicer","attributes":{"average_size":100,"delay":1000}}]"#)
    XCTAssertEqual(pieces(sliced).map(\.bytes), [Int](repeating: 100, count: 10))
    XCTAssertEqual(pieces(sliced).last?.atNs, 9_000_000)
    let slow = try send("{\(body)}", toxics: #"[{"type":"slow_close","attributes":{"delay":500}}]"#)
    XCTAssertEqual(slow.sent.last, EngineDriver.Sent(atNs: 500_000_000, act: .close))
    let reset = try send(
      "{\(body)}", toxics: #"[{"type":"reset_peer","attributes":{"timeout":50}}]"#)
    XCTAssertEqual(reset.sent, [EngineDriver.Sent(atNs: 50_000_000, act: .reset)])
    let none = try send(
      "{\(body)}", toxics: #"[{"type":"reset_peer","toxicity":0,"attributes":{"timeout":50}}]"#)
    XCTAssertEqual(none.acts.last, .keepAlive)
  }

  func testLimitData_whenPlanned_countsTheHeadAndClosesAtTheByte() throws {
    func limited(_ bytes: Int) throws -> Running {
      try send(
        "{\(body)}", toxics: #"[{"type":"limit_data","attributes":{"bytes":\#(bytes)}}]"#)
    }
    var wire: [UInt8] = []
    ResponseWriter.append(try limited(9_999).response, ResponseWriter.Context(), to: &wire)
    let head = wire.count - 1_000
    XCTAssertEqual(try limited(0).acts, [.close])
    XCTAssertEqual(try limited(40).acts, [.raw(40), .close])
    XCTAssertEqual(try limited(head).acts, [.head(200, length: 1_000), .close])
    let inBody = try limited(head + 40)
    XCTAssertEqual(inBody.response.body.count, 40)
    XCTAssertEqual(inBody.acts.last, .close)
    XCTAssertEqual(try limited(head + 1_000).acts.last, .close)
    XCTAssertEqual(try limited(head + 1_001).acts.last, .keepAlive)
  }

  func testUpstreamBandwidth_whenThePerformerReadAtOnce_delaysTheAnswer() throws {
    let driver = try EngineDriver(
      """
      {"version":1,"toxics":[{"type":"bandwidth","stream":"upstream","attributes":{"rate":1}}]}
      """)
    let request = RequestBuilder.make()
    let running = driver.send(request)
    let expected = Double(request.body.count) / 1_000 * 1e9
    XCTAssertEqual(Double(running.sent[0].atNs), expected, accuracy: 1_000)
  }

  func testSlowClose_whenPlanned_closesLate() throws {
    let running = try send(
      #"{\#(body),"effects":[{"at":"responseEnd","type":"slowClose","delay":"4s"}]}"#)
    XCTAssertEqual(running.sent.last, EngineDriver.Sent(atNs: 4 * second, act: .close))
  }
}
