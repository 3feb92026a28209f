import Foundation
import ThreadsSupport
import XCTest

@testable import MockBatchServer

/// Simultaneous requests must not all see the same step of a script.
final class AtomicStepTests: XCTestCase {
  func testSteps_whenFiftyRequestsComeAtOnce_areTakenOnceEach() throws {
    let plan = try FaultPlan(
      #"{"version":1,"rules":[{"responses":[{"status":503},{"status":503}]}]}"#)
    let bodies = (0..<50).map { GzipBuilder.make(EventBuilder.batch([$0])) }
    for _ in 0..<100 {
      let engine = BatchEngine(plan: plan)
      let statuses = Guarded<[Int: Int]>([:])
      onThreads(50) { index in
        let request = RequestBuilder.make(body: bodies[index])
        let status = AtomicStepTests.status(of: request, connection: index + 1, engine)
        statuses.access { $0[status, default: 0] += 1 }
      }
      XCTAssertEqual(statuses.access { $0 }, [503: 2, 200: 48])
      XCTAssertEqual(engine.ledger.counts.stored, 48)
      XCTAssertEqual(engine.journal.completeRequests, 50)
    }
  }

  func testLedger_whenTheSameBatchComesAtOnce_storesItOnce() throws {
    let body = GzipBuilder.make(EventBuilder.batch(0..<20))
    let engine = BatchEngine()
    onThreads(50) { index in
      let request = RequestBuilder.make(body: body)
      _ = AtomicStepTests.status(of: request, connection: index + 1, engine)
    }
    XCTAssertEqual(engine.ledger.counts.stored, 20)
    XCTAssertEqual(engine.ledger.counts.duplicatesAcross, 49 * 20)
    XCTAssertEqual(Set(engine.journal.entries.map(\.attempt)), Set(1...50))
  }

  private static func status(
    of request: HTTPRequest, connection: Int, _ engine: BatchEngine
  ) -> Int {
    var head = request
    head.body = []
    let context = RequestContext(connection: connection, indexOnConnection: 0)
    let exchange = engine.begin(head, context: context)
    var status = 0
    while true {
      switch exchange.next() {
      case .readBody: exchange.supply(.complete(request.body, trailers: HTTPHeaders()))
      case .send(let response): status = response.status
      case .finish:
        exchange.ended(bytesSent: 0, .completed)
        return status
      default: return -1
      }
    }
  }
}
