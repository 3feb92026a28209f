import Foundation
import XCTest

@testable import MockBatchServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

final class EngineURLProtocolTests: XCTestCase {
  private struct Answer {
    var status: Int
    var body: String
    var headers: [String: String]
    var code: Int
  }

  private func send(_ plan: String, text: String = EventBuilder.batch([1])) throws -> (
    Answer, BatchEngine
  ) {
    let engine = BatchEngine(plan: try FaultPlan(plan))
    let base = try EngineURLProtocol.register(engine)
    defer { EngineURLProtocol.unregister(base) }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [EngineURLProtocol.self]
    let session = URLSession(configuration: configuration)
    defer { session.finishTasksAndInvalidate() }
    var request = URLRequest(url: base.appendingPathComponent("v1/telemetry/batch"))
    request.httpMethod = "POST"
    for (name, value) in RequestBuilder.make().headers where name != "Host" {
      request.setValue(value, forHTTPHeaderField: name)
    }
    request.httpBody = Data(GzipBuilder.make(text))
    let done = expectation(description: "answered")
    let answer = Guarded(Answer(status: 0, body: "", headers: [:], code: 0))
    session.dataTask(with: request) { data, response, error in
      let http = response as? HTTPURLResponse
      let headers = (http?.allHeaderFields ?? [:]).reduce(into: [String: String]()) {
        $0["\($1.key)".lowercased()] = "\($1.value)"
      }
      let code = (error as NSError?)?.code ?? 0
      answer.access {
        $0 = Answer(
          status: http?.statusCode ?? 0, body: String(decoding: data ?? Data(), as: UTF8.self),
          headers: headers, code: code)
      }
      done.fulfill()
    }.resume()
    wait(for: [done], timeout: 60)
    return (answer.access { $0 }, engine)
  }

  private func plan(_ response: String) -> String {
    "{\"version\":1,\"rules\":[{\"responses\":[\(response)]}]}"
  }

  func testRequest_whenBatchIsGood_isAnsweredByTheEngine() throws {
    let (answer, engine) = try send("{\"version\":1}", text: EventBuilder.batch([1, 2]))
    XCTAssertEqual(answer.status, 200)
    XCTAssertEqual(answer.body, "{\"accepted\":2,\"duplicates\":0,\"rejected\":[]}")
    XCTAssertEqual(engine.ledger.counts.stored, 2)
    let entry = try XCTUnwrap(engine.journal.entries.first)
    XCTAssertEqual(entry.context.peer, "urlprotocol")
    XCTAssertEqual(entry.ending, "completed")
    XCTAssertEqual(entry.request.path, "/v1/telemetry/batch")
  }

  func testFaults_whenPlanned_reachTheClientAsErrors() throws {
    XCTAssertEqual(try send(plan(#"{"fault":"CONNECTION_RESET_BY_PEER"}"#)).0.code, -1005)
    XCTAssertEqual(try send(plan(#"{"fault":"EMPTY_RESPONSE"}"#)).0.code, -1011)
    XCTAssertEqual(try send(plan(#"{"fault":"RANDOM_DATA_THEN_CLOSE"}"#)).0.code, -1002)
    XCTAssertEqual(try send(plan(#"{"truncateAfter":3}"#)).0.code, -1005)
    let refused = #"{"version":1,"timeline":[{"at":"0s","listener":"refuse"}]}"#
    XCTAssertEqual(try send(refused).0.code, -1004)
    let busy = try send(plan(#"{"status":429,"retryAfter":{"in":"20s"}}"#)).0
    XCTAssertEqual(busy.status, 429)
    XCTAssertEqual(busy.headers["retry-after"], "20")
    let lost = try send(plan(#"{"fault":"CONNECTION_RESET_BY_PEER","commit":"all"}"#))
    XCTAssertEqual(lost.1.ledger.counts.stored, 1)
  }

  func testDribble_whenPlanned_deliversTheWholeBody() throws {
    let answer = try send(plan(#"{"dribble":{"chunks":4,"duration":"20ms"}}"#)).0
    XCTAssertEqual(answer.body, "{\"accepted\":1,\"duplicates\":0,\"rejected\":[]}")
  }

  func testPlan_whenItNeedsASocket_isRefusedByName() throws {
    let plan = try FaultPlan(plan(#"{"fault":"HALF_CLOSE"}"#))
    XCTAssertThrowsError(try EngineURLProtocol.register(BatchEngine(plan: plan))) {
      XCTAssertEqual("\($0)", "urlprotocol cannot express halfClose (rule \"rule-1\")")
    }
    let engine = BatchEngine()
    let url = try EngineURLProtocol.register(engine)
    defer { EngineURLProtocol.unregister(url) }
    XCTAssertThrowsError(try engine.use(plan))
    XCTAssertTrue(engine.plan.rules.isEmpty)
  }
}
