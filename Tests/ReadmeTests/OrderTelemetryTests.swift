import MockBatchServer
import TelemetrySDK
import XCTest

/// The README's example, word for word: the SDK as an app uses it, against an embedded server.
final class OrderTelemetryTests: XCTestCase {
  func testOrders_whenAnAnswerIsLost_areStoredOnce() async throws {
    // The server takes the first batch, then resets the connection without an answer.
    let plan = try FaultPlan(
      """
      {"version":1,"rules":[{"id":"lost-answer","when":{"times":1},
        "responses":[{"fault":"CONNECTION_RESET_BY_PEER","commit":"all"}]}]}
      """)
    let server = try BatchServer(plan: plan).start()
    defer { server.stop() }

    let folder = NSTemporaryDirectory() + "orders-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = TelemetryConfiguration(
      endpoint: server.url.absoluteString + "/v1/telemetry/batch", directory: folder)
    let telemetry = Telemetry.start(
      configuration, tokenProvider: StaticTokenProvider(AccessToken(value: "T1")))
    for number in 1...20 {
      _ = await telemetry.recordDurably("order.saved", encoding: ["number": number])
    }

    _ = await telemetry.flush(timeout: 30)  // the answer is lost
    let report = await telemetry.flush(timeout: 30)  // the same events again
    XCTAssertEqual(report.remaining, 0)
    XCTAssertEqual(server.ledger.counts.unique, 20)
    XCTAssertGreaterThan(server.ledger.counts.duplicatesAcross, 0)
    XCTAssertTrue(telemetry.status().ledger.balances)
  }
}
