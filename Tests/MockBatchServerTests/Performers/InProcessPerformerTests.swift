import XCTest

@testable import MockBatchServer

/// The performer without sockets, as the runner's lanes use it.
final class InProcessPerformerTests: XCTestCase {
  private final class Sink: InProcessSink {
    let seen = Guarded<(status: Int, body: [UInt8], ends: [String])>((0, [], []))
    func receive(head: HTTPResponse) { seen.access { $0.status = head.status } }
    func receive(body: [UInt8]) { seen.access { $0.body += body } }
    func finish() { seen.access { $0.ends.append("finished") } }
    func fail(_ failure: InProcessFailure) { seen.access { $0.ends.append("\(failure)") } }
  }

  private func send(_ handler: ScriptedHandler) -> (status: Int, body: [UInt8], ends: [String]) {
    let sink = Sink()
    InProcessPerformer(handler: handler).send(RequestBuilder.make(), to: sink)
    return sink.seen.access { $0 }
  }

  func testConnection_whenTheRequestIsCancelled_isClosed() throws {
    let gate = Park(reason: "gate")
    let handler = ScriptedHandler { _, _ in [.park(gate), .finish(.close)] }
    let sink = Sink()
    let run = InProcessPerformer(handler: handler).send(RequestBuilder.make(), to: sink)
    XCTAssertEqual(handler.log.access { $0.closed }, 0)
    run.cancel()
    XCTAssertEqual(handler.log.access { $0.opened }, 1)
    XCTAssertEqual(handler.log.access { $0.closed }, 1)
    XCTAssertEqual(handler.log.access { $0.endings.map(\.ending) }, [.clientWentAway])
    gate.release()
    XCTAssertEqual(sink.seen.access { $0.ends }, [])
  }

  func testAnswer_whenItIsWhole_isKeptWhateverTheConnectionDoes() throws {
    let answer = HTTPResponse(status: 200, body: Array("abc".utf8))
    for finish in [ExchangeFinish.keepAlive, .close, .reset, .halfClose, .stall(nil)] {
      let seen = send(ScriptedHandler { _, _ in [.send(answer), .finish(finish)] })
      XCTAssertEqual(seen.ends, ["finished"], "\(finish)")
      XCTAssertEqual(seen.body, answer.body)
    }
    let garbage = send(
      ScriptedHandler { _, _ in [.send(answer), .sendRaw([0xff]), .finish(.close)] })
    XCTAssertEqual(garbage.ends, ["finished"])
  }

  func testAnswer_whenItIsNotWhole_fails() throws {
    let head = HTTPResponse(status: 200)
    let piece = ExchangeStep.sendBody(Array("abc".utf8))
    func ends(_ steps: [ExchangeStep]) -> [String] { send(ScriptedHandler { _, _ in steps }).ends }
    XCTAssertEqual(ends([.finish(.close)]), ["noAnswer"])
    XCTAssertEqual(ends([.finish(.reset)]), ["connectionLost"])
    XCTAssertEqual(ends([.sendHead(head, .length(4)), piece, .finish(.close)]), ["connectionLost"])
    XCTAssertEqual(ends([.sendHead(head, .chunked), piece, .finish(.close)]), ["connectionLost"])
    XCTAssertEqual(
      ends([.sendHead(head, .chunked), piece, .endBody, .finish(.close)]), ["finished"])
    XCTAssertEqual(ends([.sendHead(head, .untilClose), piece, .finish(.close)]), ["finished"])
    XCTAssertEqual(
      ends([.sendHead(head, .untilClose), piece, .finish(.reset)]), ["connectionLost"])
    XCTAssertEqual(ends([.sendRaw([0xff]), .finish(.close)]), ["notHTTP"])
  }

  func testBody_whenItIsLongerThanItsLength_isCutThere() throws {
    let seen = send(
      ScriptedHandler { _, _ in
        [
          .sendHead(HTTPResponse(status: 200), .length(2)), .sendBody(Array("abc".utf8)),
          .finish(.close),
        ]
      })
    XCTAssertEqual(seen.body, Array("ab".utf8))
    XCTAssertEqual(seen.ends, ["finished"])
  }
}
